-- Three functions that take 60, 30 and 10 percent.
local truth = require("truth")

local function burn60(n)
  local x = 1
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function burn30(n)
  local x = 1
  for i = 1, n do x = x * 0.998 + i end
  return x
end

local function burn10(n)
  local x = 1
  for i = 1, n do x = x * 0.997 + i end
  return x
end

local function main()
  truth.measure({
    { "burn60", 6, burn60 }, { "burn30", 3, burn30 }, { "burn10", 1, burn10 },
  })
end

truth.chain("main", "burn60")
truth.chain("main", "burn30")
truth.chain("main", "burn10")
main()

-- Lines of one function that take 60, 30 and 10 percent: loops of their own.
local truth = require("truth")

local function three(n)
  local x = 1
  for i = 1, 6 * n do x = x * 0.999 + i end
  for i = 1, 3 * n do x = x * 0.999 + i end
  for i = 1, n do x = x * 0.999 + i end
  return x
end

local function main()
  local first = debug.getinfo(three, "S").linedefined
  truth.measure({
    { "three", 10, three, lines = { [first + 2] = 0.6, [first + 3] = 0.3, [first + 4] = 0.1 } },
  })
end

truth.chain("main", "three")
main()

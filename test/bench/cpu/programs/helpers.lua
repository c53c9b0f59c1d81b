-- Routines of the VM that have no frame of their own: remainder, floor, power,
-- and builtins on strings.
local truth = require("truth")

local floor, byte, sub = math.floor, string.byte, string.sub

local function mod40(n)
  local x = 1.5
  for i = 1, n do x = (x + i) % 7.3 end
  return x
end

local function floor30(n)
  local x = 1.5
  for i = 1, n do x = floor(x * 0.9 + i) end
  return x
end

local function power10(n)
  local x = 1.5
  for i = 1, n do x = (x + i) ^ 0.5 end
  return x
end

local function string20(n)
  local s, x = ("abcdefgh"):rep(32), 1
  for i = 1, n do x = byte(sub(s, x + i % 8, -i % 8)) or i % 64 end
  return x
end

local function main()
  truth.measure({
    { "mod40", 4, mod40 }, { "floor30", 3, floor30 }, { "power10", 1, power10 },
    { "string20", 2, string20 },
  })
end

truth.chain("main", "mod40")
truth.chain("main", "floor30")
truth.chain("main", "power10")
truth.chain("main", "string20")
main()

-- Traces and functions that come and go: code is flushed, compiled, loaded and
-- collected all the time.
local truth = require("truth")

local function flushed60(n)
  local x = 1
  for _ = 1, n do
    jit.flush() for i = 1, 3000 do x = x * 0.999 + i end
  end
  return x
end

local body = ("x = x + 1\n"):rep(50)
local function loaded30(n)
  local x = 0
  for i = 1, n do x = x + assert(loadstring("local x = " .. i .. "\n" .. body .. "return x"))() end
  return x
end

local function loop10(n)
  local x = 1
  for i = 1, n do x = x * 0.997 + i end
  return x
end

local function main()
  local first = debug.getinfo(flushed60, "S").linedefined
  truth.measure({
    { "flushed60", 6, flushed60, lines = { [first + 3] = 1 } }, { "loaded30", 3, loaded30 },
    { "loop10", 1, loop10 },
  })
end

truth.chain("main", "flushed60")
truth.chain("main", "loaded30")
truth.chain("main", "loop10")
main()

-- Allocates and burns in known lines, and records its memory to a file.

local function make(n)
  local made = {}
  for i = 1, n do
    made[i] = function() return i end
  end
  return made
end

local function burn(x)
  for i = 1, 10000 do
    x = (x * 7 + i) % 1000003
  end
  return x
end

assert(misc.memprof.start(arg[1]))
local kept = make(1000)
local x = #kept
repeat
  x = burn(x)
until os.clock() > 0.5
assert(misc.memprof.stop())

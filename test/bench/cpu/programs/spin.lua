-- What is taken from a program by what interrupts it, profilers included: it does
-- nothing but look at the clock, so time that is missing between two looks was
-- not its own. Far more exact than to time some work; but what the interrupts
-- do to caches is not in it. spin(depth) is for turns of truth.lua: a spell's
-- "time" is how many times longer it took than the program had for itself.
local truth = require("truth")
local GAP = 1000 -- Nanoseconds that one look never takes.

-- The clock, in nanoseconds: for compiled code, and for the interpreter.
local function clock()
  if not jit.status() then
    local wall = require("cbench").wall
    return function() return wall() * 1e9 end
  end
  local ffi = require("ffi")
  ffi.cdef("int clock_gettime(int clock, int64_t *time)")
  local C, time = ffi.C, ffi.new("int64_t[2]")
  return function()
    C.clock_gettime(1, time)
    return tonumber(time[0]) * 1e9 + tonumber(time[1])
  end
end

local now = clock()

local function look(ns)
  local start, lost = now(), 0
  local last = start
  repeat
    local t = now()
    if t - last > GAP then
      lost = lost + (t - last)
    end
    last = t
  until t - start > ns
  return (last - start) / (last - start - lost)
end

local function down(depth)
  local x
  if depth <= 1 then x = look(truth.SPELL * 1e9) else x = down(depth - 1) end
  return x + 0
end

return function(depth)
  truth.turns(function()
    local x = down(depth)
    return x, x
  end)
end

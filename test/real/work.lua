-- What each program runs: three functions that take 60, 30 and 10 percent of the
-- CPU time and allocate a known number of tables, in a VM that is recorded.
--
--   local work = dofile("work.lua")("OUT", SECONDS)
--   work.start()                  -- records to OUT.ljm
--   repeat until work.step()      -- some milliseconds; ends the recording
--
-- What is true is written to OUT.truth, see tell().
local ffi = require("ffi")
local memprof = require("memprof")

-- CPU time of this thread: os.clock() is of the whole process. The host may
-- have declared clock_gettime() in its own way.
ffi.cdef("int ljprof_real_clock(int, int64_t *) __asm__(\"clock_gettime\");")
local THREAD_CPUTIME = 3
local time = ffi.new("int64_t[2]")
local function clock()
  ffi.C.ljprof_real_clock(THREAD_CPUTIME, time)
  return tonumber(time[0]) + tonumber(time[1]) * 1e-9
end

local TURNS = 20000 -- Some 20 us of compiled code.
local TABLES = 20
local ring = {} -- What was made last, so that all of it is allocated.
for i = 1, 64 do ring[i] = false end

-- Each spins until it has used so many seconds, and returns those that it used.
-- They have names as long as this table is there, be the code that defines them
-- collected or not.
local burn = {}

function burn.heavy(seconds)
  local start, x = clock(), 1
  for i = 1, TABLES do ring[i] = { i, x } end
  repeat
    for i = 1, TURNS do x = x * 0.999 + i end
    local used = clock() - start
  until used >= seconds
  return clock() - start
end

function burn.middle(seconds)
  local start, x = clock(), 1
  for i = 1, TABLES do ring[i] = { i, x } end
  repeat
    for i = 1, TURNS do x = x * 0.998 + i end
    local used = clock() - start
  until used >= seconds
  return clock() - start
end

function burn.light(seconds)
  local start, x = clock(), 1
  for i = 1, TABLES do ring[i] = { i, x } end
  repeat
    for i = 1, TURNS do x = x * 0.997 + i end
    local used = clock() - start
  until used >= seconds
  return clock() - start
end

local parts = {
  { name = "heavy", share = 0.6 },
  { name = "middle", share = 0.3 },
  { name = "light", share = 0.1 },
}

-- All three for so many seconds.
local function round(seconds)
  local all = 0
  for _, p in ipairs(parts) do
    local used = burn[p.name](seconds * p.share)
    p.used, all = p.used + used, all + used
  end
  return all
end

local function reset()
  for _, p in ipairs(parts) do p.used = 0 end
end

-- The VM's list of traces grows where one begins: to more than there will be,
-- before it is recorded.
local function warm_up()
  reset()
  for _ = 1, 100 do
    assert(loadstring("local x = 0 for i = 1, 1000 do x = x + i end"))()
  end
  for _ = 1, 100 do round(0.0001) end
  reset()
end

-- What the VM counts for such a table.
local function table_size()
  collectgarbage("stop")
  local before = collectgarbage("count")
  ring[1] = { 1, 2 }
  local size = (collectgarbage("count") - before) * 1024
  collectgarbage("restart")
  return size
end
jit.off(table_size)

-- Writes what is true:
--
--   NAME LINE SECONDS ALLOCATIONS BYTES    of each function, defined in LINE
--   heap BYTES                             of the VM when the recording ended
local function tell(out, rounds, heap)
  local file = assert(io.open(out .. ".new", "w"))
  local tables, size = rounds * TABLES, table_size()
  for _, p in ipairs(parts) do
    file:write(("%s %d %.6f %d %.0f\n"):format(p.name, debug.getinfo(burn[p.name], "S").linedefined, p.used, tables,
      tables * size))
  end
  if heap then file:write(("heap %.0f\n"):format(heap)) end
  file:close()
  assert(os.rename(out .. ".new", out .. ".truth"))
end

return function(out, seconds)
  local work, rounds, used = {}, 0, 0

  function work.start()
    warm_up()
    assert(memprof.start(out .. ".ljm", { stack = 64 }))
  end

  -- Rounds differ in length, so that they do not keep step with the sampler.
  -- True when the time is up. With `leave` the recording goes on.
  function work.step(leave)
    if used >= seconds then return true end
    used = used + round(0.008 + 0.004 * (rounds * 0.618034 % 1))
    rounds = rounds + 1
    if used < seconds then return false end
    local heap
    if not leave then
      assert(memprof.stop())
      heap = collectgarbage("count") * 1024
    end
    tell(out, rounds, heap)
    return true
  end

  return work
end

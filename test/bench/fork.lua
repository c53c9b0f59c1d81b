-- Measures heap dumps with fork = true: how long the program stands still, and
-- what the copy costs it afterwards.
--
--   luajit fork.lua [MIB...]
--
-- For each size of heap (100, 400 MiB), of tables and strings: a dump by the
-- process itself; the pause of a dump by a child, median and worst of ROUNDS
-- (9), the CPU time of it, and the pause per 100 MiB of heap (the target is
-- 20 ms); a full garbage collection that begins when the child does, as a ratio
-- to one without, and how much of the heap it had to copy. To /dev/null, so
-- that no disk is measured.

local ffi = require("ffi")
local memprof = misc and misc.memprof or require("memprof")

ffi.cdef [[
  struct fork_timespec { long s, ns; };
  struct fork_rusage { long time[4], maxrss, ixrss, idrss, isrss, minflt, more[9]; };
  int clock_gettime(int id, struct fork_timespec *ts);
  int getrusage(int who, struct fork_rusage *usage);
  int usleep(unsigned us);
]]

local rounds = tonumber(os.getenv("ROUNDS") or 9)
local ts, usage = ffi.new("struct fork_timespec"), ffi.new("struct fork_rusage")

local MONOTONIC, CPU = 1, 3 -- Of the calling thread.

-- Milliseconds of a clock.
local function now(clock)
  ffi.C.clock_gettime(clock or MONOTONIC, ts)
  return tonumber(ts.s) * 1e3 + tonumber(ts.ns) / 1e6
end

-- Pages that this process had to get or to copy so far.
local function faults()
  ffi.C.getrusage(0, usage)
  return tonumber(usage.minflt)
end

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

local function heap(mib)
  local t = {}
  while collectgarbage("count") < mib * 1024 do
    for i = #t + 1, #t + 1000 do t[i] = { i, tostring(i) } end
  end
  return t
end

-- Milliseconds of a full collection, and pages.
local function collect()
  local pages, start = faults(), now()
  collectgarbage()
  return now() - start, faults() - pages
end

local function measure(mib)
  local keep = heap(mib)
  collectgarbage()
  collectgarbage()
  local used = collectgarbage("count") / 1024
  local pauses, cpu, alone, after, pages, whole = {}, {}, {}, {}, {}, {}
  for i = 1, rounds do
    alone[i] = collect()
    local start = now()
    assert(memprof.dump("/dev/null"))
    whole[i] = now() - start
    local used = now(CPU)
    start = now()
    local child = assert(memprof.dump("/dev/null", { fork = true }))
    pauses[i] = now() - start
    cpu[i] = now(CPU) - used
    after[i], pages[i] = collect()
    local state
    repeat
      ffi.C.usleep(1000)
      state = assert(child:status())
    until state == "done"
  end
  local pause = median(pauses)
  print(("%8.0f %12.0f %10.2f %10.2f %10.2f %10.2f %10.2f %9.0f%%"):format(used, median(whole), pause,
    pauses[#pauses], median(cpu), pause / used * 100, median(after) / median(alone),
    median(pages) * 4096 / (used * 2 ^ 20) * 100))
  return keep
end

print("heap MiB   in process   pause ms      worst     of CPU    100 MiB  collector     copied")
local sizes = #arg > 0 and arg or { 100, 400 }
for _, mib in ipairs(sizes) do
  measure(tonumber(mib))
  collectgarbage()
end

-- What the programs of this benchmark share: they know how much CPU time each
-- of their functions takes, because they measure it while they run, and print
-- it at the end:
--
--   truth function NAME SECONDS CHUNK FIRST LAST   CHUNK "x*": all like it
--   truth line LINE SECONDS CHUNK                  of the innermost Lua frame
--   truth chain FRAME...                           see chain() below
--   truth work ROUNDS N...                         to do the same work again
--   truth cpu SECONDS, truth wall SECONDS          of the measured part
--
-- Environment: TRUTH_GO waits for a line on standard input before the measured
-- part; TRUTH_WORK is a "work" to repeat, in place of SECONDS; TRUTH_JP is a
-- file for LuaJIT's own profiler. With TRUTH_TURNS it is told when to work by
-- lines on standard input, see turns() below.

local truth = {}

-- Without the module there is the C library's clock. It must not be used
-- together with LuaJIT's own profiler: see cbench.c.
local ok, cbench = pcall(require, "cbench")
local clock, wall = os.clock, nil
if ok then
  clock, wall = cbench.cpu, cbench.wall
end
local lines = {}

local function say(...)
  lines[#lines + 1] = table.concat({ "truth", ... }, " ")
end

-- The file's name as short_src ends.
local function chunk_of(fn)
  return (debug.getinfo(fn, "S").short_src:gsub(".*/", ""))
end

-- The expected Lua frames, from the first one that is named to the innermost
-- one. "c:NAME" is a native frame, "b:NAME" a builtin; those not named in a
-- chain may be anywhere. "NAME*N" is N of them.
function truth.chain(...)
  say("chain", ...)
end

-- A count for which fn takes about `seconds`.
local function calibrate(fn, seconds)
  local n, took = 1, 0
  repeat
    n = n * 2
    local start = clock()
    fn(n)
    took = clock() - start
  until took > seconds / 2
  return math.max(1, math.floor(n * seconds / took))
end

-- Functions that calibrate: each phase often enough for code to be compiled.
local function counts(phases)
  local n = {}
  for _ = 1, 3 do
    for i, p in ipairs(phases) do
      n[i] = calibrate(p.calibrate or p.call or p[3], p[2] * 0.001)
    end
  end
  return n
end

-- Everything is prepared: the profiler may come.
local function wait()
  if ready then
    return ready() -- The host waits for all threads.
  end
  io.write("truth ready\n")
  io.flush()
  if os.getenv("TRUTH_GO") then
    io.read("*l")
  end
end

local function numbers(s)
  local t = {}
  for n in s:gmatch("%S+") do
    t[#t + 1] = tonumber(n)
  end
  return t
end

-- Runs all phases in turn. Returns seconds of each, and the rounds. Each round
-- is 0.5 to 1.5 times as long as `n` says, the same rounds each time: rounds of
-- 10 ms each would all have the samples at 99 Hz in the same places.
local function rounds(phases, n, seconds, last)
  local took, stop, round, random = {}, clock() + seconds, 0, 1
  for i = 1, #phases do
    took[i] = 0
  end
  repeat
    random = random * 16807 % 2147483647
    local length = 0.5 + random / 2147483647
    for i, p in ipairs(phases) do
      local call, start = p.call or p[3], clock()
      call(math.max(1, math.floor(n[i] * length)))
      took[i] = took[i] + (clock() - start)
    end
    round = round + 1
  until round == last or clock() >= stop
  return took, round
end

local function median(t)
  table.sort(t)
  local m = math.floor((#t + 1) / 2)
  return #t % 2 == 1 and t[m] or (t[m] + t[m + 1]) / 2
end

-- Works for the seconds that a line on standard input says, again and again,
-- under LuaJIT's own profiler if a mode and a file for it follow. Prints each
-- time what spell() answers, wall and CPU time of some work that takes about
-- truth.SPELL, as medians of all in that time:
--
--   truth turn WALL CPU
--
-- All that is compared was compiled once, but for what LuaJIT's own profiler
-- makes it compile again. It is the last one in a process, as it may call itself
-- once more after it was stopped, and that fails.
local function turns(spell)
  spell()
  for line in io.lines() do
    local seconds, mode, file = line:match("^(%S+) ?(%S*) ?(%S*)$")
    if mode ~= "" then
      require("jit.p").start(mode, file)
      spell()
    end
    local walls, cpus, stop = {}, {}, wall() + tonumber(seconds)
    repeat
      walls[#walls + 1], cpus[#cpus + 1] = spell()
    until wall() >= stop
    io.write(string.format("truth turn %.9f %.9f\n", median(walls), median(cpus)))
    io.flush()
    if mode ~= "" then
      return require("jit.p").stop()
    end
  end
end

truth.SPELL = 0.1 -- Seconds. There are samples in it even at 99 Hz.

-- Works in turns, see above, from when the profiler may come.
function truth.turns(spell)
  wait()
  turns(spell)
end

-- The spell that does these phases.
local function spell_of(phases, n)
  local _, most = rounds(phases, n, truth.SPELL)
  return function()
    local cpu, began = clock(), wall()
    rounds(phases, n, math.huge, most)
    return wall() - began, clock() - cpu
  end
end

-- What a phase's time belongs to: lines, and the functions of p.parts, a table
-- of names and shares, or the phase's own.
local function tell(p, seconds)
  local fn, chunk = p[3], p.chunk or chunk_of(p[3])
  local info = debug.getinfo(fn, "S")
  if p.parts then
    for name, part in pairs(p.parts) do
      local i = debug.getinfo(part[2], "S")
      say("function", name, seconds * part[1], chunk_of(part[2]), i.linedefined, i.lastlinedefined)
    end
  else
    say("function", p[1], seconds, chunk, info.linedefined, info.lastlinedefined)
  end
  for line, share in pairs(p.lines or { [info.linedefined + (p.line or 2)] = 1 }) do
    say("line", line, seconds * share, chunk)
  end
end

-- Measures phases { NAME, WEIGHT, FUNCTION, ... } for `arg[1]` seconds of CPU
-- (3), in rounds of some milliseconds, and prints what is true. FUNCTION(n)
-- does n times something, or `call` does, which spends its time in FUNCTION;
-- `calibrate` if that cannot be tried before. The time is that of line `line`
-- behind FUNCTION's first (2), `chunk` the name of many chunks.
function truth.measure(phases)
  local work = os.getenv("TRUTH_WORK")
  local n = work and numbers(work) or counts(phases)
  local last = work and table.remove(n, 1)
  local seconds = work and math.huge or tonumber(arg and arg[1]) or 3
  local jp = os.getenv("TRUTH_JP")
  if os.getenv("TRUTH_TURNS") then
    return truth.turns(spell_of(phases, n))
  end
  wait()
  if jp then
    require("jit.p").start("Gli1", jp)
  end
  local start, began = clock(), wall and wall()
  local took, round = rounds(phases, n, seconds, last)
  local cpu, ended = clock() - start, wall and wall()
  if jp then
    require("jit.p").stop()
  end
  for i, p in ipairs(phases) do
    tell(p, took[i])
  end
  say("work", round, unpack(n))
  say("cpu", cpu)
  if wall then
    say("wall", ended - began)
  end
  io.write(table.concat(lines, "\n"), "\n")
  io.flush()
end

return truth

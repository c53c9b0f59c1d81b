-- Runs random programs in each of the modes that must not differ, and compares
-- what they observe:
--
--   luajit hunt.lua FIRST COUNT [DIRECTORY [TIMES [stats|print]]]
--
-- Programs FIRST and on. Those that fail are kept in the directory, as is the
-- name of the one that is running. TIMES is for a failure that hides: how
-- often each is run. The status is 1 if one failed.

local gen = require("gen_shapes")
local has_ffi, ffi = pcall(require, "ffi")
local memprof = misc.memprof

local first, count = tonumber(arg[1]), tonumber(arg[2])
local dir, times, what = arg[3] or ".", tonumber(arg[4]) or 1, arg[5]
if not first or not count then
  io.stderr:write("usage: hunt.lua FIRST COUNT [DIRECTORY [TIMES [stats|print]]]\n")
  os.exit(64)
end

-- The first is what others are compared with.
local modes = {
  { name = "off, JIT off", jit = false },
  { name = "off, JIT on", jit = true },
  { name = "exact, JIT on", jit = true, lines = "exact" },
  { name = "natural, JIT on", jit = true, lines = "natural" },
  { name = "exact, JIT off", jit = false, lines = "exact" },
  { name = "natural, JIT off", jit = false, lines = "natural" },
}

-- How the compiler is set ------------------------------------------------------

-- Parameters as they are by default; a program has some of the others.
local defaults = { hotloop = 3, hotexit = 2, maxtrace = 1000, maxrecord = 4000, maxirconst = 500,
  maxside = 100, maxsnap = 500, tryside = 4, instunroll = 4, loopunroll = 15, callunroll = 3,
  recunroll = 2 }
local others = { hotloop = { 2, 5, 11, 56 }, hotexit = { 1, 4, 10 }, maxtrace = { 12, 60 },
  maxsnap = { 20, 60, 120 }, tryside = { 1, 12 }, instunroll = { 1, 12 }, loopunroll = { 2, 40 },
  callunroll = { 1, 8 }, recunroll = { 1, 4 }, maxside = { 3 }, maxrecord = { 300 } }
local flags = { "fold", "cse", "dce", "narrow", "loop", "fwd", "dse", "abc", "sink", "fuse" }

local function settings(seed)
  local g = gen.new(seed + 7919, false, 0)
  local list = { "3" }
  for name, value in pairs(defaults) do list[#list + 1] = name .. "=" .. value end
  table.sort(list)
  local names = {}
  for name in pairs(others) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if g:once(6) then list[#list + 1] = name .. "=" .. g:pick(others[name]) end
  end
  for _, name in ipairs(flags) do
    if g:once(14) then list[#list + 1] = "-" .. name end
  end
  return { jit = list, pause = g:pick({ 200, 120, 100 }), stack = g:pick({ 0, 0, 64 }) }
end

-- What programs get -----------------------------------------------------------

-- A type is for ever, so all programs share it.
local point
if has_ffi then
  point = ffi.metatype("struct { double x, y; }", { __add = function(a, b)
    return point(a.x + b.x, a.y
                 + b.y)
  end })
end

-- Running a program -----------------------------------------------------------

-- What was observed, as text.
local function show(v)
  local t = type(v)
  if t == "number" then
    if v ~= v then return "nan" end -- Of either sign, as is zero.
    return v == 0 and "0" or string.format("%.17g", v)
  end
  if t == "string" then return string.format("%q", v) end
  if t == "boolean" or t == "nil" then return tostring(v) end
  return t
end

-- Runs a program afresh in a mode. Returns a list of what it observed.
local function run(source, seed, mode, set)
  local log = { n = 0 }
  local env = setmetatable({ log = log, ffi = has_ffi and ffi, point = point }, { __index = _G })
  local opt = { lines = mode.lines, stack = set.stack }
  function env.tick()
    if not mode.lines then return end
    if memprof.is_running() then
      assert(memprof.stop())
    else
      assert(memprof.start("/dev/null", opt))
    end
  end
  local fn = assert(loadstring(source, "=p" .. seed))
  setfenv(fn, env)
  jit.flush()
  jit.opt.start(unpack(set.jit))
  collectgarbage("setpause", set.pause)
  if mode.lines then assert(memprof.start("/dev/null", opt)) end
  if mode.jit then jit.on() end
  local ok, err = pcall(fn)
  jit.off()
  if memprof.is_running() then assert(memprof.stop()) end
  local seen = {}
  for i = 1, log.n do seen[i] = show(log[i]) end
  seen[#seen + 1] = ok and "end" or "error: " .. tostring(err)
  return seen
end
jit.off(run, true)

-- Where two lists differ, or nothing.
local function difference(a, b)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then
      return string.format("observation %d of %d is %s, expected %s", i, #a, tostring(b[i]),
                           tostring(a[i]))
    end
  end
end

-- Writes a file of the directory at once: the next thing may be a crash.
local function keep(name, text)
  local f = assert(io.open(dir .. "/" .. name, "wb"))
  f:write(text)
  f:close()
end

local failed, own, observed, errors = 0, 0, 0, 0

-- LuaJIT's compiler has bugs of its own. Some show only when traces begin and
-- end at the right places, and more snapshots are other places. Before the
-- profiler is blamed, the program is compiled without it in many other ways.
local function is_own(source, seed, set, expected)
  for variant = 1, 40 do
    local list = { unpack(set.jit) }
    list[#list + 1] = "hotloop=" .. 1 + variant % 8
    list[#list + 1] = "hotexit=" .. 1 + variant % 5
    local seen = run(source, seed, modes[2], { jit = list, pause = set.pause })
    if difference(expected, seen) then return true end
  end
end

local function report(seed, mode, source, set, d)
  failed = failed + 1
  keep(seed .. ".lua", "-- " .. table.concat(set.jit, " ") .. "\n" .. source)
  print(string.format("FAILED seed %d, profiler %s: %s", seed, mode.name, d))
end

-- Tries a program in all modes.
local function try(seed)
  local source, set = gen.program(seed, has_ffi), settings(seed)
  local expected, d
  local known = false
  for i, mode in ipairs(modes) do
    keep("running", seed .. ", profiler " .. mode.name .. "\n")
    local seen = run(source, seed, mode, set)
    expected = expected or seen
    d = difference(expected, seen)
    if d and mode.jit and not known then
      known = i == 2 or is_own(source, seed, set, expected)
    end
    if d and not (mode.jit and known) then report(seed, mode, source, set, d) end
  end
  if known then own = own + 1 end
  observed = observed + #expected
  if expected[#expected] ~= "end" then errors = errors + 1 end
end

jit.off()
if what == "print" then
  io.write(gen.program(first, has_ffi))
elseif what == "stats" then
  require("stats")(first, count, gen, run, settings, modes[3], modes[4])
else
  for seed = first, first + count - 1 do
    for _ = 1, times do try(seed) end
  end
  print(string.format("%d programs, %d observations, %d wrong without the profiler, %d failures", count,
                      observed, own, failed))
  if errors > 0 then print(errors .. " programs ended early") end
  os.exit(failed == 0 and errors == 0 and 0 or 1, true)
end

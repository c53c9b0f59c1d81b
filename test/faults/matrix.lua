-- The fault matrix: a recorded program meets every fault at every moment, and
-- ends in every way, for each kind of file. It must end as it does without a
-- recorder; what it had counted must be in the recording, or it is told that
-- it is not; the parser must read what there is.
-- Arguments: parser, scratch, fault.so, kills of each kind (with less than 20,
-- fewer failures of memory, too), program and its first arguments. The program
-- "listen" is beside fault.so. With KIND in the environment, that kind alone.

local ffi = require("ffi")
local P = require("process")

local parser, scratch, preload, kills = arg[1], arg[2], arg[3], tonumber(arg[4])
local here = arg[0]:match("^(.*)/") or "."
local dir = ("%s/faults-%d"):format(scratch, P.C.getpid())
local path = dir .. "/a.ljm"
local TABLES = 1500
local runs, failures = 0, 0

-- Where a recording goes: options, the file it is told of, what the shell does
-- first, and what holds for it.
local small = "buffer = 16384"
local listen = ("'%s/listen' '%s/s' '%%s' || exit; "):format(preload:match("^(.*)/"), dir)
local kinds = {
  { name = "file", options = small, file = path },
  { name = "file, rfc", options = small .. ", format = 'rfc'", file = path, rfc = true },
  { name = "stack", options = small .. ", stack = 16", file = path },
  { name = "fd", options = small .. ", fd = 3", file = "3", shell = "exec 3>'%s'; " },
  { name = "fd, rfc", options = small .. ", fd = 3, format = 'rfc'", file = "3", shell = "exec 3>'%s'; ", rfc = true },
  { name = "pipe", options = small .. ", fd = 3", file = "3", shell = "exec 3> >(exec cat 9>&1 >'%s'); ", pipe = true },
  { name = "tail", options = small .. ", tail = true", file = path, tail = true },
  { name = "black box", options = small .. ", keep = '2M', segments = 2", file = path, renames = true },
  { name = "thread", options = small .. ", thread = true", file = path },
  { name = "thread, drop", options = small .. ", thread = 'drop'", file = path },
  { name = "thread, fd", options = small .. ", thread = true, fd = 3", file = "3", shell = "exec 3>'%s'; " },
  { name = "socket", options = small, file = "unix:" .. dir .. "/s", shell = listen, pipe = true },
  { name = "socket, thread", options = small .. ", thread = true", file = "unix:" .. dir .. "/s", shell = listen, pipe = true },
  { name = "zstd", options = small .. ", zstd = true", file = path },
  { name = "segments", options = small .. ", max_size = '64K', segments = 100", file = path, renames = true },
}

local function clean()
  os.execute(("rm -rf '%s' && mkdir -p '%s'"):format(dir, dir))
end

-- Reads all counters, in a time that no program here needs. Returns the last
-- one, and what it says at its end, or nil.
local function counters(fd)
  local buf = ffi.new("double[?]", 4096)
  local bytes = ffi.cast("char *", buf)
  local last, said, part = 0, nil, 0
  while true do
    local n = P.read(fd, bytes + part, 32768 - part)
    if n <= 0 then
      P.C.close(fd)
      return last, said
    end
    n = n + part
    for i = 0, math.floor(n / 8) - 1 do
      if buf[i] < 0 then
        said = said or buf[i]
      else
        last = buf[i]
      end
    end
    part = n % 8
    ffi.copy(bytes, bytes + n - part, part)
  end
end

-- Runs the program, which makes so many tables. Returns its last counter, what it said, its end: the exit
-- status, or less than 0, the signal.
local function run(kind, ending, fault, limit, tables)
  clean()
  local shell = (limit and ("ulimit -f %d; "):format(limit) or "") .. (kind.shell or ""):format(path)
  local argv = { "/bin/bash", "-c", shell .. 'exec timeout -s ABRT 60 env LD_PRELOAD="$0" FAULT="$1" "${@:2}"', preload, fault or "" }
  for j = 5, #arg do
    argv[#argv + 1] = arg[j]
  end
  for _, s in ipairs({ here .. "/victim.lua", ending, tostring(tables), kind.file, "{" .. kind.options .. "}" }) do
    argv[#argv + 1] = s
  end
  local pid, fd = P.spawn(argv)
  local last, said = counters(fd)
  return last, said, P.wait(pid)
end

-- What the parser reads: tables, its exit status, its words.
local function recorded(kind, made)
  local files = kind.name == "segments" and path .. "*" or P.quote(path)
  local s = P.output(("{ ls -- %s >/dev/null 2>&1 || exit 9; %s %s 2>&1; echo status $?; }"):format(files, P.quote(parser), files))
  local n = tonumber(s:match("\n@[^\n]*victim.lua:%d+, line 25: (%d+) ")) or 0
  -- Without memory for its line, an allocation is recorded without one.
  if n < made then
    n = math.min(made, n + (tonumber(s:match("\n%(unknown%): (%d+) ")) or 0))
  end
  return n, tonumber(s:match("status (%d+)%s*$")) or 9, s
end

-- Whether a run was as it has to be. Returns what is wrong, or nil.
local function judge(kind, ending, fault, made, last, said, status)
  if status ~= (ending == "kill" and 137 or 0) then
    return "the program's status is " .. status
  end
  if last ~= made then
    return ("it has made %d tables of %d"):format(last, made)
  end
  local n, parsed, words = recorded(kind, made)
  local begun = said == nil or said > -2000
  if not begun then -- There is nothing, or what was written before the fault.
    return (n > 0 or parsed > 9) and words or nil
  end
  if parsed > 1 and n > 0 or parsed > 9 or words:find("Sanitizer", 1, true) then
    return words
  end
  if n > last then
    return ("%d tables recorded, %d made"):format(n, last)
  end
  local abrupt = ending == "_exit" or ending == "kill"
  -- This format has no allocation without a line.
  local whole = n == last or kind.rfc and n == last - 1 and (fault or ""):find("^malloc")
  if kind.tail or not abrupt and fault == nil then
    if not whole and not (kind.tail and fault) then
      return ("%d tables recorded, %d made\n%s"):format(n, last, words)
    end
  end
  if not abrupt and fault == nil and parsed ~= 0 then
    return words
  end
  if said == -1 and not whole then -- It was told that all is well.
    return ("stop() is content with %d tables of %d\n%s"):format(n, last, words)
  end
  local goes_on = words:find("goes on in a segment that is not here", 1, true)
  if fault and not whole and not abrupt and said == nil and parsed == 0 and not goes_on then
    return ("nobody tells that %d of %d tables are there\n%s"):format(n, last, words)
  end
end

-- Runs that told of a fault, and those that went on without a loss.
local told, kept = 0, 0

local function try(kind, ending, fault, limit, tables)
  runs = runs + 1
  tables = tables or TABLES
  local last, said, status = run(kind, ending, fault, limit, tables)
  local wrong = judge(kind, ending, fault or limit and "xfsz", tables, last, said, status)
  if said and said < -1 then
    told = told + 1
  elseif said then
    kept = kept + 1
  end
  if wrong then
    failures = failures + 1
    print(("FAILED: %s, %s, %s: %s"):format(kind.name, ending, fault or limit and "ulimit -f " .. limit or "no fault", wrong))
  end
end

local seed = os.time()
math.randomseed(seed)
print("seed " .. seed)
local before
local function count(what)
  print(("%-40s %5d runs"):format(what, runs - (before or 0)))
  before = runs
end

local function try_all(kind)
  for _, ending in ipairs({ "stop", "return", "exit", "close", "finalizer", "_exit", "fork", "kill" }) do
    try(kind, ending)
  end
  for _ = 1, kills do
    try(kind, "kill", nil, nil, math.random(1, TABLES))
  end
  count(kind.name .. ": ends")
  for _, fault in ipairs({ "enospc", "epipe", "short", "eintr" }) do
    for n = 1, 6 do
      try(kind, "stop", fault .. ":" .. n)
    end
    for n = 1, 3 do
      try(kind, "exit", fault .. ":" .. n)
      try(kind, "fork", fault .. ":" .. n)
    end
  end
  count(kind.name .. ": writes that fail")
  for n = 1, 40, kills < 20 and 3 or 1 do
    try(kind, n % 4 == 0 and "return" or "stop", "malloc:" .. n)
  end
  count(kind.name .. ": no memory")
  if kind.renames then
    for n = 1, 6 do
      try(kind, "stop", "rename:" .. n)
      try(kind, "return", "rename:" .. n)
    end
    count(kind.name .. ": names")
  end
  if not kind.pipe then
    for _, blocks in ipairs({ 0, 1, 16, 17, 31, 32, 40 }) do
      try(kind, "stop", nil, blocks)
    end
    count(kind.name .. ": SIGXFSZ")
  end
end

local only = os.getenv("KIND")
for _, kind in ipairs(kinds) do
  if not only or kind.name == only then try_all(kind) end
end

os.execute(("rm -rf '%s'"):format(dir))
print(("%d runs, %d failed; of those that stopped %d told of a loss, %d had none"):format(runs, failures, told, kept))
assert(only or told > 0 and kept > 0, "no fault was met")
os.exit(failures == 0 and 0 or 1)

-- Kills a recorded program at random moments. Every table that it had counted
-- when it was killed must be in what is left.
-- Arguments: parser, scratch, kills, program and its first arguments.

local ffi = require("ffi")
local P = require("process")

local parser, scratch, kills = arg[1], arg[2], tonumber(arg[3])
local here = arg[0]:match("^(.*)/") or "."
local path = ("%s/kills-%d.ljm"):format(scratch, P.C.getpid())
local buf = ffi.new("double[?]", 8192)
local SIGKILL = 9

-- Reads counters until so many have come. Returns the last one.
local function read_until(fd, want)
  local last, part = 0, 0
  local bytes = ffi.cast("char *", buf)
  while last < want do
    local n = P.read(fd, bytes + part, 65536 - part)
    if n <= 0 then
      break
    end
    n = n + part
    local whole = math.floor(n / 8)
    if whole > 0 then
      last = buf[whole - 1]
    end
    part = n % 8
    ffi.copy(bytes, bytes + whole * 8, part)
  end
  return last
end

-- Tables that the report has at the counted line.
local function recorded()
  local s = P.output(("%s %s"):format(P.quote(parser), P.quote(path)))
  -- In the moment between a block and its tail, the tail is of no use.
  assert(s:find("totals", 1, true) or s:find("killed or still recording", 1, true), s)
  assert(not s:find("lost", 1, true) and not s:find("not defined", 1, true), s)
  return tonumber(s:match("\n@[^\n]*victim.lua:18, line 19: (%d+) ")) or 0, s
end

local function once(i)
  local argv = {}
  for j = 4, #arg do
    argv[#argv + 1] = arg[j]
  end
  -- Some are slow: their events are in the tail only.
  local slow = i % 8 == 0
  argv[#argv + 1] = here .. "/victim.lua"
  argv[#argv + 1] = path
  argv[#argv + 1] = i % 2 == 0 and "0" or "16"
  argv[#argv + 1] = slow and "300" or "0"
  local pid, fd = P.spawn(argv)
  local want = math.random(1, slow and 60 or i % 3 == 0 and 40 or 40000)
  local seen = read_until(fd, want)
  assert(P.kill(pid) == SIGKILL, "it has ended by itself")
  local rest = read_until(fd, math.huge)
  seen = math.max(seen, rest)
  P.C.close(fd)
  local got, report = recorded()
  -- The last table may have been made, and not counted.
  assert(got == seen or got == seen + 1,
    ("kill %d: %d tables counted, %d recorded\n%s"):format(i, seen, got, report))
  return seen, P.get(path .. ".tail") ~= nil
end

local seed = os.time()
math.randomseed(seed)
local sum, most = 0, 0
for i = 1, kills do
  local ok, seen, tail = pcall(once, i)
  assert(ok, ("seed %d: %s"):format(seed, tostring(seen)))
  assert(tail, "there is no tail")
  sum = sum + seen
  most = math.max(most, seen)
end
os.remove(path)
os.remove(path .. ".tail")
os.remove(path .. ".old")
os.remove(path .. ".old.tail")
print(("%d kills, %d tables counted, %d at most: all recorded"):format(kills, sum, most))

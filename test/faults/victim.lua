-- Is recorded, and ends in one of many ways: makes tables at one line, and
-- writes how many it has made to standard output, as a double, after each of
-- them. Behind the counters it writes one that says how its recording ended:
-- -1, or -1000 less the error number; -2000 less that if it did not begin.
-- Arguments: end, tables, file or descriptor, options (a Lua expression).

local ffi = require("ffi")
local P = require("process")
local memprof = misc and misc.memprof or require("memprof")

local how, tables, file = arg[1], tonumber(arg[2]), arg[3]
local options = assert(loadstring("return " .. arg[4]))()
local C = P.C
ffi.cdef("void fault_begin(void); unsigned long fault_end(void); int raise(int signo);")

local count = ffi.new("double[1]")
local keep = {} -- So many different slots that no store can be left out.
for i = 1, 64 do
  keep[i] = false
end

local other = {}

local function make(i)
  keep[i % 64 + 1] = {} -- This line is counted.
end

-- Tables, each told when it is made.
local function work(n)
  for i = 1, n do
    make(count[0])
    for j = 1, 20 do -- These fill blocks.
      other[j] = i .. ":" .. j
    end
    count[0] = count[0] + 1
    C.write(1, count, 8)
  end
end

local function say(number)
  C.write(1, ffi.new("double[1]", number), 8)
end

-- The child of a fork: its tables are not the recording's.
local function fork()
  assert(P.child("fork", function()
    for i = 1, 1000 do
      make(i)
    end
    collectgarbage()
  end) == 0)
end

local ends = {
  stop = function()
    local ok, _, en = memprof.stop()
    say(ok and -1 or -1000 - en)
  end,
  ["return"] = function() end,
  exit = function()
    os.exit(0)
  end,
  close = function()
    os.exit(0, true)
  end,
  _exit = function()
    C._exit(0)
  end,
  finalizer = function() -- The VM is closed while one of its finalizers runs.
    local p = newproxy(true)
    getmetatable(p).__gc = function()
      os.exit(0, true)
    end
    p = nil
    collectgarbage()
  end,
  kill = function()
    P.die()
  end,
}

pcall(function()
  C.fault_begin()
end)
local ok, _, en = memprof.start(tonumber(file) == nil and file or nil, options)
if not ok then
  say(-2000 - en)
end
local half = math.floor(tables / 2)
work(half)
if how == "fork" then
  fork()
end
work(tables - half)
ends[how == "fork" and "stop" or how]()

-- Is killed: makes a table at one line, and writes how many it has made to
-- standard output, as a double, for ever. Arguments: file, stack, rest between
-- two tables.

local ffi = require("ffi")
local P = require("process")
local memprof = misc and misc.memprof or require("memprof")

local path, stack, nap = arg[1], tonumber(arg[2]), tonumber(arg[3])
ffi.cdef("int usleep(unsigned us);")
local C = ffi.C
local count = ffi.new("double[1]")
local keep = {} -- So many different slots that no store can be left out.
for i = 1, 64 do
  keep[i] = false
end

local function make(i)
  keep[i % 64 + 1] = {} -- This line is counted.
end

assert(memprof.start(path, { tail = true, stack = stack, buffer = 16384 }))
while true do
  make(count[0])
  count[0] = count[0] + 1
  P.C.write(1, count, 8)
  if nap > 0 then
    C.usleep(nap)
  end
end

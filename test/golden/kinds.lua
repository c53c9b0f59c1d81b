-- Makes the recordings of prog.lua and heap.lua that are more than one file:
--
--   luajit kinds.lua segments FILE     FILE, FILE.1: the newest part of it
--   luajit kinds.lua tail FILE         FILE, FILE.tail: the program is killed
--   luajit kinds.lua made FILE DUMP    a recording and a heap dump in it

local kind, file, dump = ...
local options = {
  segments = { stack = 64, buffer = 16384, max_size = 65536, segments = 2 },
  tail = { stack = 64, buffer = 16384, tail = true },
  made = { stack = 64 },
}
local here = arg[0]:gsub("[^/]*$", "")

assert(misc.memprof.start(file, assert(options[kind])))
arg = { kind == "made" and dump or "" }
assert(loadfile(here .. (kind == "made" and "heap.lua" or "prog.lua")))()
if kind == "segments" then
  assert(loadfile(here .. "prog.lua"))()
  kept = {}
  for i = 1, 3000 do kept[i] = { i } end
elseif kind == "tail" then
  local ffi = require "ffi"
  ffi.cdef "int getpid(void); int kill(int pid, int sig);"
  ffi.C.kill(ffi.C.getpid(), 9)
end
assert(misc.memprof.stop())

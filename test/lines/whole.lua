-- Runs a program, and then stops itself: its traces can be looked at.
--
--   luajit whole.lua PROGRAM [ARGUMENT...]

local ffi = require "ffi"
local program = arg[1]
ffi.cdef "int getpid(void); int kill(int, int);"
for i = 0, #arg do
  arg[i] = arg[i + 1]
end
local ok, err = xpcall(assert(loadfile(program)), debug.traceback, unpack(arg))
if not ok then
  io.stderr:write(err, "\n")
  os.exit(1)
end
ffi.C.kill(ffi.C.getpid(), 19)

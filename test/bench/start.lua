-- Runs a program, recorded or not:
--   luajit start.lua RECORDING OPTIONS PROGRAM [ARGUMENT...]
--
-- OPTIONS is the inside of a table for misc.memprof.start(); "off" to record
-- nothing, "pass" for an allocator that does nothing but call the VM's.

local out, options, program = arg[1], arg[2], arg[3]
local on = options ~= "off" and options ~= "pass"
if on then
  assert(misc.memprof.start(out, assert(loadstring("return {" .. options .. "}"))()))
elseif options == "pass" then
  require("passthrough")
end
assert(loadfile(program))(select(4, unpack(arg)))
if on then
  assert(misc.memprof.stop())
end
-- The VM cannot be closed with an allocator that is not its own.
os.exit(0)

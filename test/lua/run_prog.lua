-- Runs a program under the profiler, or not.
--
--   luajit run_prog.lua PROGRAM FORMAT|idle FILE on|off [ARGUMENT]

local program, format, file, jit_mode, argument = unpack(arg)
if jit_mode == "off" then jit.off() end
arg = { [0] = program, argument }
if format == "idle" then
  dofile(program)
else
  assert(misc.memprof.start(file, { format = format }))
  dofile(program)
  assert(misc.memprof.stop())
end

-- Runs a program, recorded or not:
--   luajit start.lua RECORDING|- FORMAT PROGRAM [ARGUMENT...]

local out, format, program = arg[1], arg[2], arg[3]
if out ~= "-" then
  assert(misc.memprof.start(out, {format = format}))
end
dofile(program)
if out ~= "-" then
  assert(misc.memprof.stop())
end

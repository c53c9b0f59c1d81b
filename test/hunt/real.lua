-- Runs a program in one of the modes in which it must do the same:
--
--   luajit real.lua off|exact|natural off|on|hot PROGRAM [ARGUMENT...]
--
-- "hot" compiles nearly everything. PROGRAM may be the name of a module.

local lines, mode, program = arg[1], arg[2], arg[3]
local args = { [-1] = arg[-1], [0] = program, unpack(arg, 4) }
arg = args

local fn = loadfile(program) or function() require(program) end
if mode == "off" then
  jit.off()
elseif mode == "hot" then
  jit.opt.start("hotloop=3", "hotexit=2")
end

-- However the program ends, the recording does too.
local memprof, exit = misc.memprof, os.exit
function os.exit(...)
  if memprof.is_running() then assert(memprof.stop()) end
  exit(...)
end

if lines ~= "off" then assert(memprof.start("/dev/null", { lines = lines, stack = 32 })) end
fn(unpack(args))
if lines ~= "off" then assert(memprof.stop()) end

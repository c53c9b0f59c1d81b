-- Runs luacheck and records its memory, with stacks, in a LuaJIT that is patched
-- or in any other, with memprof.so:
--   luajit luacheck.lua RECORDING [luacheck's arguments]

local memprof = misc and misc.memprof or require "memprof"
local out = table.remove(arg, 1)
assert(memprof.start(out, {stack = 64}))

-- However luacheck ends, it ends here. To have found something to warn about
-- is not a failure of this program.
local exit = os.exit
function os.exit(status)
  assert(memprof.stop())
  exit(status and status ~= true and status > 2 and status or 0)
end

require "luacheck.main"

-- Functions that both profilers must name alike: C functions of a module that
-- is found by a link, those of a table in a global, and stripped code. Runs for
-- a second of CPU time: names.lua RECORDING BYTECODE.
--
-- In LUA_CPATH are the modules lfs and cmod. C functions work before they are
-- loaded: the sampler looks for names too soon.
local loading = os.clock() + 0.05
repeat coroutine.wrap(string.rep)("x", 20000) until os.clock() > loading

local lfs, bare = require("lfs"), assert(loadfile(arg[2]))()

-- It may be found as a loaded module, as long as it is one.
outer = {}
outer.api, package.loaded.cmod = require("cmod"), nil
collectgarbage() -- The main chunk of the stripped code is gone.
collectgarbage()

assert(misc.memprof.start(arg[1], { stack = 16 }))
local start, n = os.clock(), 0
repeat
  for _ = 1, 20 do
    lfs.attributes("/usr/bin")
    outer.api.table(10000)
    n = n % 1000 + 1
    coroutine.wrap(string.rep)("x", 20000 + n) -- Not called by a line.
    bare.a(5000)
    bare.b(5000)
  end
until os.clock() - start > 1
assert(misc.memprof.stop())

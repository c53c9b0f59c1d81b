-- A VM with another recorder that has the same name, as Tarantool's: require
-- gives ours, or an error, never that one.
--
--   host another.lua MEMPROF.SO

local open = assert(package.loadlib(arg[1], "luaopen_memprof"))
local theirs = {start = function() return "theirs" end, stop = function() end}
local ours = misc and misc.memprof -- Of a patched VM.
package.loaded.misc = {memprof = theirs}
local memprof = open()
assert(memprof ~= theirs and memprof.dump and memprof.is_running)
assert(memprof.start ~= theirs.start and not pcall(memprof.start, {nonsense = 1}))
-- The name alone makes it none of ours, not even what ours is called.
theirs.dump, theirs.is_running = theirs.stop, theirs.stop
assert(open() ~= theirs)
if ours then
  package.loaded.misc = {memprof = ours}
  assert(open() == ours)
end

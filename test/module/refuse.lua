-- A VM that the module does not know: one line says so, and the VM runs on.
--
--   tarantool refuse.lua MEMPROF.SO

local open = assert(package.loadlib(arg[1], "luaopen_memprof"))
for _ = 1, 3 do
  local ok, message = pcall(open)
  print(message)
  assert(not ok and message:find("^memprof does not know this LuaJIT: "))
  -- What is not so in each layout, and what can be done about it.
  assert(message:find("(luajit GC64: ", 1, true))
  assert(message:find("-DLUAJIT_SOURCE_DIR=", 1, true))
  assert(not message:find("\n"))
end
-- Another recorder of the same name is not taken for ours.
local before = package.loaded.misc
package.loaded.misc = {memprof = {start = print}}
local ok, message = pcall(open)
print(message)
assert(not ok and message:find("^memprof does not know this LuaJIT, which has another recorder"
  .. " in misc.memprof: "))
package.loaded.misc = before
-- A LuaJIT before 2.1 is called what it is.
local version, number = jit.version, jit.version_num
jit.version, jit.version_num = "LuaJIT 2.0.5", 20005
local ok, message = pcall(open)
print(message)
assert(not ok and message == "memprof needs LuaJIT 2.1, and this is LuaJIT 2.0.5")
jit.version, jit.version_num = version, number
for i = 1, 100 do assert(loadstring("return {" .. i .. "}"))() end
collectgarbage()
os.exit(0)

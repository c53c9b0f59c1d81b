-- A process with many VMs, which run one after the other:
--   luajit crowd.lua N
-- It uses the CPU until it is ended.

local ffi = require("ffi")
ffi.cdef([[
typedef struct lua_State lua_State;
lua_State *luaL_newstate(void);
int luaL_loadstring(lua_State *L, const char *s);
int lua_pcall(lua_State *L, int nargs, int nresults, int errfunc);
void lua_settop(lua_State *L, int i);
]])

jit.off() -- Callees must not be called from traces.
local vms = {}
for i = 1, tonumber(arg[1]) do
  vms[i] = ffi.C.luaL_newstate()
end
print("ready")
io.flush()
while true do
  for i = 1, #vms do
    local code = ("local x = 0 for i = 1, 2000 do x = x + i end -- %d"):format(i)
    assert(ffi.C.luaL_loadstring(vms[i], code) == 0 and ffi.C.lua_pcall(vms[i], 0, 0, 0) == 0)
    ffi.C.lua_settop(vms[i], 0)
  end
end

/*
** A Lua module whose functions allocate: for tests of how C code is named.
*/

#include "lua.h"
#include "lauxlib.h"

/* -- Functions that only this file knows ---------------------------------- */

/* userdata = userdata(size) */
static int cm_userdata(lua_State *L)
{
  lua_newuserdata(L, (size_t)luaL_checkinteger(L, 1));
  return 1;
}

/* table = table(slots) */
static int cm_table(lua_State *L)
{
  lua_createtable(L, (int)luaL_checkinteger(L, 1), 0);
  return 1;
}

/* string = string(length), made in a buffer */
static int cm_string(lua_State *L)
{
  lua_Integer i, n = luaL_checkinteger(L, 1);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++)
    luaL_addchar(&b, (char)('a' + i % 26)); /* NOLINT: LuaJIT's macro. */
  luaL_pushresult(&b);
  return 1;
}

/* before, after = call(size, fn, ...): userdata around a call of Lua */
static int cm_call(lua_State *L)
{
  size_t size = (size_t)luaL_checkinteger(L, 1);
  int nargs = lua_gettop(L) - 2;
  lua_newuserdata(L, size);
  lua_insert(L, 2);
  lua_call(L, nargs, 0);
  lua_newuserdata(L, size + 8);
  return 2;
}

/* before, after = pcall(size, fn): the same, and errors are caught */
static int cm_pcall(lua_State *L)
{
  size_t size = (size_t)luaL_checkinteger(L, 1);
  lua_newuserdata(L, size);
  lua_insert(L, 2);
  if (lua_pcall(L, 0, 0, 0) != 0)
    lua_pop(L, 1);
  lua_newuserdata(L, size + 8);
  return 2;
}

/* userdata = nested(size): one C function calls another one */
static int cm_nested(lua_State *L)
{
  lua_pushcfunction(L, cm_userdata);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

/* userdata = yield(size), after a yield of another one */
static int cm_yield(lua_State *L)
{
  lua_newuserdata(L, (size_t)luaL_checkinteger(L, 1));
  return lua_yield(L, 1);
}

/* userdata = other(size): allocates on another coroutine */
static int cm_other(lua_State *L)
{
  lua_State *co = lua_newthread(L);
  lua_newuserdata(co, (size_t)luaL_checkinteger(L, 1));
  lua_xmove(co, L, 1);
  return 1;
}

/* fn = closure(size): a closure whose calls allocate */
static int cm_closure_call(lua_State *L)
{
  lua_newuserdata(L, (size_t)lua_tointeger(L, lua_upvalueindex(1)));
  return 1;
}

static int cm_closure(lua_State *L)
{
  lua_settop(L, 1);
  lua_pushcclosure(L, cm_closure_call, 1);
  return 1;
}

/* block = take(block or nil, old size, new size): memory that the VM does not
** count, as LPeg takes it; a new size of 0 frees it.
*/
static int cm_take(lua_State *L)
{
  void *ud, *p = lua_touserdata(L, 1);
  size_t osize = (size_t)luaL_checkinteger(L, 2);
  size_t nsize = (size_t)luaL_checkinteger(L, 3);
  lua_Alloc f = lua_getallocf(L, &ud);
  p = f(ud, p, osize, nsize);
  if (p)
    lua_pushlightuserdata(L, p);
  else
    lua_pushnil(L);
  return 1;
}

/* -- A function that other modules see ------------------------------------ */

int cmod_exported(lua_State *L);

int cmod_exported(lua_State *L)
{
  lua_newuserdata(L, (size_t)luaL_checkinteger(L, 1));
  return 1;
}

static const luaL_Reg cm_functions[] = {
    {"userdata", cm_userdata},   {"table", cm_table}, {"string", cm_string},
    {"call", cm_call},           {"pcall", cm_pcall}, {"nested", cm_nested},
    {"yield", cm_yield},         {"other", cm_other}, {"closure", cm_closure},
    {"exported", cmod_exported}, {"take", cm_take},   {NULL, NULL},
};

int luaopen_cmod(lua_State *L);

int luaopen_cmod(lua_State *L)
{
  lua_newtable(L);
  luaL_register(L, NULL, cm_functions);
  return 1;
}

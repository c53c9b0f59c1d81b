/*
** Results of functions of the Lua API.
*/

#define lj_memprof_luaresult_c
#define LUA_LIB

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lua.h"

#include "lj_memprof_lua.h"

int lj_memprof_luafail(lua_State *L, const char *fname, const char *msg, int en)
{
  lua_pushboolean(L, 0);
  if (fname != NULL)
    lua_pushfstring(L, "%s: %s", fname, msg);
  else
    lua_pushstring(L, msg);
  lua_pushinteger(L, en);
  return 3;
}

const char *lj_memprof_luawhy(const char *why, int en)
{
  return why != NULL ? why : strerror(en);
}

/* How the recording that this thread has ended last went. */
static MP_THREAD struct {
  int en;
  const char *why;
} luaresult_stopped;

void lj_memprof_luastopped(int en, const char *why)
{
  luaresult_stopped.en = en;
  luaresult_stopped.why = why;
}

int lj_memprof_luahow(const char **why)
{
  *why = lj_memprof_luawhy(luaresult_stopped.why, luaresult_stopped.en);
  return luaresult_stopped.en;
}

#endif

/*
** A host of whichever LuaJIT the loader finds: runs a script, as the command
** luajit does, after the code in LUA_INIT.
**
**   host SCRIPT [ARGUMENT...]
*/

#include <stdio.h>
#include <stdlib.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

/* Reports the error on the stack. */
static int host_fail(lua_State *L, const char *host)
{
  fprintf(stderr, "%s: %s\n", host, lua_tostring(L, -1));
  lua_close(L);
  return 1;
}

/* debug.traceback(error) */
static int host_traceback(lua_State *L)
{
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

int main(int argc, char **argv)
{
  lua_State *L = luaL_newstate();
  const char *init = getenv("LUA_INIT");
  int i;
  if (L == NULL || argc < 2) {
    fprintf(stderr, "usage: host SCRIPT [ARGUMENT...]\n");
    return 64;
  }
  luaL_openlibs(L);
  lua_createtable(L, argc, 2);
  for (i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  if (init != NULL && luaL_dostring(L, init))
    return host_fail(L, argv[0]);
  lua_pushcfunction(L, host_traceback);
  if (luaL_loadfile(L, argv[1]) || lua_pcall(L, 0, 0, -2))
    return host_fail(L, argv[0]);
  lua_close(L);
  return 0;
}

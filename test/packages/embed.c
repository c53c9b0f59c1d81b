/* Runs a Lua script: all that a program does that knows of no profiler. */

#include "lauxlib.h"
#include "lualib.h"

int main(int argc, char **argv)
{
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return argc != 2 || luaL_dofile(L, argv[1]);
}

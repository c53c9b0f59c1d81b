/*
** Works for a second, then loads a libluajit and works in Lua for two:
**
**   late_vm LIBLUAJIT
*/

#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

typedef struct lua_State lua_State;

static const char code[] =
    "local function late(seconds) local x, stop = 0, os.clock() + seconds\n"
    "  repeat for i = 1, 1e4 do x = x + i % 7 end until os.clock() > stop\n"
    "end\n"
    "late(2)";

int main(int argc, char **argv)
{
  void *lib;
  lua_State *(*newstate)(void);
  void (*openlibs)(lua_State *);
  int (*load)(lua_State *, const char *);
  int (*call)(lua_State *, int, int, int);
  lua_State *L;
  while (clock() < CLOCKS_PER_SEC)
    ;
  lib = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!lib) {
    fprintf(stderr, "no library: %s\n", dlerror());
    return 1;
  }
  newstate = (lua_State * (*)(void)) dlsym(lib, "luaL_newstate");
  openlibs = (void (*)(lua_State *))dlsym(lib, "luaL_openlibs");
  load = (int (*)(lua_State *, const char *))dlsym(lib, "luaL_loadstring");
  call = (int (*)(lua_State *, int, int, int))dlsym(lib, "lua_pcall");
  L = newstate();
  openlibs(L);
  return load(L, code) || call(L, 0, 0, 0);
}

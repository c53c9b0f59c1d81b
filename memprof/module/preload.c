/*
** For LD_PRELOAD: records the VMs of a program that is linked with LuaJIT's
** shared library, or loads it, and knows nothing of the recorder.
**
** This luaL_openlibs() is found before the library's. It calls that one, and
** then does what require "memprof.auto" would: so the program's scripts and the
** paths of its modules stay as they are. It is linked with no Lua, because it
** is loaded into all kinds of programs.
*/

#define _GNU_SOURCE /* For RTLD_NEXT. */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

typedef void (*OpenLibs)(lua_State *L);

#define PRELOAD_API __attribute__((visibility("default")))

PRELOAD_API void luaL_openlibs(lua_State *L);

/* -- The function that is hidden by ours ---------------------------------- */

/* Symbol NAME in the file of an address and in what that is linked with. */
static void *symbol_near(void *addr, const char *name)
{
  Dl_info info;
  void *so, *p;
  if (!dladdr(addr, &info) || !info.dli_fname)
    return NULL;
  so = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (so == NULL)
    return NULL;
  p = dlsym(so, name);
  dlclose(so);
  return p;
}

/* The library's function: the next in order; else, for a library that was
** loaded later, that of the caller, or that beside another one of Lua.
*/
static OpenLibs preload_real(void *caller)
{
  void *self = (void *)(uintptr_t)luaL_openlibs;
  void *p = dlsym(RTLD_NEXT, "luaL_openlibs"), *other;
  if (p == NULL)
    p = symbol_near(caller, "luaL_openlibs");
  other = p == NULL || p == self ? dlsym(RTLD_DEFAULT, "lua_newstate") : NULL;
  if (other != NULL)
    p = symbol_near(other, "luaL_openlibs");
  return p == self ? NULL : (OpenLibs)(uintptr_t)p;
}

/* -- Recording ------------------------------------------------------------ */

/* What Lua's functions are here. Threads may find them at the same time. */
static __thread struct {
  void (*getfield)(lua_State *L, int idx, const char *k);
  void (*setfield)(lua_State *L, int idx, const char *k);
  void (*pushboolean)(lua_State *L, int b);
  void (*pushcclosure)(lua_State *L, lua_CFunction f, int n);
  int (*pcall)(lua_State *L, int nargs, int nresults, int errfunc);
  void (*settop)(lua_State *L, int idx);
  int (*setmode)(lua_State *L, int idx, int mode);
} lua;

/* Sets *P to a function. Returns it. */
static void *preload_find(void *p, const char *name)
{
  void *f = dlsym(RTLD_DEFAULT, name);
  memcpy(p, &f, sizeof(f));
  return f;
}

/* Is it LuaJIT? Other Lua is none of our business. */
static int preload_luajit(void)
{
  return preload_find(&lua.setmode, "luaJIT_setmode") &&
         preload_find(&lua.getfield, "lua_getfield") &&
         preload_find(&lua.setfield, "lua_setfield") &&
         preload_find(&lua.pushboolean, "lua_pushboolean") &&
         preload_find(&lua.pushcclosure, "lua_pushcclosure") &&
         preload_find(&lua.pcall, "lua_pcall") &&
         preload_find(&lua.settop, "lua_settop");
}

/* Says so if the host has LuaJIT for itself alone: REAL is a function of it. */
static void preload_explain(OpenLibs real)
{
  void *mode = symbol_near((void *)(uintptr_t)real, "luaJIT_setmode");
  Dl_info info;
  if (mode != NULL && dladdr(mode, &info) && info.dli_fname)
    fprintf(
        stderr,
        "LJPROF: not recording: the host has loaded LuaJIT for itself alone "
        "(RTLD_LOCAL); add it to LD_PRELOAD, before preload.so: %s\n",
        info.dli_fname);
}

/* The module: ours is DIR/memprof/preload.so, it is DIR/memprof.so. Returns its
** function for require "memprof.auto", or NULL and prints why.
*/
static lua_CFunction preload_module(void)
{
  static const char ours[] = "/memprof/preload.so", its[] = "/memprof.so";
  char path[PATH_MAX];
  Dl_info info;
  size_t n;
  void *so;
  if (!dladdr((void *)(uintptr_t)luaL_openlibs, &info) || !info.dli_fname)
    return NULL;
  n = strlen(info.dli_fname);
  if (n < sizeof(ours) || n >= sizeof(path) ||
      strcmp(info.dli_fname + n + 1 - sizeof(ours), ours) != 0)
    return NULL;
  memcpy(path, info.dli_fname, n + 1);
  memcpy(path + n + 1 - sizeof(ours), its, sizeof(its));
  so = dlopen(path, RTLD_NOW);
  if (so == NULL) {
    fprintf(stderr, "LJPROF: not recording: %s\n", dlerror());
    return NULL;
  }
  return (lua_CFunction)(uintptr_t)dlsym(so, "luaopen_memprof_auto");
}

/* Records this VM. A require "memprof.auto" to come does nothing then. */
static int preload_start(lua_State *L)
{
  lua_CFunction start = preload_module();
  if (start == NULL)
    return 0;
  lua.getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua.pushboolean(L, 1);
  lua.setfield(L, -2, "memprof.auto");
  lua.settop(L, 0);
  return start(L);
}

/* The module creates a VM of its own to look at. */
static __thread int preload_inside;

void luaL_openlibs(lua_State *L)
{
  OpenLibs real = preload_real(__builtin_return_address(0));
  const char *env = getenv("LJPROF");
  if (real == NULL) { /* Without its libraries the program cannot go on. */
    fputs("LJPROF: cannot find luaL_openlibs of this program: run it without "
          "LD_PRELOAD\n",
          stderr);
    abort();
  }
  real(L);
  if (preload_inside || env == NULL || *env == '\0')
    return;
  if (!preload_luajit()) {
    preload_explain(real);
    return;
  }
  preload_inside = 1;
  lua.pushcclosure(L, preload_start, 0);
  if (lua.pcall(L, 0, 0, 0) != 0)
    lua.settop(L, -2);
  preload_inside = 0;
}

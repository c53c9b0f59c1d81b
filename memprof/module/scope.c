/*
** Lua's functions, which memprof.so gets from the host.
**
** A host may load LuaJIT for itself alone, as for a plugin (RTLD_LOCAL). Then
** the loader has no Lua for memprof.so. LD_PRELOAD makes it everyone's LuaJIT.
*/

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "lauxlib.h"
#include "luajit.h"

#include "module/scope.h"

typedef int (*ScopeError)(lua_State *L, const char *format, ...);

int mp_scope_reaches(void)
{
  return lua_gettop != NULL && luaJIT_setmode != NULL;
}

/* The host's luaL_error and its file, by an address in it, or NULL. */
static ScopeError scope_error(void *caller, const char **file)
{
  Dl_info info;
  void *so, *error;
  if (!dladdr(caller, &info) || !info.dli_fname)
    return NULL;
  so = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  error = so ? dlsym(so, "luaL_error") : NULL;
  if (so)
    dlclose(so);
  *file = info.dli_fname;
  return (ScopeError)(uintptr_t)error;
}

int mp_scope_check(lua_State *L, void *caller)
{
  ScopeError error;
  const char *file;
  if (mp_scope_reaches())
    return 1;
  if (lua_gettop != NULL)
    return luaL_error(L, "memprof needs LuaJIT 2.1, and this is another Lua");
  error = scope_error(caller, &file);
  if (error)
    return error(L,
                 "memprof cannot call this LuaJIT: the host has loaded it for "
                 "itself alone (RTLD_LOCAL); run the host with LD_PRELOAD=%s",
                 file);
  fputs("memprof: not loaded: this host does not export the functions of its "
        "LuaJIT\n",
        stderr);
  return 0;
}

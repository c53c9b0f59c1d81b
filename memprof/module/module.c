/*
** require "memprof": the recorder in a LuaJIT that was not patched for it.
**
** The module has a recorder for each layout of the VM that it knows. Which of
** them fits is found out by looking, once in a process; each VM then gets a
** guard, which ends its recording when lua_close() finalizes it.
*/

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lmisclib.h"

#include "lauxlib.h"

#include "module/check.h"
#include "module/core.h"

#define MODULE_API __attribute__((visibility("default")))

/* -- Layouts -------------------------------------------------------------- */

#define _(core) extern const MPCore core;
MP_CORES
#undef _

static const MPCore *const module_cores[] = {
#define _(core) &core,
    MP_CORES
#undef _
};

#define MODULE_CORES (sizeof(module_cores) / sizeof(module_cores[0]))

static pthread_mutex_t module_mutex = PTHREAD_MUTEX_INITIALIZER;
static const MPCore *module_fits; /* Under the lock, */
static char module_why[256];      /* or what does not. */

/* The recorder for this process's library, or NULL with module_why set. */
static const MPCore *module_choose(void)
{
  const MPCore *fits;
  size_t i, n = 0;
  pthread_mutex_lock(&module_mutex);
  module_why[0] = '\0';
  for (i = 0; i < MODULE_CORES && module_fits == NULL; i++) {
    int bad = mp_check_library(module_cores[i]->layout);
    if (bad == MP_CHECK_FITS)
      module_fits = module_cores[i];
    else if (n < sizeof(module_why))
      n += (size_t)snprintf(module_why + n, sizeof(module_why) - n, "%s%s: %s",
                            n ? "; " : "", module_cores[i]->layout->name,
                            mp_check_name(bad));
  }
  fits = module_fits;
  pthread_mutex_unlock(&module_mutex);
  return fits;
}

/* -- The guard of a VM ---------------------------------------------------- */

static const char module_key; /* Its place in the registry. */

typedef struct MPGuard {
  const MPCore *core;
  int last; /* The next finalizer of it is the last one. */
} MPGuard;

static MPGuard *guard_new(lua_State *L, const MPCore *core);

/*
** lua_close() finalizes objects in turns: those first that were made last, and
** in the next turn what finalizers have made. A second guard hears of the end
** later than the first.
*/
static int guard_gc(lua_State *L)
{
  MPGuard *guard = (MPGuard *)lua_touserdata(L, 1);
  if (guard->last)
    guard->core->close(L);
  else
    guard_new(L, guard->core)->last = 1;
  return 0;
}

/* Makes a guard and keeps it in the registry. */
static MPGuard *guard_new(lua_State *L, const MPCore *core)
{
  MPGuard *guard;
  lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key);
  guard = (MPGuard *)lua_newuserdata(L, sizeof(MPGuard));
  guard->core = core;
  guard->last = 0;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return guard;
}

/* The recorder of a VM that has one, or NULL. */
static const MPCore *guard_find(lua_State *L)
{
  const MPGuard *guard;
  lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  guard = (const MPGuard *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return guard ? guard->core : NULL;
}

/* The recorder of a VM. Raises an error that says why there is none. */
static const MPCore *module_core(lua_State *L)
{
  const MPCore *core = guard_find(L);
  int bad;
  if (core != NULL)
    return core;
  core = module_choose();
  bad = core != NULL ? mp_check_vm(L, core->layout) : MP_CHECK_FAILED;
  if (core == NULL)
    luaL_error(L, "memprof does not know this LuaJIT (%s)", module_why);
  else if (bad != MP_CHECK_FITS)
    luaL_error(L, "memprof does not know this VM (%s: %s)", core->layout->name,
               mp_check_name(bad));
  guard_new(L, core);
  return core;
}

/* -- The Lua module ------------------------------------------------------- */

/* Pushes misc.memprof of a VM that has it built in. Returns 0 if it has not. */
static int module_builtin(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, LUA_MISCLIBNAME);
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "memprof");
    if (lua_istable(L, -1))
      return 1;
  }
  lua_settop(L, 0);
  return 0;
}

MODULE_API int luaopen_memprof(lua_State *L);

/* Returns the table with start, stop and is_running. */
int luaopen_memprof(lua_State *L)
{
  lua_settop(L, 0);
  if (!module_builtin(L))
    module_core(L)->push(L);
  return 1;
}

/* -- The C API, as in lmisclib.h ------------------------------------------ */

static int module_prepare(lua_State *L)
{
  *(const MPCore **)lua_touserdata(L, 1) = module_core(L);
  return 0;
}

MODULE_API int luaM_memprof_start(lua_State *L,
                                  const struct luam_Prof_options *opt)
{
  const MPCore *core = NULL;
  if (L == NULL || lua_cpcall(L, module_prepare, &core) != 0) {
    if (L != NULL)
      lua_pop(L, 1);
    return LUAM_PROFILE_ERR;
  }
  return core->start(L, opt);
}

MODULE_API int luaM_memprof_stop(const lua_State *L)
{
  /* Only its registry is looked at, by way of its stack. */
  const MPCore *core = L ? guard_find((lua_State *)(uintptr_t)L) : NULL;
  return core ? core->stop(L) : LUAM_PROFILE_ERR;
}

MODULE_API bool luaM_memprof_isrunning(void)
{
  size_t i;
  for (i = 0; i < MODULE_CORES; i++)
    if (module_cores[i]->isrunning())
      return true;
  return false;
}

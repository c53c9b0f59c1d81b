/*
** require "memprof": the recorder in a LuaJIT that was not patched for it.
**
** The module has a recorder for each layout of the VM that it knows. Which of
** them fits is found out by looking, once in a process; each VM then gets a
** guard, which ends its recording when lua_close() finalizes it.
*/

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "lmisclib.h"

#include "lauxlib.h"

#include "lj_memprof_auto.h"
#include "module/check.h"
#include "module/core.h"
#include "module/scope.h"

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
static pthread_once_t module_once = PTHREAD_ONCE_INIT;
static const MPCore *module_fits; /* Under the lock. */

static void module_lock(void)
{
  pthread_mutex_lock(&module_mutex);
}

static void module_unlock(void)
{
  pthread_mutex_unlock(&module_mutex);
}

/* A fork must not find another thread at the check. */
static void module_init(void)
{
  pthread_atfork(module_lock, module_unlock, module_unlock);
}

#define MODULE_WHY 256 /* Longer reasons are cut. */

/* What can be done where no recorder fits. */
#define MODULE_DO                                                              \
  "build memprof.so with the source of this LuaJIT, cmake "                    \
  "-DLUAJIT_SOURCE_DIR=DIR, or run a LuaJIT with the recorder built in: see "  \
  "stock-luajit.md"

/* Looks for the recorder that fits. Returns MP_CHECK_*, or why none does. */
static int module_look(char *why)
{
  size_t i, n = 0;
  int bad = MP_CHECK_FAILED;
  for (i = 0; i < MODULE_CORES && bad > MP_CHECK_NOMEM; i++) {
    bad = mp_check_library(module_cores[i]->layout);
    if (bad == MP_CHECK_FITS) {
      module_fits = module_cores[i];
      return bad;
    }
    if (n < MODULE_WHY)
      n += (size_t)snprintf(why + n, MODULE_WHY - n, "%s%s: %s", n ? "; " : "",
                            module_cores[i]->layout->name, mp_check_name(bad));
  }
  return bad > MP_CHECK_NOMEM ? MP_CHECK_FAILED : bad;
}

/* The recorder for this process's library, or NULL with *bad and why set. */
static const MPCore *module_choose(int *bad, char *why)
{
  const MPCore *fits;
  if (!mp_scope_reaches()) {
    *bad = MP_CHECK_FAILED;
    return NULL;
  }
  pthread_once(&module_once, module_init);
  module_lock();
  *bad = module_fits != NULL ? MP_CHECK_FITS : module_look(why);
  fits = module_fits;
  module_unlock();
  return fits;
}

/* The recorder for this process's library, if it was ever looked for. */
static const MPCore *module_known(void)
{
  const MPCore *fits;
  module_lock();
  fits = module_fits;
  module_unlock();
  return fits;
}

/* -- The guard of a VM ---------------------------------------------------- */

static const char module_key; /* Its place in the registry. */

typedef struct MPGuard {
  const MPCore *core;
  int last;  /* The next finalizer of it is the last one. */
  int ended; /* It has run: a recording started now would not be ended. */
} MPGuard;

static MPGuard *guard_new(lua_State *L, const MPCore *core);

/* Makes the second guard, from the first one, which is the argument. */
static int guard_second(lua_State *L)
{
  const MPGuard *guard = (const MPGuard *)lua_touserdata(L, 1);
  guard_new(L, guard->core)->last = 1;
  return 0;
}

/*
** lua_close() finalizes objects in turns: those first that were made last, and
** in the next turn what finalizers have made. A second guard hears of the end
** later than the first. A VM that is closed because it has used up its memory
** may have none for it.
*/
static int guard_gc(lua_State *L)
{
  MPGuard *guard = (MPGuard *)lua_touserdata(L, 1);
  lua_settop(L, 1);
  if (!guard->last) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 0, 0) == 0)
      return 0;
  }
  guard->ended = 1;
  guard->core->close(L);
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
  guard->ended = 0;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard_second);
  lua_pushcclosure(L, guard_gc, 1);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return guard;
}

/* The guard of a VM that has one, or NULL. */
static const MPGuard *guard_find(lua_State *L)
{
  const MPGuard *guard;
  lua_pushlightuserdata(L, (void *)(uintptr_t)&module_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  guard = (const MPGuard *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return guard;
}

/* Pushes misc.memprof of a VM that has one. Returns 0 if it has none, 1 if it
** is ours, -1 if it is another recorder, which has the name only: Tarantool's.
*/
static int module_builtin(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  if (lua_istable(L, -1)) /* A host need not have opened any library. */
    lua_getfield(L, -1, LUA_MISCLIBNAME);
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "memprof");
    lua_getfield(L, LUA_REGISTRYINDEX, LJ_MEMPROF_BUILTIN);
    if (lua_istable(L, -2) && lua_rawequal(L, -1, -2))
      return 1;
    if (lua_istable(L, -2))
      return -1;
  }
  return 0;
}

/* As module_builtin(), and pushes nothing unless it is ours. */
static int module_hasours(lua_State *L)
{
  if (module_builtin(L) > 0)
    return 1;
  lua_settop(L, 0);
  return 0;
}

/* What a VM that does not fit has of another recorder, for an error. */
static const char *module_another(lua_State *L)
{
  int top = lua_gettop(L), another = module_builtin(L) < 0;
  lua_settop(L, top);
  return another ? ", which has another recorder in misc.memprof" : "";
}

/* Raises an error if this is a LuaJIT before 2.1. */
static void module_refuseold(lua_State *L)
{
  lua_getglobal(L, "jit");
  if (!lua_istable(L, -1)) {
    lua_pop(L, 1);
    return;
  }
  lua_getfield(L, -1, "version_num");
  lua_getfield(L, -2, "version");
  if (lua_tonumber(L, -2) > 0 && lua_tonumber(L, -2) < 20100 &&
      lua_isstring(L, -1))
    luaL_error(L, "memprof needs LuaJIT 2.1, and this is %s",
               lua_tostring(L, -1));
  lua_pop(L, 3);
}

/* Raises an error that says why the VM does not fit. */
static int module_refuse(lua_State *L, const char *layout, int bad)
{
  if (bad == MP_CHECK_FAILED)
    return lua_error(L); /* Of a hook, perhaps. */
  if (bad <= MP_CHECK_NOMEM)
    return luaL_error(L, "memprof cannot look at this VM (%s)",
                      mp_check_name(bad));
  return luaL_error(L,
                    "memprof does not know this VM: it is laid out otherwise "
                    "than the LuaJIT of this process (%s: %s); " MODULE_DO,
                    layout, mp_check_name(bad));
}

/*
** The guard of a VM, made if there is none. Raises an error if it cannot be,
** which *bad distinguishes from one without memory.
*/
static const MPGuard *module_guard(lua_State *L, int *bad)
{
  const MPGuard *guard = guard_find(L);
  const MPCore *core;
  char why[MODULE_WHY];
  if (guard != NULL)
    return guard;
  module_refuseold(L);
  core = module_choose(bad, why);
  if (core == NULL && *bad > MP_CHECK_NOMEM)
    luaL_error(
        L,
        "memprof does not know this LuaJIT%s: its objects are laid out "
        "otherwise than in those that memprof.so was built for (%s); " MODULE_DO,
        module_another(L), why);
  if (core != NULL)
    *bad = mp_check_vm(L, core->layout);
  if (*bad != MP_CHECK_FITS)
    module_refuse(L, core ? core->layout->name : "", *bad);
  return guard_new(L, core);
}

/* -- The Lua module ------------------------------------------------------- */

/* start(...): a VM that has lost its guard since require gets another. */
static int module_start(lua_State *L)
{
  int bad;
  const MPGuard *guard = module_guard(L, &bad);
  if (!guard->ended)
    return guard->core->luastart(L);
  lua_pushboolean(L, 0);
  lua_pushliteral(L, "the VM is being closed");
  lua_pushinteger(L, EINVAL);
  return 3;
}

/*
** dump(...): after the last finalizer nothing would collect a child any more,
** so it is waited for here.
*/
static int module_dump(lua_State *L)
{
  int bad, n;
  const MPGuard *guard = module_guard(L, &bad);
  n = guard->core->luadump(L);
  if (guard->ended)
    guard->core->close(L);
  return n;
}

MODULE_API int luaopen_memprof(lua_State *L);

/* Returns the table with start, stop and is_running. */
int luaopen_memprof(lua_State *L)
{
  int bad;
  if (!mp_scope_check(L, __builtin_return_address(0)))
    return 0;
  lua_settop(L, 0);
  if (module_hasours(L))
    return 1;
  module_guard(L, &bad)->core->push(L);
  lua_pushcfunction(L, module_start);
  lua_setfield(L, -2, "start");
  lua_pushcfunction(L, module_dump);
  lua_setfield(L, -2, "dump");
  return 1;
}

/* Pushes the function start, or raises an error. */
static int module_pushstart(lua_State *L)
{
  luaopen_memprof(L);
  lua_getfield(L, -1, "start");
  return 1;
}

MODULE_API int luaopen_memprof_auto(lua_State *L);

/*
** require "memprof.auto": records this VM if LJPROF says so. A VM that has the
** recorder built in has done that itself.
*/
int luaopen_memprof_auto(lua_State *L)
{
  if (!mp_scope_check(L, __builtin_return_address(0)))
    return 0;
  lua_settop(L, 0);
  if (!lj_memprof_wanted() || module_hasours(L))
    return 0;
  lua_pushcfunction(L, module_pushstart);
  if (lua_pcall(L, 0, 1, 0) == 0) {
    lj_memprof_auto(L);
  } else {
    const char *msg = lua_tostring(L, -1);
    lj_memprof_notauto(msg != NULL ? msg : "unknown error");
  }
  return 0;
}

/* -- The C API, as in lmisclib.h ------------------------------------------ */

typedef struct MPPrepared {
  const MPCore *core; /* Or NULL, */
  int bad;            /* MP_CHECK_*, */
  int ended;          /* The VM's last finalizer has run. */
} MPPrepared;

static int module_prepare(lua_State *L)
{
  MPPrepared *to = (MPPrepared *)lua_touserdata(L, 1);
  const MPGuard *guard = module_guard(L, &to->bad);
  to->ended = guard->ended;
  to->core = guard->core;
  return 0;
}

/* Looks at a VM, in a protected call. Returns LUAM_PROFILE_* if to->core is
** NULL then.
*/
static int module_preparevm(lua_State *L, MPPrepared *to)
{
  int status;
  if (!mp_scope_reaches())
    return LUAM_PROFILE_ERR;
  status = lua_cpcall(L, module_prepare, to);
  if (status != 0)
    lua_pop(L, 1);
  return status == LUA_ERRMEM || to->bad == MP_CHECK_NOMEM ? LUAM_PROFILE_ERRMEM
                                                           : LUAM_PROFILE_ERR;
}

/*
** A writer may call these, while the VM is in the middle of an allocation: they
** run nothing in a VM that is being recorded.
*/
MODULE_API int luaM_memprof_start(lua_State *L,
                                  const struct luam_Prof_options *opt)
{
  MPPrepared to = {NULL, MP_CHECK_FITS, 0};
  const MPCore *core = module_known();
  int status;
  if (L == NULL || (core != NULL && core->isactive(L)))
    return LUAM_PROFILE_ERR;
  status = module_preparevm(L, &to);
  if (to.core == NULL)
    return status;
  return to.ended ? LUAM_PROFILE_ERR : to.core->start(L, opt);
}

/*
** By a child process, which lua_close() must wait for: so the VM gets a guard,
** or if it has had its last finalizer, the child is waited for here.
*/
static int module_dumpforked(lua_State *L, const struct luam_Prof_options *opt)
{
  MPPrepared to = {NULL, MP_CHECK_FITS, 0};
  int status = module_preparevm(L, &to);
  if (to.core == NULL)
    return status;
  status = to.core->dump(L, opt);
  if (to.ended)
    to.core->close(L);
  return status;
}

/*
** Called wherever a host can be: in its allocator, in a finalizer at the end.
** Without a child process nothing is run in the VM.
*/
MODULE_API int luaM_memprof_dump(lua_State *L,
                                 const struct luam_Prof_options *opt)
{
  const MPCore *core = module_known();
  char why[MODULE_WHY];
  int bad;
  if (L == NULL || opt == NULL)
    return LUAM_PROFILE_ERR;
  if (core != NULL && core->isactive(L)) /* So it was looked at. */
    return core->dump(L, opt);
  if (opt->reserved[LUAM_PROF_FORK])
    return module_dumpforked(L, opt);
  core = module_choose(&bad, why);
  if (core == NULL)
    return bad == MP_CHECK_NOMEM ? LUAM_PROFILE_ERRMEM : LUAM_PROFILE_ERR;
  bad = mp_check_still(L, core->layout);
  return bad == MP_CHECK_FITS ? core->dump(L, opt) : LUAM_PROFILE_ERR;
}

MODULE_API int luaM_memprof_dumpstatus(lua_State *L, struct luam_Dump *dump)
{
  const MPCore *core = module_known();
  return core != NULL ? core->dumpstatus(L, dump) : LUAM_PROFILE_ERR;
}

/*
** The recorder for a writer: that of this process's library, which records the
** VM that it is for.
*/
static const MPCore *module_writer(void)
{
  char why[MODULE_WHY];
  int bad;
  return module_choose(&bad, why);
}

MODULE_API int luaM_memprof_tofile(struct luam_Prof_options *opt,
                                   const char *fname)
{
  const MPCore *core = module_writer();
  return core != NULL ? core->tofile(opt, fname) : LUAM_PROFILE_ERR;
}

MODULE_API int luaM_memprof_tofd(struct luam_Prof_options *opt, int fd)
{
  const MPCore *core = module_writer();
  return core != NULL ? core->tofd(opt, fd) : LUAM_PROFILE_ERR;
}

MODULE_API int luaM_memprof_tosocket(struct luam_Prof_options *opt,
                                     const char *address)
{
  const MPCore *core = module_writer();
  return core != NULL ? core->tosocket(opt, address) : LUAM_PROFILE_ERR;
}

MODULE_API int luaM_memprof_tomemory(struct luam_Prof_options *opt,
                                     struct luam_Memory *memory)
{
  const MPCore *core = module_writer();
  return core != NULL ? core->tomemory(opt, memory) : LUAM_PROFILE_ERR;
}

MODULE_API void luaM_memprof_drop(struct luam_Prof_options *opt)
{
  const MPCore *core = module_known();
  if (core != NULL)
    core->drop(opt);
}

MODULE_API int luaM_memprof_stop(const lua_State *L)
{
  const MPCore *core = module_known();
  return core != NULL ? core->stop(L) : LUAM_PROFILE_ERR;
}

MODULE_API bool luaM_memprof_isrunning(void)
{
  const MPCore *core = module_known();
  return core != NULL && core->isrunning();
}

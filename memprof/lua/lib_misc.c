/*
** The library "misc": the memory profiler for Lua.
*/

#define lib_misc_c
#define LUA_LIB

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_obj.h"
#include "lj_memprof.h"
#ifndef LJ_MEMPROF_MODULE /* It has luaopen_memprof_auto() instead. */
#include "lj_memprof_auto.h"
#endif
#ifndef LUAJIT_DISABLE_MEMPROF
#include "lj_memprof_control.h"
#include "lj_memprof_file.h"
#include "lj_memprof_lua.h"
#include "format/ljm_format.h"
#endif

#ifdef LUAJIT_DISABLE_MEMPROF

static int misc_disabled(lua_State *L)
{
  lua_pushboolean(L, 0);
  lua_pushliteral(L, "profiler is not compiled in");
  lua_pushinteger(L, ENOSYS);
  return 3;
}

#define misc_memprof_start    misc_disabled
#define misc_memprof_stop     misc_disabled
#define lj_heap_luadump       misc_disabled
#define lj_memprof_luatakeone misc_disabled
#define lj_memprof_luadeliver misc_disabled

#else

/* -- The file writer ------------------------------------------------------ */

/* Closes a file at the end of its recording. */
static int misc_close(void *arg)
{
  MPFile *f = (MPFile *)arg;
  int en;
  lj_memprof_closefile(f);
  en = f->en;
  if (en == 0)
    lj_memprof_droptail(f);
  else /* The tail has what the file could not take. */
    lj_memprof_leavetail(f);
  lj_memprof_luastopped(en, f->why);
  lj_memprof_forgetanew(f);
  free(f);
  return en;
}

/* -- misc.memprof --------------------------------------------------------- */

/* The results of a start that a recorder has refused. */
static int misc_refused(lua_State *L, const char *fname, int status)
{
  if (status == LUAM_PROFILE_ERRBUSY)
    return lj_memprof_luafail(
        L, NULL, "jit.p is running: stop it, or ask for natural lines", EBUSY);
  if (status == LUAM_PROFILE_ERR)
    return lj_memprof_luafail(
        L, fname,
        "options do not go together: stack, sample, tail, follow_fork and "
        "control are of the format \"compact\", seed is of sample",
        EINVAL);
  return lj_memprof_luafail(L, fname, strerror(ENOMEM), ENOMEM);
}

/* Why a recording could not start though its file has no error. */
static const char *misc_whynot(const MPLuaFile *to)
{
  const char *why = to->control ? lj_memprof_whynocontrol() : NULL;
  if (why != NULL && errno != ENOSYS)
    return why;
  if (to->tail && errno != EAGAIN)
    return "its tail cannot be mapped";
  if (to->zstd != 0 && errno == ENOENT)
    return "zstd: libzstd.so.1 cannot be loaded";
  if (to->follow && errno == ENOSYS)
    return "follow_fork: this kernel cannot do it (MADV_WIPEONFORK)";
  return errno == ENOSYS ? "threads are not compiled in"
                         : "its thread cannot be made";
}

/* Opens what the first argument names. */
static int misc_open(MPFile *f, const char *fname, const MPLuaFile *to)
{
  if (fname == NULL)
    return lj_memprof_openfd(f, to->fd);
  return lj_memprof_issocket(fname) ? lj_memprof_opensocket(f, fname)
                                    : lj_memprof_openfile(f, fname);
}

/* Records to a file that is open, with a tail if that is wanted. */
static int misc_start(lua_State *L, MPFile *f, struct luam_Prof_options *opt,
                      const MPLuaFile *to)
{
  const MPWriter more = {lj_memprof_fileagain,
                         lj_memprof_namefile,
                         lj_memprof_forkedfile,
                         to->max_size,
                         lj_memprof_nextfile,
                         NULL,
                         f};
  int fd = -1, status;
  if (to->max_size && !lj_memprof_checksegments(f, to->segments))
    return LUAM_PROFILE_ERRIO;
  if ((to->follow || to->control) && !lj_memprof_anewfile(f, to->child))
    return LUAM_PROFILE_ERRIO;
  if (to->tail) {
    fd = lj_memprof_opentail(f, opt->buffer ? (size_t)opt->buffer
                                            : LJM_BLOCK_DEFAULT);
    if (fd < 0)
      return LUAM_PROFILE_ERRIO;
    opt->reserved[LUAM_PROF_TAIL] = (uint64_t)fd + 1;
  }
  status = lj_memprof_start(L, opt, &more);
  if (status == LUAM_PROFILE_ERRIO && f->en == 0)
    lj_memprof_filefail(f, errno, misc_whynot(to));
  if (fd >= 0)
    close(fd);
  return status;
}

/* Opens the file and records to it. */
static int misc_record(lua_State *L, const char *fname, const MPLuaFile *to,
                       struct luam_Prof_options *opt)
{
  MPFile *f = (MPFile *)malloc(sizeof(MPFile));
  int status = LUAM_PROFILE_ERRIO, en;
  const char *why;
  if (f == NULL)
    return misc_refused(L, fname, LUAM_PROFILE_ERRMEM);
  opt->arg = f;
  if (misc_open(f, fname, to))
    status = misc_start(L, f, opt, to);
  if (status == LUAM_PROFILE_SUCCESS) {
    lua_pushboolean(L, 1);
    return 1;
  }
  en = f->en;
  why = f->why;
  lj_memprof_dropfile(f);
  lj_memprof_forgetanew(f);
  free(f);
  if (status != LUAM_PROFILE_ERRIO)
    return misc_refused(L, fname, status);
  return lj_memprof_luafail(L, fname, lj_memprof_luawhy(why, en), en);
}

/* Records into memory, for Lua code to take. */
static int misc_take(lua_State *L, const MPLuaFile *to,
                     struct luam_Prof_options *opt)
{
  MPWriter more = {NULL, NULL, NULL, 0, NULL, NULL, NULL};
  int status = LUAM_PROFILE_ERRMEM;
  more.queue = lj_memprof_luatake(L, to, opt);
  if (more.queue != NULL)
    status = lj_memprof_start(L, opt, &more);
  if (status == LUAM_PROFILE_ERRIO)
    return lj_memprof_luafail(L, NULL, misc_whynot(to), errno);
  if (status != LUAM_PROFILE_SUCCESS)
    return misc_refused(L, NULL, status);
  lua_pushboolean(L, 1);
  return 1;
}

/* Reads the first argument of start(): NULL if it is no name. */
static const char *misc_name(lua_State *L, const MPLuaFile *to)
{
  if (to->function)
    return NULL;
  if (to->memory == 0)
    return lj_memprof_luaname(L, to->fd);
  luaL_argcheck(L, lua_isnoneornil(L, 1), 1,
                "nil expected beside the option 'memory'");
  return NULL;
}

/* started, message, errno = misc.memprof.start(fname [, seconds|options]) */
static int misc_memprof_start(lua_State *L)
{
  struct luam_Prof_options opt;
  MPLuaFile to;
  int status;
  const char *fname;
  lj_memprof_luaoptions(L, &opt, &to);
  fname = misc_name(L, &to);
  lj_memprof_lualimit(
      L, fname == NULL || lj_memprof_issocket(fname) ? NULL : fname, &opt);
  opt.writer = lj_memprof_writefile;
  opt.on_stop = misc_close;
  if (to.tail && fname == NULL)
    luaL_argerror(L, 2, "option 'tail' is for a file with a name");
  if (to.max_size && fname == NULL)
    luaL_argerror(L, 2, "segments are for a file with a name");
  if ((to.follow || to.control) && fname == NULL)
    luaL_argerror(L, 2, "follow_fork and control are for a file with a name");
  if (lj_memprof_isactive(L))
    return lj_memprof_luafail(L, NULL, "profiler is running already", EALREADY);
  status = lj_memprof_check(L, &opt);
  if (status != LUAM_PROFILE_SUCCESS)
    return misc_refused(L, fname, status);
  lj_memprof_luatakeend(L);
  if (to.function || to.memory != 0)
    return misc_take(L, &to, &opt);
  return misc_record(L, fname, &to, &opt);
}

/* stopped, message, errno = misc.memprof.stop() */
static int misc_memprof_stop(lua_State *L)
{
  int status = luaM_memprof_stop(L);
  const char *msg;
  if (status == LUAM_PROFILE_ERR)
    return lj_memprof_luafail(L, NULL, "profiler is not running", EINVAL);
  msg = lj_memprof_luatakelast(L);
  if (msg != NULL)
    return lj_memprof_luafail(L, NULL, msg, ECANCELED);
  if (status != LUAM_PROFILE_SUCCESS) {
    int en = lj_memprof_luahow(&msg);
    return lj_memprof_luafail(L, NULL, msg, en);
  }
  lua_pushboolean(L, 1);
  return 1;
}

#endif

/* running = misc.memprof.is_running() */
static int misc_memprof_is_running(lua_State *L)
{
#ifndef LUAJIT_DISABLE_MEMPROF
  lj_memprof_conclude(L); /* A caller may poll for the end. */
#endif
  lua_pushboolean(L, luaM_memprof_isrunning());
  return 1;
}

static const luaL_Reg misc_memprof_lib[] = {
    {"start", misc_memprof_start},
    {"stop", misc_memprof_stop},
    {"take", lj_memprof_luatakeone},
    {"deliver", lj_memprof_luadeliver},
    {"dump", lj_heap_luadump},
    {"is_running", misc_memprof_is_running},
    {NULL, NULL},
};

static const luaL_Reg misc_lib[] = {
    {NULL, NULL},
};

LUAMISC_API int luaopen_misc(lua_State *L)
{
  luaL_register(L, LUA_MISCLIBNAME, misc_lib);
  lua_createtable(L, 0, 3);
  luaL_register(L, NULL, misc_memprof_lib);
#ifndef LJ_MEMPROF_MODULE
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, LJ_MEMPROF_BUILTIN);
#endif
  lua_setfield(L, -2, "memprof");
#ifndef LJ_MEMPROF_MODULE
  lua_pushcfunction(L, misc_memprof_start);
  lj_memprof_auto(L);
#endif
  return 1;
}

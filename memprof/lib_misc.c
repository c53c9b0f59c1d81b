/*
** The library "misc": the memory profiler for Lua.
*/

#define lib_misc_c
#define LUA_LIB

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_obj.h"
#include "lj_memprof.h"
#ifndef LUAJIT_DISABLE_MEMPROF
#include "lj_heapfork.h"
#include "lj_memprof_file.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_stack.h"
#include "format/ljm_format.h"
#endif

/* -- Results -------------------------------------------------------------- */

/* Returns false, a message and an error number. */
static int misc_fail(lua_State *L, const char *fname, const char *msg, int en)
{
  lua_pushboolean(L, 0);
  if (fname != NULL)
    lua_pushfstring(L, "%s: %s", fname, msg);
  else
    lua_pushstring(L, msg);
  lua_pushinteger(L, en);
  return 3;
}

#ifdef LUAJIT_DISABLE_MEMPROF

static int misc_disabled(lua_State *L)
{
  return misc_fail(L, NULL, "profiler is not compiled in", ENOSYS);
}

#define misc_memprof_start misc_disabled
#define misc_memprof_stop  misc_disabled
#define misc_memprof_dump  misc_disabled

#else

/* -- The file writer ------------------------------------------------------ */

/* How the recording that this thread has ended last went. */
static __thread struct {
  int en;
  const char *why;
} misc_stopped;

/* The words for a file's error. */
static const char *misc_why(const char *why, int en)
{
  return why != NULL ? why : strerror(en);
}

/* Closes a file at the end of its recording. */
static int misc_close(void *arg)
{
  MPFile *f = (MPFile *)arg;
  lj_memprof_closefile(f);
  misc_stopped.en = f->en;
  misc_stopped.why = f->why;
  free(f);
  return misc_stopped.en;
}

/* -- Options -------------------------------------------------------------- */

/* Raises an argument error that names an option. */
static int misc_badoption(lua_State *L, const char *key, const char *expected)
{
  return luaL_argerror(
      L, 2, lua_pushfstring(L, "bad option '%s' (%s expected)", key, expected));
}

/* An option that is a whole number within bounds. The value is on top. */
static uint64_t misc_integer(lua_State *L, const char *key, lua_Number min,
                             lua_Number max)
{
  lua_Number n = lua_tonumber(L, -1);
  if (lua_type(L, -1) != LUA_TNUMBER || !(n >= min && n <= max) ||
      (lua_Number)(uint64_t)n != n)
    misc_badoption(L, key,
                   lua_pushfstring(L, "integer from %f to %f", min, max));
  return (uint64_t)n;
}

/* True if the value at an index is this very string. */
static int misc_is(lua_State *L, int idx, const char *name)
{
  size_t len;
  const char *s;
  if (lua_type(L, idx) != LUA_TSTRING)
    return 0;
  s = lua_tolstring(L, idx, &len);
  return len == strlen(name) && memcmp(s, name, len) == 0;
}

/* The option "format". The value is on top. */
static int misc_format(lua_State *L)
{
  static const char *const names[] = {"compact", "rfc", "tarantool"};
  int i;
  for (i = LUAM_PROF_COMPACT; i <= LUAM_PROF_TARANTOOL; i++)
    if (misc_is(L, -1, names[i]))
      return i;
  return misc_badoption(L, "format", "\"compact\", \"rfc\" or \"tarantool\"");
}

/* The option "lines". The value is on top. */
static int misc_lines(lua_State *L)
{
  if (misc_is(L, -1, "exact"))
    return LUAM_PROF_LINES_EXACT;
  if (misc_is(L, -1, "natural"))
    return LUAM_PROF_LINES_NATURAL;
  return misc_badoption(L, "lines", "\"exact\" or \"natural\"");
}

/* The option "stack". Here 0 is the top location only, in C the default. */
static int misc_stack(lua_State *L)
{
  int n = (int)misc_integer(L, "stack", 0, MP_MAXDEPTH);
  return n > 0 ? n : 1;
}

/* The option "dump_file". The value is on top. */
static uint64_t misc_dumpfile(lua_State *L)
{
  size_t len = 0;
  const char *s =
      lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &len) : "";
  if (*s == '\0' || strlen(s) != len)
    misc_badoption(L, "dump_file", "file name");
  return (uint64_t)(uintptr_t)s;
}

#define MISC_MAXSECONDS 1e9
#define MISC_MAXLIMIT   9007199254740992.0 /* 2^53 */
#define MISC_MAXSEED    9007199254740992.0 /* 2^53 */
#define MISC_MAXFD      2147483647.0

/* Takes one option of a table. The key is below the value. */
static void misc_option(lua_State *L, struct luam_Prof_options *opt, int *fd)
{
  if (lua_type(L, -2) != LUA_TSTRING)
    luaL_argerror(L, 2, "keys of options must be strings");
  if (misc_is(L, -2, "format"))
    opt->format = misc_format(L);
  else if (misc_is(L, -2, "buffer"))
    opt->buffer = misc_integer(L, "buffer", LJM_BLOCK_MIN, LJM_BLOCK_MAX);
  else if (misc_is(L, -2, "dump_at_limit"))
    opt->reserved[LUAM_PROF_LIMIT] =
        misc_integer(L, "dump_at_limit", 1, MISC_MAXLIMIT);
  else if (misc_is(L, -2, "dump_file"))
    opt->reserved[LUAM_PROF_LIMIT_NAME] = misc_dumpfile(L);
  else if (misc_is(L, -2, "fd"))
    *fd = (int)misc_integer(L, "fd", 0, MISC_MAXFD);
  else if (misc_is(L, -2, "lines"))
    opt->lines = misc_lines(L);
  else if (misc_is(L, -2, "sample"))
    opt->sample = misc_integer(L, "sample", 0, MP_MAXSAMPLE);
  else if (misc_is(L, -2, "seed"))
    opt->seed = misc_integer(L, "seed", 1, MISC_MAXSEED);
  else if (misc_is(L, -2, "stack")) /* For C, 0 is the default. */
    opt->stack = misc_stack(L);
  else if (misc_is(L, -2, "seconds"))
    opt->dursec = misc_integer(L, "seconds", 0, MISC_MAXSECONDS);
  else
    luaL_argerror(
        L, 2, lua_pushfstring(L, "unknown option '%s'", lua_tostring(L, -2)));
}

/*
** Reads the second argument of start: nothing, seconds, or a table. *fd is -1
** if there is none in it.
*/
static void misc_options(lua_State *L, struct luam_Prof_options *opt, int *fd)
{
  *fd = -1;
  memset(opt, 0, sizeof(*opt));
  if (lua_isnoneornil(L, 2))
    return;
  if (lua_type(L, 2) == LUA_TNUMBER) {
    lua_pushvalue(L, 2);
    opt->dursec = misc_integer(L, "seconds", 0, MISC_MAXSECONDS);
    lua_pop(L, 1);
    return;
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    misc_option(L, opt, fd);
    lua_pop(L, 1);
  }
}

/* -- misc.memprof --------------------------------------------------------- */

/* Reads the first argument of start: a file's name, or nil with a fd. */
static const char *misc_name(lua_State *L, int fd)
{
  size_t len;
  const char *fname;
  if (fd >= 0) {
    if (!lua_isnoneornil(L, 1))
      luaL_argerror(L, 1, "nil expected beside the option 'fd'");
    return NULL;
  }
  fname = luaL_checklstring(L, 1, &len);
  luaL_argcheck(L, strlen(fname) == len, 1, "file name with a zero in it");
  return fname;
}

/* The results of a start that a recorder has refused. */
static int misc_refused(lua_State *L, const char *fname, int status)
{
  if (status == LUAM_PROFILE_ERRBUSY)
    return misc_fail(
        L, NULL, "jit.p is running: stop it, or ask for natural lines", EBUSY);
  if (status == LUAM_PROFILE_ERR)
    return misc_fail(L, fname,
                     "options do not go together: stack and sample are of the "
                     "format \"compact\", seed is of sample",
                     EINVAL);
  return misc_fail(L, fname, strerror(ENOMEM), ENOMEM);
}

/* Opens the file and records to it. */
static int misc_record(lua_State *L, const char *fname, int fd,
                       struct luam_Prof_options *opt)
{
  static const MPWriter more = {lj_memprof_fileagain, lj_memprof_namefile,
                                lj_memprof_forkedfile};
  MPFile *f = (MPFile *)malloc(sizeof(MPFile));
  int status = LUAM_PROFILE_ERRIO, en;
  const char *why;
  if (f == NULL)
    return misc_refused(L, fname, LUAM_PROFILE_ERRMEM);
  opt->arg = f;
  if (fname != NULL ? lj_memprof_openfile(f, fname) : lj_memprof_openfd(f, fd))
    status = lj_memprof_start(L, opt, &more);
  if (status == LUAM_PROFILE_SUCCESS) {
    lua_pushboolean(L, 1);
    return 1;
  }
  en = f->en;
  why = f->why;
  lj_memprof_dropfile(f);
  free(f);
  if (status != LUAM_PROFILE_ERRIO)
    return misc_refused(L, fname, status);
  return misc_fail(L, fname, misc_why(why, en), en);
}

/*
** Completes the options of limits. A dump's file has the recording's name, with
** another suffix; it is left on the stack. Without a limit, only an allocation
** that fails makes one.
*/
static void misc_limit(lua_State *L, const char *fname,
                       struct luam_Prof_options *opt)
{
  uint64_t *limit = &opt->reserved[LUAM_PROF_LIMIT];
  uint64_t *name = &opt->reserved[LUAM_PROF_LIMIT_NAME];
  size_t len = fname != NULL ? strlen(fname) : 0;
  if (*name != 0 && *limit == 0)
    *limit = ~(uint64_t)0;
  if (*name != 0 || *limit == 0)
    return;
  if (fname == NULL)
    luaL_argerror(L, 2, "option 'dump_file' expected beside 'fd'");
  if (len > 4 && strcmp(fname + len - 4, ".ljm") == 0)
    len -= 4;
  lua_pushlstring(L, fname, len);
  lua_pushliteral(L, ".ljd");
  lua_concat(L, 2);
  *name = (uint64_t)(uintptr_t)lua_tostring(L, -1);
}

/* started, message, errno = misc.memprof.start(fname [, seconds|options]) */
static int misc_memprof_start(lua_State *L)
{
  struct luam_Prof_options opt;
  int fd, status;
  const char *fname;
  misc_options(L, &opt, &fd);
  fname = misc_name(L, fd);
  misc_limit(L, fname, &opt);
  opt.writer = lj_memprof_writefile;
  opt.on_stop = misc_close;
  if (lj_memprof_isactive(L))
    return misc_fail(L, NULL, "profiler is running already", EALREADY);
  status = lj_memprof_check(L, &opt);
  if (status != LUAM_PROFILE_SUCCESS)
    return misc_refused(L, fname, status);
  return misc_record(L, fname, fd, &opt);
}

/* Reads the options of a dump. Returns the descriptor, or -1. */
static int misc_dumpoptions(lua_State *L, struct luam_Prof_options *opt)
{
  int fd = -1;
  memset(opt, 0, sizeof(*opt));
  if (lua_isnoneornil(L, 2))
    return fd;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    if (misc_is(L, -2, "fd")) {
      fd = (int)misc_integer(L, "fd", 0, MISC_MAXFD);
    } else if (misc_is(L, -2, "strings")) {
      opt->strings = (int)misc_integer(L, "strings", 0, LJM_NAME_MAX);
      if (opt->strings == 0) /* For C, 0 is the default. */
        opt->strings = -1;
    } else if (misc_is(L, -2, "fork")) {
      if (!lua_isboolean(L, -1))
        misc_badoption(L, "fork", "true or false");
      opt->reserved[LUAM_PROF_FORK] = (uint64_t)lua_toboolean(L, -1);
    } else {
      luaL_argerror(L, 2, "options are strings, fd and fork");
    }
    lua_pop(L, 1);
  }
  return fd;
}

/* -- Dumps of child processes ---------------------------------------------- */

#define MISC_DUMP "misc.memprof.dump" /* Its metatable in the registry. */

/* What dump() returns with the option fork. */
typedef struct MiscDump {
  struct luam_Dump dump; /* Zero if there is none. */
  char fname[];          /* For messages, or "". */
} MiscDump;

/* "running", "done", or nil, message, errno = handle:status() */
static int misc_dump_status(lua_State *L)
{
  MiscDump *h = (MiscDump *)luaL_checkudata(L, 1, MISC_DUMP);
  int known = luaM_memprof_dumpstatus(L, &h->dump) == LUAM_PROFILE_SUCCESS;
  if (known && h->dump.state != LUAM_DUMP_FAILED) {
    lua_pushstring(L, h->dump.state == LUAM_DUMP_DONE ? "done" : "running");
    return 1;
  }
  misc_fail(L, *h->fname ? h->fname : NULL,
            known ? h->dump.why : "it is the dump of another process",
            known ? h->dump.en : ECHILD);
  lua_pushnil(L);
  lua_replace(L, -4);
  return 3;
}

/* The finalizer of a handle. */
static int misc_dump_gc(lua_State *L)
{
  const MiscDump *h = (MiscDump *)luaL_checkudata(L, 1, MISC_DUMP);
  if (h->dump.id != 0 && h->dump.state == LUAM_DUMP_RUNNING)
    lj_heap_forget(G(L), h->dump.id);
  return 0;
}

/* Pushes a handle, before there is a dump for it. */
static struct luam_Dump *misc_newdump(lua_State *L, const char *fname)
{
  size_t len = fname != NULL ? strlen(fname) : 0;
  MiscDump *h = (MiscDump *)lua_newuserdata(L, sizeof(MiscDump) + len + 1);
  memset(h, 0, sizeof(MiscDump));
  memcpy(h->fname, fname != NULL ? fname : "", len + 1);
  luaL_newmetatable(L, MISC_DUMP);
  lua_getfield(L, -1, "__gc");
  if (lua_isnil(L, -1)) { /* New, or there was no memory for all of it. */
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, misc_dump_status);
    lua_setfield(L, -2, "status");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, misc_dump_gc);
    lua_setfield(L, -2, "__gc");
  } else {
    lua_pop(L, 1);
  }
  lua_setmetatable(L, -2);
  return &h->dump;
}

/*
** dump(): a child writes the file, and the handle, which is on top, is
** returned.
*/
static int misc_dumpfork(lua_State *L, const char *fname, MPFile *f,
                         struct luam_Prof_options *opt)
{
  struct luam_Dump *dump =
      (struct luam_Dump *)(uintptr_t)opt->reserved[LUAM_PROF_FORK_DUMP];
  int status = lj_heap_fork(L, opt, f);
  if (status == LUAM_PROFILE_SUCCESS)
    return 1;
  lj_memprof_dropfile(f);
  free(f);
  if (status == LUAM_PROFILE_ERRFORK)
    return misc_fail(L, fname, dump->why, dump->en);
  return misc_fail(L, fname, strerror(ENOMEM), ENOMEM);
}

/* Writes a dump to a file that is open. It gets its name when it is whole. */
static int misc_dumpto(lua_State *L, MPFile *f, struct luam_Prof_options *opt)
{
  int status = luaM_memprof_dump(L, opt);
  if (status == LUAM_PROFILE_ERRMEM)
    f->en = ENOMEM;
  if (status == LUAM_PROFILE_SUCCESS && lj_memprof_namefile(f)) {
    lj_memprof_closefile(f);
    return f->en == 0;
  }
  lj_memprof_dropfile(f);
  return 0;
}

/*
** dumped, message, errno = misc.memprof.dump(fname [, options]); with the
** option fork, dumped is a handle.
*/
static int misc_memprof_dump(lua_State *L)
{
  struct luam_Prof_options opt;
  int fd = misc_dumpoptions(L, &opt);
  const char *fname = misc_name(L, fd);
  MPFile *f;
  int en = ENOMEM;
  const char *why = NULL;
  if (opt.reserved[LUAM_PROF_FORK]) /* This may raise an error. */
    opt.reserved[LUAM_PROF_FORK_DUMP] =
        (uint64_t)(uintptr_t)misc_newdump(L, fname);
  f = (MPFile *)malloc(sizeof(MPFile));
  if (f != NULL) {
    int good;
    opt.writer = lj_memprof_writefile;
    opt.arg = f;
    good = fname != NULL ? lj_memprof_openfile(f, fname)
                         : lj_memprof_openfd(f, fd);
    if (good && opt.reserved[LUAM_PROF_FORK])
      return misc_dumpfork(L, fname, f, &opt);
    good = good && misc_dumpto(L, f, &opt);
    en = f->en;
    why = f->why;
    free(f);
    if (good) {
      lua_pushboolean(L, 1);
      return 1;
    }
  }
  return misc_fail(L, fname, misc_why(why, en), en);
}

/* stopped, message, errno = misc.memprof.stop() */
static int misc_memprof_stop(lua_State *L)
{
  int status = luaM_memprof_stop(L);
  if (status == LUAM_PROFILE_ERR)
    return misc_fail(L, NULL, "profiler is not running", EINVAL);
  if (status != LUAM_PROFILE_SUCCESS)
    return misc_fail(L, NULL, misc_why(misc_stopped.why, misc_stopped.en),
                     misc_stopped.en);
  lua_pushboolean(L, 1);
  return 1;
}

#endif

/* running = misc.memprof.is_running() */
static int misc_memprof_is_running(lua_State *L)
{
  lua_pushboolean(L, luaM_memprof_isrunning());
  return 1;
}

static const luaL_Reg misc_memprof_lib[] = {
    {"start", misc_memprof_start},
    {"stop", misc_memprof_stop},
    {"dump", misc_memprof_dump},
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
  lua_setfield(L, -2, "memprof");
  return 1;
}

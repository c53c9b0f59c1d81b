/*
** The options of misc.memprof.start and misc.memprof.dump, from Lua.
*/

#define lj_memprof_luaopt_c
#define LUA_LIB

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_memprof_lua.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_segment.h"
#include "lj_memprof_stack.h"
#include "format/ljm_format.h"

/* -- Values --------------------------------------------------------------- */

#define LUAOPT_MAXSECONDS  1e9
#define LUAOPT_MAXLIMIT    9007199254740992.0 /* 2^53 */
#define LUAOPT_MAXEVERY    4294967295u        /* Milliseconds, or KiB. */
#define LUAOPT_KEEPDUMPS   5                  /* If not given. */
#define LUAOPT_MAXSEED     9007199254740992.0 /* 2^53 */
#define LUAOPT_MAXFD       2147483647.0
#define LUAOPT_MAXSEGMENTS 100
#define LUAOPT_SEGMENTS    4 /* Of the black box, if not given. */
#define LUAOPT_MAXQUEUE    1073741824
#define LUAOPT_ZSTD        3 /* Level of zstd = true. */

/* Raises an argument error that names an option. */
static int luaopt_badoption(lua_State *L, const char *key, const char *expected)
{
  return luaL_argerror(
      L, 2, lua_pushfstring(L, "bad option '%s' (%s expected)", key, expected));
}

/* An option that is a whole number within bounds. The value is on top. */
static uint64_t luaopt_integer(lua_State *L, const char *key, lua_Number min,
                               lua_Number max)
{
  lua_Number n = lua_tonumber(L, -1);
  if (lua_type(L, -1) != LUA_TNUMBER || !(n >= min && n <= max) ||
      (lua_Number)(uint64_t)n != n)
    luaopt_badoption(L, key,
                     lua_pushfstring(L, "integer from %f to %f", min, max));
  return (uint64_t)n;
}

/* The option "seconds", to the millisecond; not to nothing. On top. */
static void luaopt_seconds(lua_State *L, struct luam_Prof_options *opt)
{
  lua_Number n = lua_tonumber(L, -1);
  uint64_t ms;
  if (lua_type(L, -1) != LUA_TNUMBER || !(n >= 0 && n <= LUAOPT_MAXSECONDS))
    luaopt_badoption(
        L, "seconds",
        lua_pushfstring(L, "number from 0 to %f", LUAOPT_MAXSECONDS));
  ms = (uint64_t)(n * 1000 + 0.5);
  if (ms == 0 && n > 0)
    ms = 1;
  opt->dursec = ms / 1000;
  opt->reserved[LUAM_PROF_DURMS] = ms % 1000;
}

/* True if the value at an index is this very string. */
static int luaopt_is(lua_State *L, int idx, const char *name)
{
  size_t len;
  const char *s;
  if (lua_type(L, idx) != LUA_TSTRING)
    return 0;
  s = lua_tolstring(L, idx, &len);
  return len == strlen(name) && memcmp(s, name, len) == 0;
}

/* The option "format". The value is on top. */
static int luaopt_format(lua_State *L)
{
  static const char *const names[] = {"compact", "rfc", "tarantool"};
  int i;
  for (i = LUAM_PROF_COMPACT; i <= LUAM_PROF_TARANTOOL; i++)
    if (luaopt_is(L, -1, names[i]))
      return i;
  return luaopt_badoption(L, "format", "\"compact\", \"rfc\" or \"tarantool\"");
}

/*
** An option that is a number of bytes: an integer, or a string with K, M or G
** behind it, in either case. The value is on top.
*/
static uint64_t luaopt_bytes(lua_State *L, const char *key)
{
  static const char units[] = "KMGkmg";
  const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  size_t len = strspn(s, "0123456789");
  const char *unit = len > 0 && s[len] ? strchr(units, s[len]) : NULL;
  uint64_t n;
  if (lua_type(L, -1) == LUA_TNUMBER)
    return luaopt_integer(L, key, 1, LUAOPT_MAXLIMIT);
  if (len == 0 || len > 12 || (s[len] && (unit == NULL || s[len + 1])))
    luaopt_badoption(L, key, "bytes, as 1048576 or \"1M\",");
  n = strtoull(s, NULL, 10);
  if (unit != NULL)
    n <<= 10 * ((unit - units) % 3 + 1);
  if (n == 0)
    luaopt_badoption(L, key, "more than 0 bytes");
  return n;
}

/* The option "lines". The value is on top. */
static int luaopt_lines(lua_State *L)
{
  if (luaopt_is(L, -1, "exact"))
    return LUAM_PROF_LINES_EXACT;
  if (luaopt_is(L, -1, "natural"))
    return LUAM_PROF_LINES_NATURAL;
  return luaopt_badoption(L, "lines", "\"exact\" or \"natural\"");
}

/* The option "stack". Here 0 is the top location only, in C the default. */
static int luaopt_stack(lua_State *L)
{
  int n = (int)luaopt_integer(L, "stack", 0, MP_MAXDEPTH);
  return n > 0 ? n : 1;
}

/* An option that is true or false. The value is on top. */
static uint64_t luaopt_boolean(lua_State *L, const char *key)
{
  if (!lua_isboolean(L, -1))
    luaopt_badoption(L, key, "true or false");
  return (uint64_t)lua_toboolean(L, -1);
}

/* The option "dump_file". The value is on top. */
static uint64_t luaopt_dumpfile(lua_State *L)
{
  size_t len = 0;
  const char *s =
      lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &len) : "";
  if (*s == '\0' || strlen(s) != len)
    luaopt_badoption(L, "dump_file", "file name");
  return (uint64_t)(uintptr_t)s;
}

/*
** The option "dump_every": "60s", "500ms", or bytes, which become KiB. The
** value is on top.
*/
static uint64_t luaopt_every(lua_State *L)
{
  static const char what[] =
      "time as \"60s\" or \"500ms\", or bytes as \"16M\",";
  const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  size_t len = strspn(s, "0123456789");
  int seconds = strcmp(s + len, "s") == 0;
  uint64_t n;
  if (len == 0 || (!seconds && strcmp(s + len, "ms") != 0)) {
    if (lua_type(L, -1) != LUA_TNUMBER &&
        (len == 0 || (s[len] && strspn(s + len, "KMGkmg") != 1)))
      luaopt_badoption(L, "dump_every", what);
    n = (luaopt_bytes(L, "dump_every") + 1023) / 1024;
    if (n > LUAOPT_MAXEVERY)
      luaopt_badoption(L, "dump_every", "less than 4096G");
    return LUAM_EVERY_KIB(n, 0);
  }
  n = len <= 12 ? strtoull(s, NULL, 10) * (seconds ? 1000 : 1) : 0;
  if (n == 0 || n > LUAOPT_MAXEVERY)
    luaopt_badoption(L, "dump_every", "a time from \"1ms\" to \"4294967s\"");
  return LUAM_EVERY_MS(n, 0);
}

/* Takes an option of dumps. Returns 0 if it is another one. */
static int luaopt_dumps(lua_State *L, struct luam_Prof_options *opt,
                        MPLuaFile *to)
{
  if (luaopt_is(L, -2, "dump_at_limit"))
    opt->reserved[LUAM_PROF_LIMIT] =
        luaopt_integer(L, "dump_at_limit", 1, LUAOPT_MAXLIMIT);
  else if (luaopt_is(L, -2, "dump_file"))
    opt->reserved[LUAM_PROF_LIMIT_NAME] = luaopt_dumpfile(L);
  else if (luaopt_is(L, -2, "dump_every"))
    to->every = luaopt_every(L);
  else if (luaopt_is(L, -2, "dump_keep"))
    to->ndumps = (int)luaopt_integer(L, "dump_keep", 1, LUAM_EVERY_KEEPMAX);
  else
    return 0;
  return 1;
}

/* Takes an option of segments. Returns 0 if it is another one. */
static int luaopt_segment(lua_State *L, MPLuaFile *to)
{
  if (luaopt_is(L, -2, "keep"))
    to->keep = luaopt_bytes(L, "keep");
  else if (luaopt_is(L, -2, "max_size"))
    to->max_size = luaopt_bytes(L, "max_size");
  else if (luaopt_is(L, -2, "segments"))
    to->segments = (int)luaopt_integer(L, "segments", 2, LUAOPT_MAXSEGMENTS);
  else
    return 0;
  return 1;
}

/* The option "thread": true, false, "wait" or "drop". On top. */
static void luaopt_threadpolicy(lua_State *L, MPLuaFile *to)
{
  to->hasthread = 1;
  if (lua_isboolean(L, -1))
    to->hasthread = lua_toboolean(L, -1);
  else if (luaopt_is(L, -1, "drop"))
    to->policy = LUAM_THREAD_DROP;
  else if (!luaopt_is(L, -1, "wait"))
    luaopt_badoption(L, "thread", "true, false, \"wait\" or \"drop\"");
}

/* The option "zstd": true, false or a level. The value is on top. */
static void luaopt_zstd(lua_State *L, MPLuaFile *to)
{
  if (lua_isboolean(L, -1))
    to->zstd = lua_toboolean(L, -1) ? LUAOPT_ZSTD : 0;
  else
    to->zstd = (int)luaopt_integer(L, "zstd", 1, LUAM_THREAD_ZSTDMAX);
}

/* Takes an option of what is between the VM and the writer. */
static int luaopt_queue(lua_State *L, MPLuaFile *to)
{
  if (luaopt_is(L, -2, "thread"))
    luaopt_threadpolicy(L, to);
  else if (luaopt_is(L, -2, "queue"))
    to->queue = luaopt_bytes(L, "queue");
  else if (luaopt_is(L, -2, "zstd"))
    luaopt_zstd(L, to);
  else if (luaopt_is(L, -2, "memory"))
    to->memory = luaopt_bytes(L, "memory");
  else
    return 0;
  return 1;
}

/* The option "follow_fork": true, false or a name. The value is on top. */
static void luaopt_follow(lua_State *L, MPLuaFile *to)
{
  size_t len = 0;
  to->child = NULL;
  to->follow = lua_toboolean(L, -1);
  if (lua_isboolean(L, -1))
    return;
  if (lua_type(L, -1) == LUA_TSTRING)
    to->child = lua_tolstring(L, -1, &len);
  if (to->child == NULL || strlen(to->child) != len)
    luaopt_badoption(L, "follow_fork", "true, false or a file's name");
}

/* Sets what is wanted of the word ANEW, or not. */
static void luaopt_setanew(struct luam_Prof_options *opt, uint64_t bit, int on)
{
  opt->reserved[LUAM_PROF_ANEW] &= ~bit;
  opt->reserved[LUAM_PROF_ANEW] |= on ? bit : 0;
}

/* Takes an option of recordings that begin anew. */
static int luaopt_anew(lua_State *L, struct luam_Prof_options *opt,
                       MPLuaFile *to)
{
  if (luaopt_is(L, -2, "follow_fork")) {
    luaopt_follow(L, to);
    luaopt_setanew(opt, LUAM_ANEW_FOLLOW, to->follow);
  } else if (luaopt_is(L, -2, "control")) {
    to->control = luaopt_boolean(L, "control") != 0;
    luaopt_setanew(opt, LUAM_ANEW_CONTROL, to->control);
  } else {
    return 0;
  }
  return 1;
}

/* Takes one option of a table. The key is below the value. */
static void luaopt_option(lua_State *L, struct luam_Prof_options *opt,
                          MPLuaFile *to)
{
  if (lua_type(L, -2) != LUA_TSTRING)
    luaL_argerror(L, 2, "keys of options must be strings");
  if (luaopt_is(L, -2, "format"))
    opt->format = luaopt_format(L);
  else if (luaopt_is(L, -2, "buffer"))
    opt->buffer = luaopt_integer(L, "buffer", LJM_BLOCK_MIN, LJM_BLOCK_MAX);
  else if (luaopt_is(L, -2, "fd"))
    to->fd = (int)luaopt_integer(L, "fd", 0, LUAOPT_MAXFD);
  else if (luaopt_is(L, -2, "lines"))
    opt->lines = luaopt_lines(L);
  else if (luaopt_is(L, -2, "sample"))
    opt->sample = luaopt_integer(L, "sample", 0, MP_MAXSAMPLE);
  else if (luaopt_is(L, -2, "seed"))
    opt->seed = luaopt_integer(L, "seed", 1, LUAOPT_MAXSEED);
  else if (luaopt_is(L, -2, "stack")) /* For C, 0 is the default. */
    opt->stack = luaopt_stack(L);
  else if (luaopt_is(L, -2, "seconds"))
    luaopt_seconds(L, opt);
  else if (luaopt_is(L, -2, "marks"))
    opt->reserved[LUAM_PROF_MARKS] =
        luaopt_integer(L, "marks", 1, LUAM_PROF_MARKSMAX);
  else if (luaopt_is(L, -2, "tail"))
    to->tail = luaopt_boolean(L, "tail") != 0;
  else if (!luaopt_dumps(L, opt, to) && !luaopt_segment(L, to) &&
           !luaopt_queue(L, to) && !luaopt_anew(L, opt, to))
    luaL_argerror(
        L, 2, lua_pushfstring(L, "unknown option '%s'", lua_tostring(L, -2)));
}

/*
** The segments of a file: checks what belongs together, and computes the size
** of one.
*/
static void luaopt_segments(lua_State *L, const struct luam_Prof_options *opt,
                            MPLuaFile *to)
{
  uint64_t buffer = opt->buffer ? opt->buffer : LJM_BLOCK_DEFAULT;
  int all = to->keep != 0 || to->max_size != 0;
  if (to->segments != 0 && !all)
    luaL_argerror(L, 2, "option 'segments' is for 'keep' or 'max_size'");
  if (!all)
    return;
  if (to->keep != 0 && to->max_size != 0)
    luaL_argerror(L, 2, "options 'keep' and 'max_size' exclude each other");
  if (opt->format != LUAM_PROF_COMPACT)
    luaL_argerror(L, 2,
                  "options 'keep' and 'max_size' are of the format "
                  "\"compact\"");
  if (to->tail)
    luaL_argerror(L, 2, "option 'tail' is not for files with segments");
  if (to->segments == 0)
    to->segments = LUAOPT_SEGMENTS;
  if (to->keep != 0)
    to->max_size = to->keep / (uint64_t)to->segments;
  if (to->max_size < MPSEGMENT_BUFFERS * buffer)
    luaL_argerror(L, 2,
                  lua_pushfstring(L,
                                  "a segment has %f bytes, less than %d times "
                                  "the option 'buffer' of %f",
                                  (lua_Number)to->max_size, MPSEGMENT_BUFFERS,
                                  (lua_Number)buffer));
}

/* Why options of a thread do not go with others, or NULL. */
static const char *luaopt_badthread(const struct luam_Prof_options *opt,
                                    const MPLuaFile *to)
{
  if (to->tail)
    return "option 'tail' is not for 'thread' or 'zstd': a process that is "
           "killed loses what is in the queue";
  if (to->function || to->memory != 0)
    return "options 'thread' and 'zstd' are for a writer, not for 'memory' or "
           "a function";
  if (to->zstd != 0 && to->max_size != 0)
    return "option 'zstd' is not for files with segments";
  return opt->format != LUAM_PROF_COMPACT
             ? "options 'thread' and 'zstd' are of the format \"compact\""
             : NULL;
}

/* The same for a recording whose blocks Lua code takes. */
static const char *luaopt_badtake(const struct luam_Prof_options *opt,
                                  const MPLuaFile *to)
{
  if (to->function && to->memory != 0)
    return "option 'memory' is not for a function: it has 'queue'";
  if (to->memory != 0 && to->queue != 0)
    return "options 'memory' and 'queue' exclude each other";
  if (to->tail || to->max_size != 0 || to->fd >= 0)
    return "options 'tail', 'keep', 'max_size' and 'fd' are for files";
  return opt->format != LUAM_PROF_COMPACT
             ? "Lua code takes blocks, which are of the format \"compact\""
             : NULL;
}

/* True if a size of a queue, or 0, can be that. */
static int luaopt_isqueue(uint64_t size, uint64_t buffer)
{
  return size == 0 || (size >= 2 * buffer && size <= LUAOPT_MAXQUEUE);
}

/* Checks what belongs to a queue, and sets the option of C. */
static void luaopt_thread(lua_State *L, struct luam_Prof_options *opt,
                          MPLuaFile *to)
{
  uint64_t buffer = opt->buffer ? opt->buffer : LJM_BLOCK_DEFAULT;
  const char *why = NULL;
  if (to->zstd != 0)
    to->hasthread = 1; /* Which compresses. */
  if (to->hasthread)
    why = luaopt_badthread(opt, to);
  else if (to->function || to->memory != 0)
    why = luaopt_badtake(opt, to);
  else if (to->queue != 0)
    why = "option 'queue' is for 'thread', or a function that takes blocks";
  if (why == NULL && (!luaopt_isqueue(to->queue, buffer) ||
                      !luaopt_isqueue(to->memory, buffer)))
    why = "options 'queue' and 'memory' are at least twice the buffer, and at "
          "most 1G";
  if (why != NULL)
    luaL_argerror(L, 2, why);
  if (to->hasthread)
    opt->reserved[LUAM_PROF_THREAD] =
        LUAM_THREAD(to->queue, to->policy, to->zstd);
}

/* Sets the option of C for dumps that are taken again and again. */
static void luaopt_setevery(lua_State *L, struct luam_Prof_options *opt,
                            const MPLuaFile *to)
{
  int keep = to->ndumps != 0 ? to->ndumps : LUAOPT_KEEPDUMPS;
  if (to->every != 0)
    opt->reserved[LUAM_PROF_MARKS] |= to->every | LUAM_EVERY_MS(0, keep);
  else if (to->ndumps != 0)
    luaL_argerror(L, 2, "option 'dump_keep' is for 'dump_every'");
}

/*
** Reads the second argument of start: nothing, seconds, or a table.
*/
void lj_memprof_luaoptions(lua_State *L, struct luam_Prof_options *opt,
                           MPLuaFile *to)
{
  memset(to, 0, sizeof(*to));
  to->fd = -1;
  to->function = lua_isfunction(L, 1);
  memset(opt, 0, sizeof(*opt));
  if (lua_isnoneornil(L, 2))
    return;
  if (lua_type(L, 2) == LUA_TNUMBER) {
    lua_pushvalue(L, 2);
    luaopt_seconds(L, opt);
    lua_pop(L, 1);
    return;
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    luaopt_option(L, opt, to);
    lua_pop(L, 1);
  }
  luaopt_segments(L, opt, to);
  luaopt_thread(L, opt, to);
  luaopt_setevery(L, opt, to);
}

/* -- File names ----------------------------------------------------------- */

/* Reads the first argument of start: a file's name, or nil with a fd. */
const char *lj_memprof_luaname(lua_State *L, int fd)
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

/*
** Completes the options of dumps. Their files have the recording's name, with
** another suffix; it is left on the stack. Without a limit, only an allocation
** that fails makes one, or `dump_every`.
*/
void lj_memprof_lualimit(lua_State *L, const char *fname,
                         struct luam_Prof_options *opt)
{
  uint64_t *limit = &opt->reserved[LUAM_PROF_LIMIT];
  uint64_t *name = &opt->reserved[LUAM_PROF_LIMIT_NAME];
  size_t len = fname != NULL ? strlen(fname) : 0;
  int every = opt->reserved[LUAM_PROF_MARKS] >> LUAM_EVERY_SHIFT != 0;
  if (*limit == 0 && (*name != 0 || every))
    *limit = ~(uint64_t)0;
  if (*name != 0 || *limit == 0)
    return;
  if (fname == NULL)
    luaL_argerror(L, 2, "option 'dump_file' expected where no file is named");
  if (len > 4 && strcmp(fname + len - 4, ".ljm") == 0)
    len -= 4;
  lua_pushlstring(L, fname, len);
  lua_pushliteral(L, ".ljd");
  lua_concat(L, 2);
  *name = (uint64_t)(uintptr_t)lua_tostring(L, -1);
}

/* -- dump() --------------------------------------------------------------- */

/* Reads the options of a dump. Returns the descriptor, or -1. */
int lj_memprof_luadumpoptions(lua_State *L, struct luam_Prof_options *opt)
{
  int fd = -1;
  memset(opt, 0, sizeof(*opt));
  if (lua_isnoneornil(L, 2))
    return fd;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, 2)) {
    if (luaopt_is(L, -2, "fd")) {
      fd = (int)luaopt_integer(L, "fd", 0, LUAOPT_MAXFD);
    } else if (luaopt_is(L, -2, "strings")) {
      opt->strings = (int)luaopt_integer(L, "strings", 0, LJM_NAME_MAX);
      if (opt->strings == 0) /* For C, 0 is the default. */
        opt->strings = -1;
    } else if (luaopt_is(L, -2, "fork")) {
      opt->reserved[LUAM_PROF_FORK] = luaopt_boolean(L, "fork");
    } else {
      luaL_argerror(L, 2, "options are strings, fd and fork");
    }
    lua_pop(L, 1);
  }
  return fd;
}

#endif

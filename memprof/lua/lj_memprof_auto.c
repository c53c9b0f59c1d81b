/*
** Recording by the environment variable LJPROF, of a program that does not know
** of it: LJPROF=memprof:FILE[,OPTION=VALUE...]
**
** The options become a table for misc.memprof.start, which alone knows their
** names and values. Only Lua's API is used, so that memprof.so has this once
** for all layouts.
*/

#define lj_memprof_auto_c
#define LUA_LIB

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* For secure_getenv(). */
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_memprof_auto.h"

#define AUTO_VARIABLE "LJPROF"
#define AUTO_PREFIX   "memprof:"
#define AUTO_LINE     1000 /* Most bytes of a message. */

static unsigned auto_vms; /* VMs that the variable was read for; atomic. */

/* -- Messages -------------------------------------------------------------- */

void lj_memprof_notauto(const char *msg)
{
  char line[AUTO_LINE];
  const char *inner = strstr(msg, " (");
  size_t i, len;
  int arg = strncmp(msg, "bad argument #", 14) == 0 && inner != NULL;
  snprintf(line, sizeof(line), "%s", arg ? inner + 2 : msg);
  len = strlen(line);
  if (arg && line[len - 1] == ')') /* The frame of luaL_argerror(). */
    line[--len] = '\0';
  for (i = 0; i < len; i++)
    if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
      line[i] = '?';
  fprintf(stderr, "%s: not recording: %s\n", AUTO_VARIABLE, line);
}

/* -- The variable ---------------------------------------------------------- */

/* What a suffix multiplies a number by, or 0. */
static lua_Number auto_scale(char suffix)
{
  switch (suffix) {
  case 'k':
  case 'K':
    return 1024.0;
  case 'M':
    return 1048576.0;
  case 'G':
    return 1073741824.0;
  default:
    return 0;
  }
}

/* Pushes a value: true, false, a number, or else a string. */
static void auto_value(lua_State *L, const char *s, size_t len)
{
  lua_Number scale = len > 0 ? auto_scale(s[len - 1]) : 0;
  lua_pushlstring(L, s, scale != 0 ? len - 1 : len);
  if (lua_isnumber(L, -1))
    lua_pushnumber(L, lua_tonumber(L, -1) * (scale != 0 ? scale : 1));
  else if (len == 4 && memcmp(s, "true", 4) == 0)
    lua_pushboolean(L, 1);
  else if (len == 5 && memcmp(s, "false", 5) == 0)
    lua_pushboolean(L, 0);
  else
    lua_pushlstring(L, s, len);
  lua_remove(L, -2);
}

/* Adds an item to the table on top. A name alone is true. */
static void auto_item(lua_State *L, const char *s, size_t len)
{
  const char *eq = (const char *)memchr(s, '=', len);
  lua_pushlstring(L, s, eq != NULL ? (size_t)(eq - s) : len);
  if (eq != NULL)
    auto_value(L, eq + 1, len - (size_t)(eq + 1 - s));
  else
    lua_pushboolean(L, 1);
  lua_rawset(L, -3);
}

/* Pushes the table of all items: s is "" or begins with a comma. */
static void auto_options(lua_State *L, const char *s)
{
  lua_newtable(L);
  while (*s == ',') {
    size_t len = strcspn(++s, ",");
    auto_item(L, s, len);
    s += len;
  }
}

/* Pushes a name with the number of the process for each %p of it. */
static void auto_expand(lua_State *L, const char *pattern)
{
  char pid[32];
  snprintf(pid, sizeof(pid), "%ld", (long)getpid());
  luaL_gsub(L, pattern, "%p", pid);
}

/*
** Names the files of children: as the process's own, with the number of the
** child for %p, or behind it if there is none; and that of the VM, if it is not
** the first one. pattern: FILE as it is in the variable.
*/
static void auto_child(lua_State *L, int options, const char *pattern,
                       unsigned vm)
{
  const char *slash = strrchr(pattern, '/');
  const char *base = slash != NULL ? slash + 1 : pattern;
  lua_pushliteral(L, "follow_fork");
  lua_rawget(L, options);
  if (lua_isboolean(L, -1) && lua_toboolean(L, -1)) {
    lua_pushliteral(L, "follow_fork");
    lua_pushfstring(L, "%s%s", base, strstr(base, "%p") ? "" : ".%p");
    if (vm > 1)
      lua_pushfstring(L, ".%d", (int)vm);
    else
      lua_pushliteral(L, "");
    lua_concat(L, 2);
    lua_rawset(L, options);
  }
  lua_pop(L, 1);
}

/* -- The start ------------------------------------------------------------- */

/* Calls start(name, options). Returns its errno; its message is on top. */
static int auto_start(lua_State *L, int start, int name, int options)
{
  int en;
  lua_pushvalue(L, start);
  lua_pushvalue(L, name);
  lua_pushvalue(L, options);
  lua_call(L, 2, 3);
  en = lua_toboolean(L, -3) ? 0 : (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return en;
}

/*
** Records to FILE, or to FILE.PID.N: the N-th VM of a process if that is not
** the first, or if another recording has FILE.
*/
static int auto_run(lua_State *L)
{
  const char *s = secure_getenv(AUTO_VARIABLE) + strlen(AUTO_PREFIX);
  size_t len = strcspn(s, ",");
  unsigned vm = __atomic_add_fetch(&auto_vms, 1, __ATOMIC_RELAXED);
  int en = EBUSY;
  if (len == 0)
    return luaL_error(L, "a file's name expected behind \"" AUTO_PREFIX "\"");
  lua_pushlstring(L, s, len);
  auto_expand(L, lua_tostring(L, -1));
  auto_options(L, s + len);
  auto_child(L, 4, lua_tostring(L, 2), vm);
  lua_remove(L, 2);
  if (vm == 1)
    en = auto_start(L, 1, 2, 3);
  if (en == EBUSY) {
    lua_pushfstring(L, "%s.%d.%d", lua_tostring(L, 2), (int)getpid(), (int)vm);
    lua_replace(L, 2);
    en = auto_start(L, 1, 2, 3);
  }
  return en != 0 ? lua_error(L) : 0;
}

int lj_memprof_wanted(void)
{
  const char *s = secure_getenv(AUTO_VARIABLE);
  return s != NULL && *s != '\0';
}

void lj_memprof_auto(lua_State *L)
{
  if (!lj_memprof_wanted()) {
    lua_pop(L, 1);
    return;
  }
  if (strncmp(secure_getenv(AUTO_VARIABLE), AUTO_PREFIX, strlen(AUTO_PREFIX)) !=
      0) {
    lj_memprof_notauto("\"" AUTO_PREFIX "FILE\" expected");
    lua_pop(L, 1);
    return;
  }
  lua_pushcfunction(L, auto_run);
  lua_insert(L, -2);
  if (lua_pcall(L, 1, 0, 0) != 0) {
    const char *msg = lua_tostring(L, -1);
    lj_memprof_notauto(msg != NULL ? msg : "unknown error");
    lua_pop(L, 1);
  }
}

/*
** misc.memprof.dump, and the handles of dumps that a child process writes.
*/

#define lj_heaplua_c
#define LUA_LIB

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "lauxlib.h"

#include "lj_heapfork.h"
#include "lj_heaptake.h"
#include "lj_memprof_file.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_lua.h"

/* -- Handles --------------------------------------------------------------- */

#define HEAPLUA_NAME "misc.memprof.dump" /* Its metatable in the registry. */

/* What dump() returns with the option fork. */
typedef struct HeapHandle {
  struct luam_Dump dump; /* Zero if there is none. */
  char fname[];          /* For messages, or "". */
} HeapHandle;

/* "running", "done", or nil, message, errno = handle:status() */
static int heaplua_status(lua_State *L)
{
  HeapHandle *h = (HeapHandle *)luaL_checkudata(L, 1, HEAPLUA_NAME);
  int known = luaM_memprof_dumpstatus(L, &h->dump) == LUAM_PROFILE_SUCCESS;
  if (known && h->dump.state != LUAM_DUMP_FAILED) {
    lua_pushstring(L, h->dump.state == LUAM_DUMP_DONE ? "done" : "running");
    return 1;
  }
  lj_memprof_luafail(L, *h->fname ? h->fname : NULL,
                     known ? h->dump.why : "it is the dump of another process",
                     known ? h->dump.en : ECHILD);
  lua_pushnil(L);
  lua_replace(L, -4);
  return 3;
}

/* The finalizer of a handle. */
static int heaplua_gc(lua_State *L)
{
  const HeapHandle *h = (HeapHandle *)luaL_checkudata(L, 1, HEAPLUA_NAME);
  if (h->dump.id != 0 && h->dump.state == LUAM_DUMP_RUNNING)
    lj_heap_forget(G(L), h->dump.id);
  return 0;
}

/* Pushes a handle, before there is a dump for it. */
static struct luam_Dump *heaplua_newhandle(lua_State *L, const char *fname)
{
  size_t len = fname != NULL ? strlen(fname) : 0;
  HeapHandle *h =
      (HeapHandle *)lua_newuserdata(L, sizeof(HeapHandle) + len + 1);
  memset(h, 0, sizeof(HeapHandle));
  memcpy(h->fname, fname != NULL ? fname : "", len + 1);
  luaL_newmetatable(L, HEAPLUA_NAME);
  lua_getfield(L, -1, "__gc");
  if (lua_isnil(L, -1)) { /* New, or there was no memory for all of it. */
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, heaplua_status);
    lua_setfield(L, -2, "status");
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, heaplua_gc);
    lua_setfield(L, -2, "__gc");
  } else {
    lua_pop(L, 1);
  }
  lua_setmetatable(L, -2);
  return &h->dump;
}

/* -- dump() ---------------------------------------------------------------- */

/*
** A child writes the file, and the handle, which is on top, is
** returned.
*/
static int heaplua_fork(lua_State *L, const char *fname, MPFile *f,
                        struct luam_Prof_options *opt)
{
  struct luam_Dump *dump =
      (struct luam_Dump *)(uintptr_t)opt->reserved[LUAM_PROF_FORK_DUMP];
  int status = lj_heap_fork(L, lj_memprof_state(G(L)), opt, f, 0);
  if (status == LUAM_PROFILE_SUCCESS)
    return 1;
  lj_memprof_dropfile(f);
  free(f);
  if (status == LUAM_PROFILE_ERRFORK)
    return lj_memprof_luafail(L, fname, dump->why, dump->en);
  return lj_memprof_luafail(L, fname, strerror(ENOMEM), ENOMEM);
}

/* Writes a dump to a file that is open. It gets its name when it is whole. */
static int heaplua_write(lua_State *L, MPFile *f, struct luam_Prof_options *opt)
{
  int status = lj_heap_take(L, lj_memprof_state(G(L)), opt, 0);
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
int lj_heap_luadump(lua_State *L)
{
  struct luam_Prof_options opt;
  int fd = lj_memprof_luadumpoptions(L, &opt);
  const char *fname = lj_memprof_luaname(L, fd);
  MPFile *f;
  int en = ENOMEM;
  const char *why = NULL;
  if (opt.reserved[LUAM_PROF_FORK]) /* This may raise an error. */
    opt.reserved[LUAM_PROF_FORK_DUMP] =
        (uint64_t)(uintptr_t)heaplua_newhandle(L, fname);
  f = (MPFile *)malloc(sizeof(MPFile));
  if (f != NULL) {
    int good;
    opt.writer = lj_memprof_writefile;
    opt.arg = f;
    good = fname != NULL ? lj_memprof_openfile(f, fname)
                         : lj_memprof_openfd(f, fd);
    if (good && opt.reserved[LUAM_PROF_FORK])
      return heaplua_fork(L, fname, f, &opt);
    good = good && heaplua_write(L, f, &opt);
    en = f->en;
    why = f->why;
    free(f);
    if (good) {
      lua_pushboolean(L, 1);
      return 1;
    }
  }
  return lj_memprof_luafail(L, fname, lj_memprof_luawhy(why, en), en);
}

#endif

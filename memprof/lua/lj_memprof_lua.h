/*
** What the files of the Lua API share: results, and the options of start() and
** dump().
*/

#ifndef _LJ_MEMPROF_LUA_H
#define _LJ_MEMPROF_LUA_H

#include "lua.h"
#include "lmisclib.h"

#include "lj_def.h"

/* -- Results (lj_memprof_luaresult.c) -------------------------------------- */

/*
** Pushes false, a message, with the file's name before it if that is not NULL,
** and an error number. Returns 3.
*/
LJ_FUNC int lj_memprof_luafail(lua_State *L, const char *fname, const char *msg,
                               int en);

/* The words for the error of a file: why, or strerror(en) if that is NULL. */
LJ_FUNC const char *lj_memprof_luawhy(const char *why, int en);

/* How a recording has ended, for stop() in this thread. why is static. */
LJ_FUNC void lj_memprof_luastopped(int en, const char *why);

/* The same for stop(): returns the error number, and its words in *why. */
LJ_FUNC int lj_memprof_luahow(const char **why);

/* -- Options (lj_memprof_luaopt.c) ----------------------------------------- */

/* Those options of start() that the file writer executes. */
typedef struct MPLuaFile {
  int fd;            /* Or -1. */
  int tail;          /* It is to have a tail. */
  uint64_t keep;     /* Bytes of all segments, or 0; */
  uint64_t max_size; /* of each, or 0. */
  int segments;      /* How many are kept. */
  int hasthread;     /* A thread writes; */
  uint64_t queue;    /* Bytes of the queue, or 0; */
  int policy;        /* LUAM_THREAD_*; */
  int zstd;          /* level of compression, or 0. */
  uint64_t memory;   /* Bytes of a recording in memory, or 0. */
  int function;      /* Lua code takes the blocks: the first argument. */
  int follow;        /* A child process has a recording of its own, */
  const char *child; /* in a file of this name, with %p; or NULL: FILE.%p. */
  int control;       /* Orders come from outside. */
  uint64_t every;    /* LUAM_EVERY_*, without what is kept, or 0; */
  int ndumps;        /* so many dumps are kept, or 0. */
} MPLuaFile;

/*
** Reads the second argument of start(): nothing, seconds, or a table. Raises an
** error that names the option which is wrong.
*/
LJ_FUNC void lj_memprof_luaoptions(lua_State *L, struct luam_Prof_options *opt,
                                   MPLuaFile *to);

/*
** Reads the first argument of start() or dump(): a file's name, or nil if there
** is a descriptor, which is not negative then. The string is Lua's. Raises an
** error.
*/
LJ_FUNC const char *lj_memprof_luaname(lua_State *L, int fd);

/*
** Completes the options of limits. A dump's file has the recording's name, with
** another suffix; it is left on the stack. Without a limit, only an allocation
** that fails makes a dump.
*/
LJ_FUNC void lj_memprof_lualimit(lua_State *L, const char *fname,
                                 struct luam_Prof_options *opt);

/* Reads dump()'s options. Returns the descriptor, or -1. Raises an error. */
LJ_FUNC int lj_memprof_luadumpoptions(lua_State *L,
                                      struct luam_Prof_options *opt);

/* -- Blocks for Lua code (lj_memprof_luaqueue.c) --------------------------- */

struct MPQueue;

/*
** Before a start: the function of the recording before gets what is left,
** and blocks that were not taken are gone.
*/
LJ_FUNC void lj_memprof_luatakeend(lua_State *L);

/*
** Makes the queue of a recording in memory, or for a function, which is the
** first argument; sets writer, on_stop and arg of the options. Returns the
** queue, which is Lua's, or NULL without memory. May raise an error.
*/
LJ_FUNC struct MPQueue *lj_memprof_luatake(lua_State *L, const MPLuaFile *to,
                                           struct luam_Prof_options *opt);

/*
** The recording has ended: calls the function with all that is left. Returns
** NULL or the message of an error in it, which is on the stack.
*/
LJ_FUNC const char *lj_memprof_luatakelast(lua_State *L);

/* block = misc.memprof.take() */
LJ_FUNC int lj_memprof_luatakeone(lua_State *L);

/* delivered, message, errno = misc.memprof.deliver() */
LJ_FUNC int lj_memprof_luadeliver(lua_State *L);

/* -- Dumps (lj_heaplua.c) -------------------------------------------------- */

/* dumped, message, errno = misc.memprof.dump(fname [, options]) */
LJ_FUNC int lj_heap_luadump(lua_State *L);

#endif

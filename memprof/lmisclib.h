/*
** Public C API of the library "misc": the memory profiler.
*/

#ifndef _LMISCLIB_H
#define _LMISCLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lua.h"

#define LUA_MISCLIBNAME "misc"

#ifndef LUAMISC_API
#define LUAMISC_API extern
#endif

/* Status codes of the profiler's functions. */
#define LUAM_PROFILE_SUCCESS 0
#define LUAM_PROFILE_ERR     1 /* Bad arguments, or wrong state. */
#define LUAM_PROFILE_ERRMEM  2 /* Out of memory. */
#define LUAM_PROFILE_ERRIO   3 /* writer() or on_stop() failed. */
#define LUAM_PROFILE_ERRBUSY 4 /* Only of memprof.so: jit.p is running. */
#define LUAM_PROFILE_ERRFORK 5 /* A dump cannot have a process of its own. */

/* Values of luam_Prof_options.format. */
#define LUAM_PROF_COMPACT   0 /* Version 0x10: doc/stream-format.md. */
#define LUAM_PROF_RFC       1 /* Version 1, as the RFC describes it. */
#define LUAM_PROF_TARANTOOL 2 /* Version 3, for Tarantool's tools. */

/* Values of luam_Prof_options.lines; 0 is exact. */
#define LUAM_PROF_LINES_EXACT   1 /* JIT-compiled code records every line. */
#define LUAM_PROF_LINES_NATURAL 2 /* It is compiled as ever. */

/*
** How to profile. writer and on_stop must be given; zero in any other field
** means its default. Fields that this version does not know yet must be zero.
*/
struct luam_Prof_options {
  /* Passed to writer() and on_stop(); owned by the caller until a start has
  ** succeeded, and from then on until on_stop() is called.
  */
  void *arg;
  /*
  ** Takes len bytes of the stream. Returns how many it took: fewer than len
  ** and it is called again with the rest, 0 and the recording has failed.
  ** It must not allocate from the VM that is profiled.
  */
  size_t (*writer)(const void *data, size_t len, void *arg);
  /* Destroys arg when the profiler stops. Returns 0 on success. It may start
  ** the next recording, unless dursec has ended this one. When the
  ** process exits, both are called by the handler that the first start has
  ** given to atexit(), in the thread that exits.
  */
  int (*on_stop)(void *arg);
  uint64_t dursec; /* Stop by itself after so many seconds. 0: never. */
  int signo;       /* The RFC's timer signal. No signal is used. */
  uint64_t buffer; /* Buffer size in bytes, 16 KiB to 16 MiB. */
  int format;      /* LUAM_PROF_*. */
  int stack;       /* Most frames of a stack, up to 256; 1: the top only. */
  uint64_t sample; /* Bytes between two samples, up to 2^30. 0: all. */
  int lines;       /* LUAM_PROF_LINES_*. */
  int strings;     /* Of a dump: most bytes of a string, up to 4096; 0: 256,
                   ** less than 0: none. For a start it must be zero. */
  uint64_t seed;   /* Of the samples' random numbers. 0: any. */
  uint64_t reserved[7]; /* By LUAM_PROF_*, below; all others must be zero. */
};

/*
** What the reserved words stand for, by their index; 0 in any of them is as if
** it did not exist. A start has the last two only, a dump the others.
**
**   FORK      Of a dump. 1: a child process writes it, see luaM_memprof_dump().
**   FORK_FD   Of such a dump: a descriptor, plus 1, that its writer uses.
**   FORK_DUMP Of such a dump: the address of a struct luam_Dump, the caller's,
**             which is filled before luaM_memprof_dump() returns.
**
**   LIMIT      Of a start: bytes. A dump is written to a file when the VM is
**              about to have more, and again at each doubling. So is one when
**              an allocation fails for the first time, before the VM raises
**              its error. A dump that cannot be written is left out.
**   LIMIT_NAME The address of the first dump's file name, which is copied. With
**              heap.ljd, the next ones go to heap.2.ljd, heap.3.ljd and so on,
**              that of a failed allocation to heap.oom.ljd. Must be given with
**              LIMIT, and only then.
*/
#define LUAM_PROF_FORK       0
#define LUAM_PROF_FORK_FD    1
#define LUAM_PROF_FORK_DUMP  2
#define LUAM_PROF_LIMIT      3
#define LUAM_PROF_LIMIT_NAME 4

/* Values of luam_Dump.state. */
#define LUAM_DUMP_RUNNING 0 /* The child writes. */
#define LUAM_DUMP_DONE    1 /* The dump is whole. */
#define LUAM_DUMP_FAILED  2 /* It is not, or never began; see why. */

/* A dump that a child process writes. */
struct luam_Dump {
  uint64_t id;   /* In this process, from 1 on; 0: there is none. */
  int state;     /* LUAM_DUMP_*. */
  int en;        /* If it has failed: errno, or 0. */
  long pid;      /* The child, until it has ended. */
  char why[160]; /* If it has failed: why, else "". */
};

/*
** Starts profiling the VM of L. Returns LUAM_PROFILE_SUCCESS, or
** LUAM_PROFILE_ERR if an option is wrong or this VM is being profiled already,
** LUAM_PROFILE_ERRMEM, or LUAM_PROFILE_ERRIO if the beginning of the stream
** could not be written. on_stop() is not called unless it succeeds.
*/
LUAMISC_API int luaM_memprof_start(lua_State *L,
                                   const struct luam_Prof_options *opt);

/*
** Stops profiling the VM of L; any of its coroutines will do. The rest of the
** stream is written, then on_stop() called. Returns LUAM_PROFILE_SUCCESS,
** LUAM_PROFILE_ERR if this VM is not being profiled, or LUAM_PROFILE_ERRIO if
** any write failed since the start or on_stop() did not return 0.
*/
LUAMISC_API int luaM_memprof_stop(const lua_State *L);

/*
** Writes a dump of the VM of L: every object with its references, the roots,
** and the memory that is no object. Only writer, arg, buffer and strings of the
** options count; the VM is not changed, and may be recording. Returns
** LUAM_PROFILE_SUCCESS, LUAM_PROFILE_ERR if an option is wrong or L is NULL,
** LUAM_PROFILE_ERRMEM, or LUAM_PROFILE_ERRIO if the writer failed.
**
** With FORK, a child process writes the dump, as the VM is at this moment, and
** this returns as soon as there is one. LUAM_PROFILE_ERRFORK if there is none:
** too little memory is left, or no process can be made; why is in the luam_Dump
** of FORK_DUMP. The child has no signals but SIGTERM and SIGKILL, raises none
** when it ends, and wait() does not see it. In it, writer is called with the
** child's copy of all memory: what it changes is lost, and locks may be held
** for ever. It may call what a signal handler may, such as write(), on no
** descriptor but the one of FORK_FD: all others are closed in the child. What
** it returns counts as ever. luaM_memprof_dumpstatus() returns how it ended.
*/
LUAMISC_API int luaM_memprof_dump(lua_State *L,
                                  const struct luam_Prof_options *opt);

/*
** Fills a luam_Dump, which luaM_memprof_dump() has filled for the VM of L, with
** how far it is. An end is reported once, or is there if dump has it already.
** Returns LUAM_PROFILE_SUCCESS, or LUAM_PROFILE_ERR if the VM has no such dump
** in this process. Does not wait. This, every luaM_memprof_dump() and
** lua_close() collect what remains of all children that have ended; lua_close()
** waits for those of its VM, and kills one that has written nothing for five
** seconds.
*/
LUAMISC_API int luaM_memprof_dumpstatus(lua_State *L, struct luam_Dump *dump);

/* True while any VM of this process is being profiled. */
LUAMISC_API bool luaM_memprof_isrunning(void);

/* Opens the Lua library "misc". Called by luaL_openlibs(). */
LUAMISC_API int luaopen_misc(lua_State *L);

#endif

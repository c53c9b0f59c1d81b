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
  int signo;       /* Signal of the RFC's timer, see below. 0: none. */
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
** dursec and DURMS: when they are over, no event is recorded any more, and a
** thread of the recorder, "ljprof-timer", ends the stream at once, though the
** VM may be idle: with a writer of those below, or with THREAD. Any other
** writer, and every on_stop(), are called by the thread that runs the VM: in
** its next allocation, luaM_memprof_start() or luaM_memprof_stop(), in
** lua_close(), or at exit. Until then a VM that is idle keeps the recorder's
** allocator and memory, luaM_memprof_isrunning() is true, and a host's writer
** does not get its last block. The same holds for the end of the stream where
** the kernel has no membarrier().
**
** signo: a timer (timer_create) sends the signal to a thread of the recorder,
** at the distance of the time marks, and these follow it instead of the clock.
** Its handler takes the place of the host's, which gets every other signal of
** that number, with its flags and mask, and is back when the recording has
** ended, unless the host has set another one. No mask is changed: if the thread
** that starts blocks the signal, that is the host's (sigwait(), signalfd()),
** and the marks follow the clock. LUAM_PROFILE_ERR for a signal that cannot be
** caught. Without threads (LUAJIT_DISABLE_THREAD_SAFE) no signal is used.
*/

/*
** The reserved words, by their index. 0 in any of them is as if it did not
** exist; those that are not assigned must be 0.
**
**      of a start   of a dump
**   0  ANEW         FORK
**   1  MARKS        FORK_FD
**   2  THREAD       FORK_DUMP
**   3  LIMIT
**   4  LIMIT_NAME
**   5  DURMS
**   6  TAIL
**
** ANEW       The sum of what of these is wanted, with luaM_memprof_tofile() and
**            format COMPACT only:
**            LUAM_ANEW_FOLLOW: a child process that fork() makes has a
**            recording of its own, which begins at its first allocation and
**            goes to FILE.PID. Linux 4.14.
**            LUAM_ANEW_CONTROL: a thread listens at a socket for orders from
**            outside, which the VM's thread executes at its next allocation:
**            see doc/memprof.md. When its time is over, such a recording can be
**            started anew by an order. Needs threads.
** MARKS      Milliseconds between two time marks, 1 to LUAM_PROF_MARKSMAX; 0:
**            10. Format COMPACT: those of the other formats stand for a second.
**            Plus, if heap dumps are to be taken again and again, LUAM_EVERY_MS
**            or LUAM_EVERY_KIB, below. LIMIT and LIMIT_NAME must be given.
** THREAD     A LUAM_THREAD(), below. A thread of the recorder calls the writer,
**            which must not use the VM then. Format COMPACT, without TAIL: a
**            process that is killed loses what is in the queue.
** LIMIT      Bytes. A dump is written to a file when the VM is about to have
**            more, and again at each doubling. So is one when an allocation
**            fails for the first time, before the VM raises its error. A dump
**            that cannot be written is left out.
** LIMIT_NAME The address of the first dump's file name, which is copied. With
**            heap.ljd, the next ones go to heap.2.ljd, heap.3.ljd and so on,
**            that of a failed allocation to heap.oom.ljd. Must be given with
**            LIMIT, and only then.
** DURMS      Milliseconds, below 1000, in addition to dursec.
** TAIL       A descriptor, plus 1, which the caller may close after the start.
**            Its file has been allocated (posix_fallocate) to a page and the
**            size of the buffer, and becomes the buffer: see
**            doc/stream-format.md. If others truncate it, the process gets
**            SIGBUS. Format COMPACT, little endian, Linux 4.14.
**
** FORK       1: a child process writes it, see luaM_memprof_dump().
** FORK_FD    A descriptor, plus 1, that the writer of such a dump uses.
** FORK_DUMP  The address of a struct luam_Dump, the caller's, which is filled
**            before luaM_memprof_dump() returns.
*/
#define LUAM_PROF_ANEW       0
#define LUAM_PROF_MARKS      1
#define LUAM_PROF_FORK       0
#define LUAM_PROF_FORK_FD    1
#define LUAM_PROF_FORK_DUMP  2
#define LUAM_PROF_THREAD     2
#define LUAM_PROF_LIMIT      3
#define LUAM_PROF_LIMIT_NAME 4
#define LUAM_PROF_DURMS      5
#define LUAM_PROF_TAIL       6

#define LUAM_PROF_MARKSMAX  1000
#define LUAM_PROF_MARKSMASK 0xffff

/*
** Parts of the word MARKS: a dump is due so many milliseconds after the one
** before was, or when the VM has so many KiB more than then; both below 2^32.
** KEEP is how many are kept, 1 to LUAM_EVERY_KEEPMAX. With a LIMIT_NAME of
** heap.ljd, they go to heap.0001.ljd, heap.0002.ljd and so on. A child process
** writes each as with FORK, and deletes the oldest one when it is done. A dump
** is left out if it cannot be written, or while the one before is written. Due
** ones are noticed at allocations: a VM that is idle has none.
*/
#define LUAM_EVERY_SHIFT   16
#define LUAM_EVERY_KEEPMAX 0x3ff
#define LUAM_EVERY_BYTES   ((uint64_t)1 << 63)

#define LUAM_EVERY_MS(ms, keep)                                                \
  ((uint64_t)(keep) << 48 | (uint64_t)(ms) << LUAM_EVERY_SHIFT)
#define LUAM_EVERY_KIB(kib, keep) (LUAM_EVERY_BYTES | LUAM_EVERY_MS(kib, keep))

#define LUAM_ANEW_FOLLOW  1
#define LUAM_ANEW_CONTROL 2

/* What the VM does when the queue of a thread is full. */
#define LUAM_THREAD_WAIT 0 /* It waits. */
#define LUAM_THREAD_DROP 1 /* It drops whole blocks, and counts them. */

#define LUAM_THREAD_ZSTDMAX 19 /* The highest level of compression. */

/*
** A value of the word THREAD, as in LUAM_THREAD(0, LUAM_THREAD_WAIT, 0).
**
**   queue   Bytes of the queue: at least twice those of the buffer, at most
**           2^30; 0: 4 MiB, or four buffers. They are allocated at the start.
**   policy  LUAM_THREAD_WAIT or LUAM_THREAD_DROP.
**   zstd    Level of compression, 1 to LUAM_THREAD_ZSTDMAX; 0: none. Loads
**           libzstd.so.1: without it, the start returns LUAM_PROFILE_ERRIO and
**           errno is ENOENT.
**
** The thread is called "ljprof-writer" and blocks all signals. on_stop() is
** called by whoever ends the recording, after the thread has ended. A child of
** fork() has no thread, and nothing of the queue is written there. When the
** process exits, the queue is written out within a second or given up: then
** on_stop() is not called.
*/
#define LUAM_THREAD(queue, policy, zstd)                                       \
  ((uint64_t)1 << 63 | (uint64_t)(policy) << 40 | (uint64_t)(zstd) << 32 |     \
   (uint64_t)(queue))

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
** The VM's allocator may call it, before it moves memory. Deallocations return
** LUAM_PROFILE_ERR where lists of the VM are not whole: where it sweeps or
** moves its strings, or is closed. With memprof.so and FORK, while nothing
** records, it may be called only where Lua can be.
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

/* True while any VM of this process is being profiled: until on_stop(). */
LUAMISC_API bool luaM_memprof_isrunning(void);

/* -- Writers ready to use -------------------------------------------------- */

/*
** These set writer, on_stop and arg of the options, and leave the others as
** they are. They return LUAM_PROFILE_SUCCESS, LUAM_PROFILE_ERRMEM, or
** LUAM_PROFILE_ERRIO and set errno. Then comes luaM_memprof_start(): if it
** succeeds, the recorder closes the writer at the end; if not, the caller
** does, with luaM_memprof_drop(). If luaM_memprof_stop() returns
** LUAM_PROFILE_ERRIO, errno says what the writer could not do.
**
** With a file or socket, nothing of a signal (SIGPIPE, SIGXFSZ) reaches the
** host. All of them go with the option THREAD.
*/

/*
** A file. It gets its name when the start succeeds; what had the name, and is
** not empty, becomes fname.old. A FIFO must have a reader.
*/
LUAMISC_API int luaM_memprof_tofile(struct luam_Prof_options *opt,
                                    const char *fname);

/* A copy of a descriptor, which stays the caller's. */
LUAMISC_API int luaM_memprof_tofd(struct luam_Prof_options *opt, int fd);

/*
** A socket: "unix:PATH", "unix:@NAME" without a file, "tcp:HOST:PORT" or
** "tcp:[ADDRESS]:PORT". Waits up to five seconds for the connection, and for
** the host's address as long as the system does. LUAM_PROFILE_ERR if the
** address is none of these.
*/
LUAMISC_API int luaM_memprof_tosocket(struct luam_Prof_options *opt,
                                      const char *address);

/* Memory that is allocated with realloc(). */
struct luam_Memory {
  char *data;  /* The stream so far; the caller frees it with free(). */
  size_t len;  /* Its bytes. To be read when the recording has ended. */
  size_t size; /* That are allocated. */
  size_t max;  /* Set by the caller: most bytes, or 0 for no limit. When they
               ** are used up, the recording has failed with ENOSPC; what came
               ** before can be read. */
  int en;      /* Why it has failed, or 0. */
};

/* Memory. The struct is the caller's; all but max is set here. */
LUAMISC_API int luaM_memprof_tomemory(struct luam_Prof_options *opt,
                                      struct luam_Memory *memory);

/* Closes one of these writers, of which no recording was started. */
LUAMISC_API void luaM_memprof_drop(struct luam_Prof_options *opt);

/* Opens the Lua library "misc". Called by luaL_openlibs(). */
LUAMISC_API int luaopen_misc(lua_State *L);

#endif

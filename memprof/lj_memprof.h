/*
** Memory profiler: what the VM and the library "misc" call.
*/

#ifndef _LJ_MEMPROF_H
#define _LJ_MEMPROF_H

#include "lj_obj.h"
#include "lmisclib.h"

/*
** The VM's hook: ends the recording of a VM that is about to be freed. Waits
** while another thread is ending it. The VM has its own allocator afterwards.
*/
LJ_FUNC void lj_memprof_close(global_State *g);

#if LJ_HASJIT
#include "lj_jit.h"
#ifdef LJ_MEMPROF_MODULE /* No hooks in a stock VM. */
#elif !defined(LUAJIT_DISABLE_MEMPROF)
/*
** The compiler's hook: true if the instruction that is about to be recorded is
** to have a snapshot of its own. See lj_memprof_lines.c.
*/
LJ_FUNC int lj_memprof_newline(jit_State *J, const BCIns *pc);

/* The same: true if a loop's copy of a snapshot is not to be merged. */
LJ_FUNC int lj_memprof_keepsnap(jit_State *J);
#else
#define lj_memprof_newline(J, pc) 0
#define lj_memprof_keepsnap(J)    0
#endif
#endif

#ifndef LUAJIT_DISABLE_MEMPROF

/*
** A variable of each thread. glibc allocates those of a library that was loaded
** late when they are first used, and aborts without memory.
*/
#ifdef __GLIBC__
#define MP_THREAD __thread __attribute__((tls_model("initial-exec")))
#else
#define MP_THREAD __thread
#endif

/* A recording of one VM: see lj_memprof_state.h. */
typedef struct MPState MPState;

/* What a writer of ours can do more than those of a host. */
typedef struct MPWriter {
  int (*again)(void *arg);   /* See MPBuf. */
  int (*begun)(void *arg);   /* META is written. Returns 0 if it fails. */
  void (*forked)(void *arg); /* The recording is the parent's, of a fork. */
  uint64_t segment;          /* Bytes of a segment, or 0: there are none. */
  int (*next)(void *arg); /* Begins the next segment's file. 0 if it fails. */
  struct MPQueue *queue;  /* That Lua code takes from, a reference; or NULL. */
  struct MPFile *file;    /* If it is one of ours: arg; or NULL. */
} MPWriter;

/*
** Ends a recording that a fork has copied, or whose stream has ended by itself.
** Returns LUAM_PROFILE_SUCCESS if a new one may start, else why not.
*/
LJ_FUNC int lj_memprof_check(lua_State *L, const struct luam_Prof_options *opt);

/*
** Does the rest for a recording of the VM of L whose stream has ended by
** itself, if there is one. For the thread that runs the VM.
*/
LJ_FUNC void lj_memprof_conclude(const lua_State *L);

/*
** Starts a recording, as luaM_memprof_start(). more is copied; it is NULL for
** a host's writer.
*/
LJ_FUNC int lj_memprof_start(lua_State *L, const struct luam_Prof_options *opt,
                             const MPWriter *more);

/*
** True if the VM of L is being recorded by this process, or is in the
** allocation that has ended its recording. False if its stream has ended by
** itself: a start does the rest.
*/
LJ_FUNC int lj_memprof_isactive(const lua_State *L);

#endif

#endif

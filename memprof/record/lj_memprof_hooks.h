/*
** The hooks of all VMs of the process.
*/

#ifndef _LJ_MEMPROF_HOOKS_H
#define _LJ_MEMPROF_HOOKS_H

#include "lj_memprof.h"
#include "lj_memprof_hook.h"

/*
** From here on other threads see what this one has stored, and this one sees
** what they had stored before. Returns 0 if the kernel cannot do it.
*/
LJ_FUNC int lj_memprof_barrier(void);

/* -- The list (lj_memprof_hooks.c) ----------------------------------------- */

/*
** In a child of fork(), with the lock: it has nothing to do with its parent's
** recordings.
*/
LJ_FUNC void lj_memprof_forkedhooks(void);

/*
** Reserves a hook for the new recording of mp->g, and sets mp->hook. Returns
** LUAM_PROFILE_ERR if that VM is being recorded, or if the process exits,
** LUAM_PROFILE_ERRMEM without memory.
*/
LJ_FUNC int lj_memprof_reserve(MPState *mp);

/* A start has succeeded: from here on, its end can be claimed. */
LJ_FUNC void lj_memprof_running(MPHook *h);

/*
** In a child process: takes over the recording that a fork has copied, which is
** starting then. Returns 0 if it is not to follow, or if a lock may have been
** held by another thread of the parent, which is so after a raw clone of a
** process with threads.
*/
LJ_FUNC int lj_memprof_adopt(MPHook *h);

/* A recording has begun anew, or if good is 0 it could not: it is paused. */
LJ_FUNC void lj_memprof_resumed(MPHook *h, int good);

/* Forgets a recording that is over, or never was; the caller frees that. */
LJ_FUNC void lj_memprof_release(MPHook *h);

/*
** The same, and calls on_stop(arg): it may start the next recording, and the
** process does not exit meanwhile, but by this thread. Returns its result.
*/
LJ_FUNC int lj_memprof_letgo(MPHook *h, int (*on_stop)(void *arg), void *arg);

/*
** Claims the end of a recording, or the rest of it, for this thread. Returns 0
** if another thread, or the parent of a fork, has claimed it.
*/
LJ_FUNC int lj_memprof_claim(MPHook *h);

/*
** The same for the recording that this process has made of a VM, unless its
** writer is at work. Waits for the timer's thread, if that ends the stream.
** Returns its hook, or NULL.
*/
LJ_FUNC MPHook *lj_memprof_claimvm(const global_State *g);

/* The same, only if its stream has ended by itself (MP_OVER). */
LJ_FUNC MPHook *lj_memprof_claimover(const global_State *g);

/*
** The hook of a recording that takes no events in this process: what a fork has
** copied of the parent's, or one that is paused; or NULL.
*/
LJ_FUNC MPHook *lj_memprof_inherited(const global_State *g);

/* -- Control --------------------------------------------------------------- */

/* Orders. Others are answered by the thread itself. */
enum { MPORDER_NONE, MPORDER_START, MPORDER_STOP, MPORDER_FLUSH, MPORDER_DUMP };

/* What an answer is made of, for each VM that can be controlled. */
typedef struct MPControlled {
  const char *path; /* Of the file, valid with the lock. */
  int state;        /* MP_*. */
  int order;        /* What it has not executed yet, or MPORDER_NONE. */
  int answer;       /* How the last one went: an errno or 0. */
  const char *why;
  const char *dump; /* The last dump that was ordered, or NULL. */
} MPControlled;

/*
** Calls f(arg, c) for each VM of this process that can be controlled, with the
** lock of the hooks: f starts and ends nothing. If order is not NONE, it is
** given to each that has none before. Returns how many there are.
*/
LJ_FUNC unsigned
lj_memprof_controlled(int order, void (*f)(void *arg, const MPControlled *c),
                      void *arg);

/* A dump has this name, which is the recording's from here on. */
LJ_FUNC void lj_memprof_dumped(MPHook *h, char *name);

/* The orders of all hooks are void. */
LJ_FUNC void lj_memprof_noorders(void);

/*
** The VM's thread is about to begin a paused recording anew. Returns 0 if the
** process exits, or it is not paused.
*/
LJ_FUNC int lj_memprof_restart(MPHook *h);

/*
** The VM's thread is about to pause a recording: claims its end. Waits for the
** timer's thread, if that ends the stream. Returns 0 if another thread ends it.
*/
LJ_FUNC int lj_memprof_claimpause(MPHook *h);

/*
** A claimed end has come: the recording is paused (see MP_PAUSED).
*/
LJ_FUNC void lj_memprof_paused(MPHook *h);

/*
** An order is executed; en is 0 or why it has failed. The recording takes
** events if it is running. Returns whether it does.
*/
LJ_FUNC int lj_memprof_ordered(MPHook *h, int en, const char *why);

/* -- The VM goes away ------------------------------------------------------ */

/*
** For a VM that goes away: the hook whose recording this thread has to end, or
** one that was ended at exit (MP_ENDED), or NULL. Waits for a thread that is
** ending it.
*/
LJ_FUNC MPHook *lj_memprof_claimlast(const global_State *g);

/* What became of a claim of the timer's thread. */
enum {
  MP_CLAIM_DONE,
  MP_CLAIM_LATER, /* To be tried again. */
  MP_CLAIM_NEVER  /* Another thread ends the recording. */
};

/*
** The time of a recording is over: no event that begins from here on is
** recorded, and the VM's thread claims its end at the next one. Returns
** MP_CLAIM_LATER while it is being started.
*/
LJ_FUNC int lj_memprof_expire(MPHook *h, const MPState *mp);

/*
** After that and a barrier: takes the stream's end into the hands of the
** timer's thread (MP_EXPIRED). Returns MP_CLAIM_LATER while an event is at
** work.
*/
LJ_FUNC int lj_memprof_claimidle(MPHook *h, const MPState *mp);

/* The stream has ended (MP_OVER), or its end is given up: the process exits. */
LJ_FUNC void lj_memprof_expired(MPHook *h, int done);

/*
** For the exit of the process, after which nothing starts: claims the next
** recording to end (or that has ended, but for on_stop()), or returns NULL.
** Sets *wait if another thread is about to begin or to end one, or calls its
** on_stop().
*/
LJ_FUNC MPHook *lj_memprof_claimany(int *wait);

/* The end that was claimed there has come, or is given up. */
LJ_FUNC void lj_memprof_ended(MPHook *h, int done);

/*
** Frees the hooks of a VM that goes away, except those that a foreign allocator
** may call until it is gone: they stay, belonging to no VM.
*/
LJ_FUNC void lj_memprof_forgethooks(global_State *g);

#endif

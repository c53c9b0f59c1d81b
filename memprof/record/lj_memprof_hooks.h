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

/* -- The VM's allocator slot ----------------------------------------------- */

/* True if the VM's allocator is this hook's. */
LJ_FUNC int lj_memprof_isinstalled(const MPHook *h);

/* Gives a VM the allocator below this hook. */
LJ_FUNC void lj_memprof_restore(const MPHook *h, global_State *g);

/*
** The recording of a VM whose allocator's place is ours, or NULL. Only for the
** thread that runs the VM.
*/
LJ_FUNC MPState *lj_memprof_state(global_State *g);

/* -- The list (lj_memprof_hooks.c) ----------------------------------------- */

/* Before the first start: from here on, fork() leaves the list in order. */
LJ_FUNC void lj_memprof_hooksatfork(void);

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

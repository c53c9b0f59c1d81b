/*
** Hooks: what stands in the place of a VM's allocator, and the list of those
** of all VMs of the process.
*/

#ifndef _LJ_MEMPROF_HOOKS_H
#define _LJ_MEMPROF_HOOKS_H

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#include <pthread.h>
typedef pthread_t MPThread;
#else
typedef int MPThread;
#endif

/*
** The allocator's user data while a VM is, or was, being profiled. It is made
** by the first start, and lives until lua_close(), or for ever if a foreign
** allocator may still call it.
*/
typedef struct MPHook {
  MPState *mp;      /* Set while events are taken. */
  int busy;         /* An event is at work on the recording. */
  lua_Alloc allocf; /* The allocator below. */
  void *allocd;
  lua_Alloc wrapper;   /* What the last recording put in its place. */
  MPState *rec;        /* Set from a start to its stop; under the lock. */
  MPState *writing;    /* It is at its writer, called by the VM's thread. */
  global_State *g;     /* The VM; NULL once it is gone. */
  struct MPHook *next; /* List of all hooks; under the lock. */
  int state;           /* MP_IDLE and so on; under the lock. */
  MPThread owner;      /* Who starts or ends it; under the lock. */
  int stuck;           /* Its end was given up; under the lock. */
  int late;            /* The VM is in an allocation that may end it. */
  long pid;            /* The process that started. */
  void (*over)(struct MPHook *h); /* Its time is over. */
} MPHook;

enum {
  MP_IDLE,
  MP_STARTING,
  MP_RUNNING,
  MP_ENDING,
  MP_ENDED /* At exit; the VM may still have it in its hands. */
};

/* -- Events --------------------------------------------------------------- */

/* What is being recorded, for as long as events are taken, or NULL. */
static LJ_AINLINE MPState *lj_memprof_active(MPHook *h)
{
  return __atomic_load_n(&h->mp, __ATOMIC_RELAXED);
}

/* Sets it. */
static LJ_AINLINE void lj_memprof_setactive(MPHook *h, MPState *mp)
{
  __atomic_store_n(&h->mp, mp, __ATOMIC_RELAXED);
}

/*
** An event begins. Returns where it goes to, or NULL. From here to its end no
** other thread touches that. See lj_memprof_exit.c.
*/
static LJ_AINLINE MPState *lj_memprof_enter(MPHook *h)
{
  __atomic_store_n(&h->busy, 1, __ATOMIC_RELAXED);
  /* The compiler keeps the order of the two; it need not know of others. */
  __asm__ volatile("" : "+m"(h->busy), "+m"(h->mp));
  return lj_memprof_active(h);
}

/* It ends. */
static LJ_AINLINE void lj_memprof_leave(MPHook *h)
{
  __atomic_store_n(&h->busy, 0, __ATOMIC_RELEASE);
}

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

/* Forgets a recording that is over, or never was; the caller frees that. */
LJ_FUNC void lj_memprof_release(MPHook *h);

/*
** Takes the end of a recording into this thread's hands. Returns 0 if it is
** in those of another one.
*/
LJ_FUNC int lj_memprof_claim(MPHook *h);

/*
** The same for the recording that this process has made of a VM, unless its
** writer is at work. Returns its hook, or NULL.
*/
LJ_FUNC MPHook *lj_memprof_claimvm(const global_State *g);

/* The hook of what a fork has copied of the parent's recording, or NULL. */
LJ_FUNC MPHook *lj_memprof_inherited(const global_State *g);

/*
** For a VM that goes away: the hook whose recording this thread has to end, or
** one that was ended at exit (MP_ENDED), or NULL. Waits for a thread that is
** ending it.
*/
LJ_FUNC MPHook *lj_memprof_claimlast(const global_State *g);

/*
** For the exit of the process, after which nothing starts: claims the next
** recording to end, or returns NULL. *wait is set if another thread is about to
** begin or to end one.
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

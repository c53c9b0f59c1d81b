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
  lua_Alloc allocf; /* The allocator below. */
  void *allocd;
  lua_Alloc wrapper;   /* What the last recording put in its place. */
  MPState *rec;        /* Set from a start to its stop; under the lock. */
  MPState *writing;    /* It is at its writer, called by the VM's thread. */
  global_State *g;     /* The VM; NULL once it is gone. */
  struct MPHook *next; /* List of all hooks; under the lock. */
  int state;           /* MP_IDLE and so on; under the lock. */
  MPThread thread;     /* The thread that starts or ends it; under the lock. */
  int stuck;           /* Its end was given up; under the lock. */
  int late;            /* The VM is in an allocation that may end it. */
  int freeing;         /* It is a deallocation. */
  long pid;            /* The process that started. */
  /* Its time is over: ends it. size as for lj_memprof_complete(). */
  void (*over)(struct MPHook *h, const void *ptr, size_t size);
  int due;         /* Its time is over: the next allocation ends it. Atomic. */
  int anew;        /* It may begin anew: see lj_memprof_anew.h. */
  int order;       /* An order from outside that waits, or 0; atomic. */
  int answer;      /* Result of the last order: an errno or 0; its message, */
  const char *why; /* a static string or NULL; both under the lock. */
  int wiped;       /* What follows is zero after a fork. */
  /* In a page of its own, which a child process has empty. */
  MPState *mp; /* Set while events are taken. */
  int busy;    /* An event is at work on the recording. */
  int owner;   /* Set in the process that has started. */
} MPHook;

enum {
  MP_IDLE,
  MP_STARTING,
  MP_RUNNING,
  MP_ENDING,
  MP_EXPIRED, /* The timer's thread ends its stream, */
  MP_OVER,    /* or has: the rest is to be done by the VM's thread. */
  MP_PAUSED,  /* By an order, or its time is over; its file is closed. */
  MP_ENDED    /* At exit; the VM may still be using it. */
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

/*
** The writer has returned: the recording that was active before is so again,
** unless its time is over by now.
*/
static LJ_AINLINE void lj_memprof_resume(MPHook *h, MPState *mp)
{
  /* Either this load sees `due`, or the thread that sets it clears mp later. */
  __atomic_store_n(&h->mp, mp, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&h->due, __ATOMIC_SEQ_CST))
    lj_memprof_setactive(h, NULL);
}

/*
** From here on other threads see what this one has stored, and this one sees
** what they had stored before. Returns 0 if the kernel cannot do it.
*/
LJ_FUNC int lj_memprof_barrier(void);

/*
** True unless this process is a child that has the hook of its parent, made by
** fork() or by clone(). Where the kernel cannot clear memory in a child, it is
** always true, and there is no tail.
*/
static LJ_AINLINE int lj_memprof_isowner(const MPHook *h)
{
  return h->owner;
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

/*
** The lock of the list: a fork waits for whoever has it. No recording begins or
** ends meanwhile.
*/
LJ_FUNC void lj_memprof_lockhooks(void);

/* Gives it back. */
LJ_FUNC void lj_memprof_unlockhooks(void);

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

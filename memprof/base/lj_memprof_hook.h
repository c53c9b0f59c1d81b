/*
** A hook: what stands in the place of a VM's allocator, and whether an event is
** at work on its recording.
*/

#ifndef _LJ_MEMPROF_HOOK_H
#define _LJ_MEMPROF_HOOK_H

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
  lua_Alloc first;     /* What the last recording put in its place; and, */
  lua_Alloc wrapper;   /* behind a limit, what writes its events. */
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
  /* It may begin anew: an event that is not recorded goes there. Or NULL. */
  void *(*anew)(struct MPHook *h, void *ptr, size_t osize, size_t nsize);
  int due;         /* Its time is over: the next allocation ends it. Atomic. */
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

/* -- The VM's allocator slot (lj_memprof_hook.c) -------------------------- */

/* Puts a hook between a VM and its allocator. */
LJ_FUNC void lj_memprof_install(MPHook *h, global_State *g);

/* True if the VM's allocator is this hook's. */
LJ_FUNC int lj_memprof_isinstalled(const MPHook *h);

/*
** If a VM's allocator is a hook's, gives it the one below that. Returns 0 if it
** is not.
*/
LJ_FUNC int lj_memprof_restore(global_State *g);

/* The user data of a VM's allocator, of the one below a hook. */
LJ_FUNC const void *lj_memprof_below(const global_State *g);

/* True if that is this allocator. */
LJ_FUNC int lj_memprof_isbelow(const global_State *g, lua_Alloc allocf);

/*
** The recording of a VM whose allocator's place is ours, or NULL. Only for the
** thread that runs the VM.
*/
LJ_FUNC MPState *lj_memprof_state(global_State *g);

/*
** Calls the allocator below, as a lua_Alloc: for a VM that is not being
** recorded any more, or for as long as its writer is at work.
*/
LJ_FUNC void *lj_memprof_pass(MPHook *h, void *ptr, size_t osize, size_t nsize);

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
** True unless this process is a child that has the hook of its parent, made by
** fork() or by clone(). Where the kernel cannot clear memory in a child, it is
** always true, and there is no tail.
*/
static LJ_AINLINE int lj_memprof_isowner(const MPHook *h)
{
  return h->owner;
}

/* True if an order waits. Orders it with what the process's thread stores. */
static LJ_AINLINE int lj_memprof_isordered(const MPHook *h)
{
  return __atomic_load_n(&h->order, __ATOMIC_SEQ_CST) != 0;
}

/*
** The recording takes events again: if an order waits, the next event will
** look at it.
*/
static LJ_AINLINE void lj_memprof_reorder(MPHook *h)
{
  if (h->anew != NULL && lj_memprof_isordered(h))
    __atomic_store_n(&h->mp, NULL, __ATOMIC_SEQ_CST);
}

#endif

/*
** Hooks of all VMs, and who begins or ends the recording of each.
**
** What a VM's allocator slot points to is a small hook that stays valid until
** lua_close(), so that a host that cached the pair of lua_getallocf() can go on
** using it after the recording's end.
*/

#define lj_memprof_hooks_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lj_memprof_hooks.h"
#include "lj_memprof_lock.h"
#include "lj_memprof_lsan.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"

static MPHook *hooks_list; /* Under the lock. */
static int hooks_exiting;  /* Nothing may start; under the lock. */
static int hooks_stopping; /* Calls of on_stop(); under the lock. */
static long hooks_child;   /* The process that fork() has made; or 0. */

/* -- Threads -------------------------------------------------------------- */

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define hooks_self() pthread_self()
static MP_THREAD int hooks_stopshere; /* Those of this thread. */
#else
#define hooks_self() 0
static int hooks_stopshere;
#endif

void lj_memprof_forkedhooks(void)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->rec != NULL && h->state != MP_ENDED && h->rec->buf.forked != NULL)
      h->rec->buf.forked(h->rec->buf.arg);
  hooks_stopping = hooks_stopshere;
  hooks_child = (long)getpid();
}

/* -- With the lock held --------------------------------------------------- */

/* Sets the state of a hook to what this thread does. */
static void hooks_setstate(MPHook *h, int state)
{
  h->state = state;
  h->thread = hooks_self();
}

/* True if a hook is of this process, not of a fork's parent. */
static int hooks_isours(const MPHook *h)
{
  return h->pid == (long)getpid();
}

/* True if this process records. */
static int hooks_isrecording(const MPHook *h)
{
  return h->rec != NULL && h->state != MP_ENDED && h->state != MP_PAUSED &&
         hooks_isours(h);
}

/*
** True if the VM is in an allocation that may have ended its recording: a start
** from on_stop() would change what goes on below.
*/
static int hooks_islate(const global_State *g)
{
  const MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->g == g && h->late)
      return 1;
  return 0;
}

/* The hook of a VM's recording, or NULL. */
static MPHook *hooks_find(const global_State *g)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->g == g && h->rec != NULL)
      return h;
  return NULL;
}

/* True if an end is in no thread's hands. */
static int hooks_isfree(const MPHook *h)
{
  return h->state == MP_RUNNING || h->state == MP_OVER;
}

/* Takes an end into this thread's hands. Returns 0 if it is in others. */
static int hooks_claim(MPHook *h)
{
  if (!hooks_isfree(h))
    return 0;
  hooks_setstate(h, MP_ENDING);
  return 1;
}

/*
** True if a hook can be put in the VM's slot as it is. One that wraps another
** allocator than the slot has may lie below it, if a host has cached it.
*/
static int hooks_fits(const MPHook *h, const global_State *g)
{
  return h->g == g && (lj_memprof_isinstalled(h) ||
                       (g->allocf == h->allocf && g->allocd == h->allocd));
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/*
** Memory for a hook: two pages. What a child process must not find is in the
** second one; the rest, which it needs, is right before it.
*/
static MPHook *hooks_new(void)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *mem = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPHook *h;
  if (mem == MAP_FAILED)
    return NULL;
  lj_lsan_root(mem, 2 * page);
  h = (MPHook *)(void *)(mem + page - offsetof(MPHook, mp));
  h->wiped = madvise(mem + page, page, MADV_WIPEONFORK) == 0;
  return h;
}

/* Frees a hook that nobody calls any more. */
static void hooks_free(MPHook *h)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *mem = (char *)h + offsetof(MPHook, mp) - page;
  lj_lsan_unroot(mem, 2 * page);
  munmap(mem, 2 * page);
}

/* A hook for a VM, made if there is none that fits. NULL without memory. */
static MPHook *hooks_get(global_State *g)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (hooks_fits(h, g))
      return h;
  h = hooks_new();
  if (h != NULL) {
    h->g = g;
    h->allocf = g->allocf;
    h->allocd = g->allocd;
    h->next = hooks_list;
    hooks_list = h;
  }
  return h;
}

/* Reserves a hook for a new recording. Returns LUAM_PROFILE_*. */
static int hooks_reserve(MPState *mp)
{
  MPHook *h;
  if (hooks_find(mp->g) != NULL || hooks_exiting || hooks_islate(mp->g))
    return LUAM_PROFILE_ERR;
  h = hooks_get(mp->g);
  if (h == NULL)
    return LUAM_PROFILE_ERRMEM;
  h->rec = mp;
  h->mp = NULL;
  h->due = 0;
  h->owner = 1;
  h->stuck = 0;
  h->anew = NULL;
  __atomic_store_n(&h->order, 0, __ATOMIC_RELAXED);
  h->pid = (long)getpid();
  hooks_setstate(h, MP_STARTING);
  mp->hook = h;
  return LUAM_PROFILE_SUCCESS;
}

/* The next recording to end when the process exits, or NULL. */
static MPHook *hooks_claimany(int *wait)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next) {
    if (!hooks_isrecording(h) || h->stuck)
      continue;
    if (hooks_claim(h))
      return h;
    if (h->thread != hooks_self())
      *wait = 1;
  }
  if (hooks_stopping != hooks_stopshere)
    *wait = 1;
  return NULL;
}

/* -- Start and stop ------------------------------------------------------- */

int lj_memprof_reserve(MPState *mp)
{
  int status;
  lj_memprof_lock();
  status = hooks_reserve(mp);
  lj_memprof_unlock();
  return status;
}

void lj_memprof_running(MPHook *h)
{
  lj_memprof_lock();
  hooks_setstate(h, MP_RUNNING);
  lj_memprof_unlock();
}

/* glibc 2.32 has it: false once there was another thread. */
extern char __libc_single_threaded __attribute__((weak));

/* True if no lock can be held by a thread that is not in this process. */
static int hooks_issafe(void)
{
  return hooks_child == (long)getpid() ||
         (&__libc_single_threaded != NULL && __libc_single_threaded);
}

/* With the lock held. */
static int hooks_adopt(MPHook *h)
{
  if (h->rec == NULL || h->state != MP_RUNNING || hooks_exiting ||
      !lj_memprof_isinstalled(h) || !h->rec->anew.follow)
    return 0;
  h->pid = (long)getpid();
  h->due = 0;
  h->owner = 1;
  h->stuck = 0;
  __atomic_store_n(&h->order, 0, __ATOMIC_RELAXED);
  hooks_setstate(h, MP_STARTING);
  return 1;
}

int lj_memprof_adopt(MPHook *h)
{
  int mine;
  if (!h->wiped || !hooks_issafe())
    return 0;
  lj_memprof_lock();
  mine = hooks_adopt(h);
  lj_memprof_unlock();
  return mine;
}

void lj_memprof_resumed(MPHook *h, int good)
{
  lj_memprof_lock();
  hooks_setstate(h, good ? MP_RUNNING : MP_PAUSED);
  lj_memprof_setactive(h, good ? h->rec : NULL);
  lj_memprof_unlock();
}

void lj_memprof_release(MPHook *h)
{
  lj_memprof_lock();
  h->rec = NULL;
  hooks_setstate(h, MP_IDLE);
  lj_memprof_unlock();
}

int lj_memprof_letgo(MPHook *h, int (*on_stop)(void *arg), void *arg)
{
  int status;
  lj_memprof_lock();
  h->rec = NULL;
  hooks_setstate(h, MP_IDLE);
  hooks_stopping++;
  hooks_stopshere++;
  lj_memprof_unlock();
  status = on_stop(arg);
  lj_memprof_lock();
  hooks_stopping--;
  hooks_stopshere--;
  lj_memprof_unlock();
  return status;
}

int lj_memprof_claim(MPHook *h)
{
  int mine;
  lj_memprof_lock();
  mine = hooks_isours(h) && hooks_claim(h);
  lj_memprof_unlock();
  return mine;
}

/*
** With the lock: the hook of a VM's recording in this process, or NULL. Waits
** for the timer's thread.
*/
static MPHook *hooks_await(const global_State *g)
{
  MPHook *h;
  while ((h = hooks_find(g)) != NULL && hooks_isours(h) &&
         h->state == MP_EXPIRED) {
    lj_memprof_unlock();
    lj_memprof_sleep(MP_NAP);
    lj_memprof_lock();
  }
  return h != NULL && hooks_isours(h) ? h : NULL;
}

MPHook *lj_memprof_claimvm(const global_State *g)
{
  MPHook *h;
  lj_memprof_lock();
  h = hooks_await(g);
  /* Whoever ends it may be at its writer now, without the lock. */
  if (h != NULL && (!hooks_isfree(h) || h->rec->buf.writing || !hooks_claim(h)))
    h = NULL;
  lj_memprof_unlock();
  return h;
}

MPHook *lj_memprof_claimover(const global_State *g)
{
  MPHook *h;
  lj_memprof_lock();
  h = hooks_await(g);
  if (h != NULL && (h->state != MP_OVER || !hooks_claim(h)))
    h = NULL;
  lj_memprof_unlock();
  return h;
}

MPHook *lj_memprof_inherited(const global_State *g)
{
  MPHook *h;
  lj_memprof_lock();
  h = hooks_find(g);
  if (h != NULL && hooks_isours(h) && h->state != MP_PAUSED)
    h = NULL;
  lj_memprof_unlock();
  return h;
}

int lj_memprof_isactive(const lua_State *L)
{
  MPHook *h;
  int active;
  lj_memprof_lock();
  h = hooks_find(G(L));
  active = (h != NULL && hooks_isrecording(h) && h->state != MP_OVER) ||
           hooks_islate(G(L));
  lj_memprof_unlock();
  return active;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  MPHook *h;
  lj_memprof_lock();
  for (h = hooks_list; h != NULL; h = h->next)
    if (hooks_isrecording(h))
      break;
  lj_memprof_unlock();
  return h != NULL;
}

/* -- Control --------------------------------------------------------------- */

/* Takes a recording out of the way, so that its VM looks at the order. */
static void hooks_order(MPHook *h, int order)
{
  h->answer = 0;
  h->why = NULL;
  __atomic_store_n(&h->order, order, __ATOMIC_SEQ_CST);
  __atomic_store_n(&h->mp, NULL, __ATOMIC_SEQ_CST);
}

unsigned lj_memprof_controlled(int order,
                               void (*f)(void *arg, const MPControlled *c),
                               void *arg)
{
  MPHook *h;
  MPControlled c;
  unsigned n = 0;
  lj_memprof_lock();
  for (h = hooks_list; h != NULL; h = h->next) {
    if (h->rec == NULL || !h->rec->anew.control || !hooks_isours(h))
      continue;
    n++;
    if (order != MPORDER_NONE && h->state != MP_STARTING &&
        !lj_memprof_isordered(h))
      hooks_order(h, order);
    c.path = h->rec->anew.path != NULL ? h->rec->anew.path : "";
    c.state = h->state;
    c.order = __atomic_load_n(&h->order, __ATOMIC_RELAXED);
    c.answer = h->answer;
    c.why = h->why;
    c.dump = h->rec->limit.ordered;
    f(arg, &c);
  }
  lj_memprof_unlock();
  return n;
}

void lj_memprof_dumped(MPHook *h, char *name)
{
  lj_memprof_lock();
  free(h->rec->limit.ordered);
  h->rec->limit.ordered = name;
  lj_memprof_unlock();
}

void lj_memprof_noorders(void)
{
  MPHook *h;
  lj_memprof_lock();
  for (h = hooks_list; h != NULL; h = h->next)
    __atomic_store_n(&h->order, MPORDER_NONE, __ATOMIC_RELAXED);
  lj_memprof_unlock();
}

int lj_memprof_claimpause(MPHook *h)
{
  int mine;
  lj_memprof_lock();
  mine = hooks_await(h->g) == h && hooks_claim(h);
  lj_memprof_unlock();
  return mine;
}

int lj_memprof_restart(MPHook *h)
{
  int mine;
  lj_memprof_lock();
  mine = h->state == MP_PAUSED && !hooks_exiting;
  if (mine)
    hooks_setstate(h, MP_STARTING);
  lj_memprof_unlock();
  return mine;
}

void lj_memprof_paused(MPHook *h)
{
  lj_memprof_lock();
  __atomic_store_n(&h->due, 0, __ATOMIC_RELAXED);
  hooks_setstate(h, MP_PAUSED);
  lj_memprof_unlock();
}

int lj_memprof_ordered(MPHook *h, int en, const char *why)
{
  int on;
  lj_memprof_lock();
  on = h->state == MP_RUNNING && !h->rec->buf.error && !h->due;
  h->answer = en;
  h->why = why;
  __atomic_store_n(&h->order, MPORDER_NONE, __ATOMIC_SEQ_CST);
  lj_memprof_setactive(h, on ? h->rec : NULL);
  lj_memprof_unlock();
  return on;
}

/* -- The VM goes away ------------------------------------------------------ */

MPHook *lj_memprof_claimlast(const global_State *g)
{
  MPHook *h;
  for (;;) {
    lj_memprof_lock();
    h = hooks_find(g);
    if (h == NULL || !hooks_isours(h) ||
        (h->state != MP_ENDING && h->state != MP_EXPIRED) ||
        h->thread == hooks_self())
      break;
    lj_memprof_unlock();
    lj_memprof_sleep(MP_NAP);
  }
  if (h != NULL && h->state != MP_ENDED)
    hooks_setstate(h, MP_ENDING);
  lj_memprof_unlock();
  return h;
}

void lj_memprof_forgethooks(global_State *g)
{
  MPHook *h, **link = &hooks_list;
  int foreign = 0;
  lj_memprof_lock();
  /* The last one in the list is the first one that was made. */
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->g == g)
      foreign = g->allocf != h->allocf || g->allocd != h->allocd;
  while ((h = *link) != NULL) {
    if (h->g == g && !foreign) {
      *link = h->next;
      hooks_free(h);
    } else {
      if (h->g == g)
        h->g = NULL;
      link = &h->next;
    }
  }
  lj_memprof_unlock();
}

/* -- The time is over ------------------------------------------------------ */

/* Of linux/membarrier.h, which older systems do not have. */
#define HOOKS_EXPEDITED 0x08
#define HOOKS_REGISTER  0x10

int lj_memprof_barrier(void)
{
#ifdef SYS_membarrier
  return syscall(SYS_membarrier, HOOKS_REGISTER, 0) == 0 &&
         syscall(SYS_membarrier, HOOKS_EXPEDITED, 0) == 0;
#else
  return 0;
#endif
}

/* With the lock: what the timer's thread can do with a recording. */
static int hooks_expirable(const MPHook *h, const MPState *mp)
{
  if (h->rec != mp || !hooks_isours(h) || h->stuck || hooks_exiting)
    return MP_CLAIM_NEVER;
  if (h->state == MP_STARTING)
    return MP_CLAIM_LATER;
  return h->state == MP_RUNNING ? MP_CLAIM_DONE : MP_CLAIM_NEVER;
}

int lj_memprof_expire(MPHook *h, const MPState *mp)
{
  int status;
  lj_memprof_lock();
  status = hooks_expirable(h, mp);
  if (status == MP_CLAIM_DONE) {
    __atomic_store_n(&h->due, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&h->mp, NULL, __ATOMIC_SEQ_CST);
  }
  lj_memprof_unlock();
  return status;
}

int lj_memprof_claimidle(MPHook *h, const MPState *mp)
{
  int status;
  lj_memprof_lock();
  status = hooks_expirable(h, mp);
  if (status == MP_CLAIM_DONE && __atomic_load_n(&h->busy, __ATOMIC_ACQUIRE))
    status = MP_CLAIM_LATER;
  if (status == MP_CLAIM_DONE)
    hooks_setstate(h, MP_EXPIRED);
  lj_memprof_unlock();
  return status;
}

void lj_memprof_expired(MPHook *h, int done)
{
  lj_memprof_lock();
  hooks_setstate(h, done ? MP_OVER : MP_RUNNING);
  h->stuck = !done;
  lj_memprof_unlock();
}

/* -- The process exits ----------------------------------------------------- */

MPHook *lj_memprof_claimany(int *wait)
{
  MPHook *h;
  *wait = 0;
  lj_memprof_lock();
  hooks_exiting = 1;
  h = hooks_claimany(wait);
  lj_memprof_unlock();
  return h;
}

void lj_memprof_ended(MPHook *h, int done)
{
  lj_memprof_lock();
  hooks_setstate(h, done ? MP_ENDED : MP_RUNNING);
  h->stuck = !done;
  lj_memprof_unlock();
}

#else

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  return false;
}

#endif

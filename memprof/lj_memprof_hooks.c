/*
** Hooks of all VMs, and who begins or ends the recording of each.
**
** What a VM's allocator slot points to is a small hook that stays valid until
** lua_close(), so that a host that cached the pair of lua_getallocf() can go on
** using it after the recording's end.
*/

#define lj_memprof_hooks_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <unistd.h>

#include "lj_memprof_clock.h"
#include "lj_memprof_event.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_state.h"

static MPHook *hooks_list; /* Under the lock. */
static int hooks_exiting;  /* Nothing may start; under the lock. */

/* -- The lock ------------------------------------------------------------- */

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define hooks_self() pthread_self()
static pthread_mutex_t hooks_mutex = PTHREAD_MUTEX_INITIALIZER;

static void hooks_lock(void)
{
  pthread_mutex_lock(&hooks_mutex);
}

static void hooks_unlock(void)
{
  pthread_mutex_unlock(&hooks_mutex);
}

/* A child of fork() has nothing to do with its parent's recordings. */
static void hooks_forked(void)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->rec != NULL && h->state != MP_ENDED && h->rec->buf.forked != NULL)
      h->rec->buf.forked(h->rec->buf.arg);
  hooks_unlock();
}

void lj_memprof_hooksatfork(void)
{
  pthread_atfork(hooks_lock, hooks_unlock, hooks_forked);
}
#else
#define hooks_self()   0
#define hooks_lock()   ((void)0)
#define hooks_unlock() ((void)0)

void lj_memprof_hooksatfork(void)
{
}
#endif

/* -- With the lock held --------------------------------------------------- */

/* Sets the state of a hook to what this thread does. */
static void hooks_setstate(MPHook *h, int state)
{
  h->state = state;
  h->owner = hooks_self();
}

/* True if a hook is of this process, not of a fork's parent. */
static int hooks_isours(const MPHook *h)
{
  return h->pid == (long)getpid();
}

/* True if this process records. */
static int hooks_isrecording(const MPHook *h)
{
  return h->rec != NULL && h->state != MP_ENDED && hooks_isours(h);
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

/* Takes an end into this thread's hands. Returns 0 if it is in others. */
static int hooks_claim(MPHook *h)
{
  if (h->state != MP_RUNNING)
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

/* A hook for a VM, made if there is none that fits. NULL without memory. */
static MPHook *hooks_get(global_State *g)
{
  MPHook *h;
  for (h = hooks_list; h != NULL; h = h->next)
    if (hooks_fits(h, g))
      return h;
  h = (MPHook *)calloc(1, sizeof(MPHook));
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
  h->stuck = 0;
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
    if (h->owner != hooks_self())
      *wait = 1;
  }
  return NULL;
}

/* -- The VM's allocator slot ---------------------------------------------- */

int lj_memprof_isinstalled(const MPHook *h)
{
  const global_State *g = h->g;
  return lj_memprof_iswrapper(g->allocf) && g->allocd == (const void *)h;
}

void lj_memprof_restore(const MPHook *h, global_State *g)
{
  g->allocf = h->allocf;
  g->allocd = h->allocd;
}

MPState *lj_memprof_state(global_State *g)
{
  return lj_memprof_iswrapper(g->allocf) ? ((MPHook *)g->allocd)->rec : NULL;
}

/* -- Start and stop ------------------------------------------------------- */

int lj_memprof_reserve(MPState *mp)
{
  int status;
  hooks_lock();
  status = hooks_reserve(mp);
  hooks_unlock();
  return status;
}

void lj_memprof_running(MPHook *h)
{
  hooks_lock();
  hooks_setstate(h, MP_RUNNING);
  hooks_unlock();
}

void lj_memprof_release(MPHook *h)
{
  hooks_lock();
  h->rec = NULL;
  hooks_setstate(h, MP_IDLE);
  hooks_unlock();
}

int lj_memprof_claim(MPHook *h)
{
  int mine;
  hooks_lock();
  mine = hooks_claim(h);
  hooks_unlock();
  return mine;
}

MPHook *lj_memprof_claimvm(const global_State *g)
{
  MPHook *h;
  hooks_lock();
  h = hooks_find(g);
  if (h != NULL && (!hooks_isours(h) || h->state != MP_RUNNING ||
                    h->rec->buf.writing || !hooks_claim(h)))
    h = NULL;
  hooks_unlock();
  return h;
}

MPHook *lj_memprof_inherited(const global_State *g)
{
  MPHook *h;
  hooks_lock();
  h = hooks_find(g);
  if (h != NULL && hooks_isours(h))
    h = NULL;
  hooks_unlock();
  return h;
}

int lj_memprof_isactive(const lua_State *L)
{
  MPHook *h;
  int active;
  hooks_lock();
  h = hooks_find(G(L));
  active = (h != NULL && hooks_isrecording(h)) || hooks_islate(G(L));
  hooks_unlock();
  return active;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  MPHook *h;
  hooks_lock();
  for (h = hooks_list; h != NULL; h = h->next)
    if (hooks_isrecording(h))
      break;
  hooks_unlock();
  return h != NULL;
}

/* -- The VM goes away ------------------------------------------------------ */

MPHook *lj_memprof_claimlast(const global_State *g)
{
  MPHook *h;
  for (;;) {
    hooks_lock();
    h = hooks_find(g);
    if (h == NULL || !hooks_isours(h) || h->state != MP_ENDING ||
        h->owner == hooks_self())
      break;
    hooks_unlock();
    lj_memprof_sleep(MP_NAP);
  }
  if (h != NULL && h->state != MP_ENDED)
    hooks_setstate(h, MP_ENDING);
  hooks_unlock();
  return h;
}

void lj_memprof_forgethooks(global_State *g)
{
  MPHook *h, **link = &hooks_list;
  int foreign = 0;
  hooks_lock();
  /* The last one in the list is the first one that was made. */
  for (h = hooks_list; h != NULL; h = h->next)
    if (h->g == g)
      foreign = g->allocf != h->allocf || g->allocd != h->allocd;
  while ((h = *link) != NULL) {
    if (h->g == g && !foreign) {
      *link = h->next;
      free(h);
    } else {
      if (h->g == g)
        h->g = NULL;
      link = &h->next;
    }
  }
  hooks_unlock();
}

/* -- The process exits ----------------------------------------------------- */

MPHook *lj_memprof_claimany(int *wait)
{
  MPHook *h;
  *wait = 0;
  hooks_lock();
  hooks_exiting = 1;
  h = hooks_claimany(wait);
  hooks_unlock();
  return h;
}

void lj_memprof_ended(MPHook *h, int done)
{
  hooks_lock();
  hooks_setstate(h, done ? MP_ENDED : MP_RUNNING);
  h->stuck = !done;
  hooks_unlock();
}

#else

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  return false;
}

#endif

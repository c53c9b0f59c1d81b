/*
** What a VM's allocator slot gets for a recording: one function for all, which
** calls what the hook says. So it can be told from a host's allocator, also
** when the host puts back a pair that it had cached.
*/

#define lj_memprof_hook_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_memprof_hook.h"
#include "lj_memprof_state.h"

/* -- The VM's allocator slot ---------------------------------------------- */

static void *hook_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
  return ((MPHook *)ud)->first(ud, ptr, osize, nsize);
}

void lj_memprof_install(MPHook *h, global_State *g)
{
  g->allocd = h;
  g->allocf = hook_alloc;
}

int lj_memprof_isinstalled(const MPHook *h)
{
  return h->g->allocf == hook_alloc && h->g->allocd == (const void *)h;
}

int lj_memprof_restore(global_State *g)
{
  const MPHook *h = (const MPHook *)g->allocd;
  if (g->allocf != hook_alloc)
    return 0;
  g->allocf = h->allocf;
  g->allocd = h->allocd;
  return 1;
}

/* The hook that a VM's allocator is, or NULL. */
static MPHook *hook_of(const global_State *g)
{
  return g->allocf == hook_alloc ? (MPHook *)g->allocd : NULL;
}

const void *lj_memprof_below(const global_State *g)
{
  const MPHook *h = hook_of(g);
  return h != NULL ? h->allocd : g->allocd;
}

int lj_memprof_isbelow(const global_State *g, lua_Alloc allocf)
{
  const MPHook *h = hook_of(g);
  return allocf == (h != NULL ? h->allocf : g->allocf);
}

MPState *lj_memprof_state(global_State *g)
{
  const MPHook *h = hook_of(g);
  return h != NULL ? h->rec : NULL;
}

/* -- What is not recorded ------------------------------------------------- */

/* The time of a recording is over: ends it, unless another thread does. */
static LJ_NOINLINE void hook_due(MPHook *h, void *ptr, size_t osize,
                                 size_t nsize)
{
  if (ptr == NULL && nsize == 0)
    return;
  h->late = 1;
  h->freeing = nsize == 0;
  h->over(h, nsize == 0 ? ptr : NULL, nsize == 0 ? osize : 0);
  h->late = h->freeing = 0;
}

void *lj_memprof_pass(MPHook *h, void *ptr, size_t osize, size_t nsize)
{
  if (h->writing == NULL) {
    if (LJ_UNLIKELY(__atomic_load_n(&h->due, __ATOMIC_RELAXED)) && !h->late)
      hook_due(h, ptr, osize, nsize);
    /* Until it has ended, no order is executed: another thread may write. */
    if (LJ_UNLIKELY(h->anew != NULL) &&
        !__atomic_load_n(&h->due, __ATOMIC_RELAXED))
      return h->anew(h, ptr, osize, nsize);
    lj_memprof_leave(h);
  } else if (ptr != NULL || nsize != 0)
    h->writing->stream.lost++; /* What the writer does cannot be recorded. */
  return h->allocf(h->allocd, ptr, osize, nsize);
}

#endif

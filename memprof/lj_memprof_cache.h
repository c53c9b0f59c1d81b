/*
** The cache of places, and the usual cases of lj_memprof_where(), without a
** call: places that have been seen before.
*/

#ifndef _LJ_MEMPROF_CACHE_H
#define _LJ_MEMPROF_CACHE_H

#include "lj_dispatch.h"
#include "lj_memprof_frame.h"
#include "lj_memprof_ret.h"
#include "lj_memprof_state.h"
#include "lj_memprof_where.h"

/* True if a block of memory may hold code that lj_memprof_forget() knows. */
static LJ_AINLINE int mpwhere_iscode(const void *ptr, size_t size)
{
  return size > sizeof(GChead) && (((const GChead *)ptr)->gct == ~LJ_TPROTO ||
                                   ((const GChead *)ptr)->gct == ~LJ_TTRACE);
}

/* The cache's entry for a key. */
static LJ_AINLINE MPCache *mpwhere_cache(MPState *mp, const void *key)
{
  uintptr_t h = (uintptr_t)key * (sizeof(MPCache) / sizeof(BCIns));
  h = (h ^ (h >> 12)) & ((MP_CACHESIZE - 1) * sizeof(MPCache));
  return (MPCache *)((char *)mp->cache + h);
}

/* What owns the instructions of a proto, in the cache. */
static LJ_AINLINE const void *mpwhere_owner(const GCproto *pt)
{
  return proto_bc(pt);
}

/* The PC of the Lua function on top of the stack. */
static LJ_AINLINE const BCIns *mpwhere_toppc(const lua_State *L)
{
  void *cf = cframe_raw(L->cframe);
  while (cf != NULL && cframe_nres(cf) < 0)
    cf = cframe_raw(cframe_prev(cf));
  return cf != NULL ? cframe_pc(cf) : NULL;
}

/*
** Where the Lua function is that the interpreter runs, or NULL: not that easy.
** No C function starts where a proto's instructions do.
*/
static LJ_AINLINE const MPCache *
mpwhere_interp(MPState *mp, const global_State *g, int stacks)
{
  GCobj *o = gcref(g->cur_L);
  if (LJ_LIKELY(o != NULL)) {
    lua_State *L = &o->th;
    cTValue *frame = L->base - 1;
    const char *cf = (const char *)cframe_raw(L->cframe);
    if (LJ_LIKELY(cf != NULL && cframe_nres(cf) >= 0 &&
                  mpframe_isfunc(frame))) {
      const BCIns *pc = cframe_pc(cf);
      const MPCache *c = mpwhere_cache(mp, pc);
      if (LJ_LIKELY(c->key == (const void *)pc &&
                    c->owner == mref(frame_func(frame)->l.pc, const void))) {
        if (stacks) {
          mp->top.L = L;
          mp->top.frame = frame;
          mp->top.inlined = 0;
        }
        return c;
      }
    }
  }
  return NULL;
}

#if LJ_HASJIT

/* Where an allocation on a trace is, or NULL: not that easy. */
static LJ_AINLINE const MPCache *mpwhere_trace(MPState *mp, global_State *g,
                                               int stacks)
{
  const MCode *ret;
  const GCtrace *T = mpret_trace(mp, g, &ret);
  const MPCache *c = mpwhere_cache(mp, ret);
  if (LJ_LIKELY(T != NULL && c->key == (const void *)ret &&
                c->owner == (const void *)T)) {
    if (stacks) {
      mp->top.L = &gcref(g->cur_L)->th;
      mp->top.frame = tvref(g->jit_base) - 1;
      mp->top.inlined = c->inlined;
    }
    return c;
  }
  return NULL;
}

#endif

/*
** Where the VM is, if that is a place that is known, or NULL. If stacks is
** set, mp->top has the frame. Not for Tarantool's format.
*/
static LJ_AINLINE const MPCache *mpwhere_known(MPState *mp, global_State *g,
                                               int stacks)
{
  if (g->vmstate == ~LJ_VMST_INTERP)
    return mpwhere_interp(mp, g, stacks);
#if LJ_HASJIT
  if (mpret_ontrace(g))
    return mpwhere_trace(mp, g, stacks);
#endif
  return NULL;
}

#endif

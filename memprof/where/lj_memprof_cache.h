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

/*
** The cache's entry for a key. Code that is near has other entries, as in a
** processor's cache.
*/
static LJ_AINLINE MPCache *mpwhere_cache(MPState *mp, const void *key)
{
  uintptr_t h = (uintptr_t)key * (sizeof(MPCache) / sizeof(BCIns));
  h &= (MP_CACHESIZE - 1) * sizeof(MPCache);
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
** Where the function of a frame is that has stopped at a PC, or NULL: that is
** not known, or it is no Lua function. No C function starts where a proto's
** instructions do.
*/
static LJ_AINLINE const MPCache *mpwhere_stopped(MPState *mp, lua_State *L,
                                                 cTValue *frame,
                                                 const BCIns *pc, int stacks)
{
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
  return NULL;
}

/* The same for the function on top, if it is a builtin: where it was called. */
static LJ_AINLINE const MPCache *mpwhere_builtin(MPState *mp, lua_State *L,
                                                 cTValue *frame, int stacks)
{
  if (isffunc(frame_func(frame)) && frame_islua(frame)) {
    cTValue *prev = mpframe_prev(frame, mpframe_bottom(L));
    if (LJ_LIKELY(prev != NULL && mpframe_isfunc(prev)))
      return mpwhere_stopped(mp, L, prev, frame_pc(frame), stacks);
  }
  return NULL;
}

/* The same where the interpreter is. */
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
      const MPCache *c = mpwhere_stopped(mp, L, frame, cframe_pc(cf), stacks);
      return LJ_LIKELY(c != NULL) ? c : mpwhere_builtin(mp, L, frame, stacks);
    }
  }
  return NULL;
}

/* The same where a C function is. */
static LJ_AINLINE const MPCache *
mpwhere_cfunc(MPState *mp, const global_State *g, int stacks)
{
  GCobj *o = gcref(g->cur_L);
  if (LJ_LIKELY(o != NULL)) {
    lua_State *L = &o->th;
    cTValue *frame = L->base - 1;
    if (LJ_LIKELY(L->cframe != NULL && mpframe_isfunc(frame)))
      return mpwhere_builtin(mp, L, frame, stacks);
  }
  return NULL;
}

#if LJ_HASJIT

/* Where an allocation on a trace is, or NULL: not that easy. */
static LJ_AINLINE const MPCache *mpwhere_trace(MPState *mp, global_State *g,
                                               int stacks)
{
  const MCode *ret;
  const GCtrace *T = mpret_tracecall(mp, g, &ret);
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
  int32_t st = g->vmstate;
  if (st == ~LJ_VMST_INTERP)
    return mpwhere_interp(mp, g, stacks);
#if LJ_HASJIT
  if (mpret_ontrace(g))
    return mpwhere_trace(mp, g, stacks);
#endif
  return st == ~LJ_VMST_C ? mpwhere_cfunc(mp, g, stacks) : NULL;
}

#endif

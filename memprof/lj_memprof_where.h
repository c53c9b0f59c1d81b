/*
** The usual cases of lj_memprof_where(), without a call: places that have been
** seen before.
*/

#ifndef _LJ_MEMPROF_WHERE_H
#define _LJ_MEMPROF_WHERE_H

#include "lj_dispatch.h"
#include "lj_memprof_frame.h"
#include "lj_memprof_ret.h"

/* True if a block of memory may hold code that lj_memprof_forget() knows. */
static LJ_AINLINE int mpwhere_iscode(const void *ptr, size_t size)
{
  return size > sizeof(GChead) && (((const GChead *)ptr)->gct == ~LJ_TPROTO ||
                                   ((const GChead *)ptr)->gct == ~LJ_TTRACE);
}

/* The cache's entry for a key. */
static LJ_AINLINE MPCache *mpwhere_cache(MPState *mp, const void *key)
{
  uintptr_t h = (uintptr_t)key;
  return &mp->cache[((h >> 2) ^ (h >> 14)) & (MP_CACHESIZE - 1)];
}

/* The PC of the Lua function on top of the stack. */
static LJ_AINLINE const BCIns *mpwhere_toppc(const lua_State *L)
{
  void *cf = cframe_raw(L->cframe);
  while (cf != NULL && cframe_nres(cf) < 0)
    cf = cframe_raw(cframe_prev(cf));
  return cf != NULL ? cframe_pc(cf) : NULL;
}

/* The site of the Lua function that the interpreter runs. 0: not that easy. */
static LJ_AINLINE uint32_t mpwhere_interp(MPState *mp, const global_State *g,
                                          int stacks)
{
  GCobj *o = gcref(g->cur_L);
  if (LJ_LIKELY(o != NULL)) {
    lua_State *L = &o->th;
    cTValue *frame = L->base - 1;
    const char *cf = (const char *)cframe_raw(L->cframe);
    if (LJ_LIKELY(cf != NULL && cframe_nres(cf) >= 0 &&
                  mpframe_isfunc(frame))) {
      GCfunc *fn = frame_func(frame);
      const BCIns *pc = cframe_pc(cf);
      const MPCache *c = mpwhere_cache(mp, pc);
      if (LJ_LIKELY(isluafunc(fn) && c->key == (const void *)pc &&
                    c->owner == (const void *)funcproto(fn))) {
        if (stacks) {
          mp->top.L = L;
          mp->top.frame = frame;
          mp->top.inlined = 0;
        }
        return c->site;
      }
    }
  }
  return 0;
}

#if LJ_HASJIT

/* The site of an allocation on a trace. 0: not that easy. */
static LJ_AINLINE uint32_t mpwhere_trace(MPState *mp, global_State *g,
                                         int stacks)
{
  if (LJ_LIKELY(mp->format != LUAM_PROF_TARANTOOL)) {
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
      return c->site;
    }
  }
  return 0;
}

#endif

/*
** The site of what the VM is about to do. To be asked before it does it. If
** stacks is set, mp->top tells the frame.
*/
static LJ_AINLINE uint32_t mpwhere_site(MPState *mp, int stacks)
{
  global_State *g = mp->g;
  uint32_t site = 0;
  if (g->vmstate == ~LJ_VMST_INTERP)
    site = mpwhere_interp(mp, g, stacks);
#if LJ_HASJIT
  else if (mpret_ontrace(g))
    site = mpwhere_trace(mp, g, stacks);
#endif
  return LJ_LIKELY(site != 0) ? site : lj_memprof_where(mp);
}

#endif

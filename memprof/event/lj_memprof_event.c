/*
** Memory profiler: the allocator's wrapper, and the events it writes.
*/

#define lj_memprof_event_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_memprof_cache.h"
#include "lj_memprof_encode.h"
#include "lj_memprof_event.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_look.h"
#include "lj_memprof_map.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_samestack.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"
#include "lj_memprof_type.h"
#include "lj_memprof_where.h"

/*
** What a wrapper has to do is known when a recording starts, so there is one
** for each: the usual one looks for nothing else.
*/
enum {
  EVENT_TOP,  /* Compact format, top locations only. */
  EVENT_FULL, /* Compact format, stacks. */
  EVENT_OLD   /* One of the old formats. */
};

/* An event that is none ends. */
static LJ_NOINLINE void *event_nothing(MPHook *h)
{
  lj_memprof_leave(h);
  return NULL;
}

/* Any site. Its callers are recorded, if they are wanted. */
static uint32_t event_site(MPState *mp)
{
  uint32_t site = lj_memprof_where(mp);
  if (mp->stack != NULL && site > LJM_SITE_UNKNOWN && !mpsame_stack(mp))
    lj_memprof_stack(mp);
  return site;
}

/* Any allocation. */
static LJ_NOINLINE void *event_rarealloc(MPHook *h, MPState *mp, size_t nsize)
{
  uint32_t site;
  void *p;
  lj_memprof_complete(mp, NULL, 0);
  site = event_site(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (p == NULL)
    return event_nothing(mp->hook);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_ALLOC, site, NULL, 0, p, nsize);
  else
    mpput_alloc(mp, site, p, nsize);
  mp->total.nevents[LJM_ALLOC]++;
  mp->total.bytesin += nsize;
  lj_memprof_leave(mp->hook);
  return p;
}

/* An allocation at a place that is known. Nothing is called but what must. */
static LJ_AINLINE void *event_alloc(MPHook *h, size_t nsize, int mode)
{
  MPState *mp = h->rec;
  global_State *g = mp->g;
  const MPCache *c;
  uint32_t site;
  void *p;
  if (mode == EVENT_OLD || LJ_UNLIKELY(!mptype_complete(mp, g)))
    return event_rarealloc(h, mp, nsize);
  c = mpwhere_known(mp, g, mode == EVENT_FULL);
  if (LJ_UNLIKELY(c == NULL)) {
    mp->newest.o = NULL;
    return event_rarealloc(h, mp, nsize);
  }
  site = c->site;
  if (mode == EVENT_FULL && LJ_UNLIKELY(!mpsame_stack(mp)))
    lj_memprof_stack(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (LJ_UNLIKELY(p == NULL)) {
    mp->newest.o = NULL;
    return event_nothing(mp->hook);
  }
  mpput_alloc(mp, site, p, nsize);
  mp->total.nevents[LJM_ALLOC]++;
  mp->total.bytesin += nsize;
  lj_memprof_leave(mp->hook);
  return p;
}

/* Appends a reallocation. Returns its old size. */
static size_t event_putrealloc(MPState *mp, uint32_t site, const void *ptr,
                               size_t osize, const void *p, size_t nsize)
{
  size_t known = mp->foreign.live.used ? lj_memprof_foreignsize(mp, ptr) : 0;
  MPChange c = {LJM_REALLOC, ptr, p, osize, nsize};
  if (LJ_UNLIKELY(known != 0 && osize != 0 && osize != known)) {
    /* Its end was not seen: the address is another block's. */
    lj_memprof_mapdel(&mp->foreign.live, (uint64_t)(uintptr_t)ptr);
    known = 0;
  }
  if (known != 0)
    c.osize = known;
  mpput_realloc(mp, site, ptr, c.osize, p, nsize);
  mptail_publish(mp, mp->buf.p);
  if (LJ_UNLIKELY(known != 0))
    lj_memprof_foreign(mp, &c);
  else
    mptype_wait(mp, &c);
  return c.osize;
}

/* A reallocation. */
static LJ_NOINLINE void *event_realloc(MPHook *h, void *ptr, size_t osize,
                                       size_t nsize)
{
  MPState *mp = h->rec;
  uint32_t site;
  void *p;
  lj_memprof_complete(mp, NULL, 0);
  /* The VM may not be walked any more after the block has moved. */
  site = event_site(mp);
  p = h->allocf(h->allocd, ptr, osize, nsize);
  if (LJ_UNLIKELY(p == NULL))
    return event_nothing(mp->hook);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_REALLOC, site, ptr, osize, p, nsize);
  else
    osize = event_putrealloc(mp, site, ptr, osize, p, nsize);
  mp->total.nevents[LJM_REALLOC]++;
  mp->total.bytesout += osize;
  mp->total.bytesin += nsize;
  lj_memprof_leave(mp->hook);
  return p;
}

/* Appends a deallocation that may be foreign. Returns its size. */
static size_t event_putfree(MPState *mp, uint32_t site, const void *ptr,
                            size_t osize)
{
  int whose = MP_FREE_VM;
  if (LJ_UNLIKELY(mp->foreign.live.used != 0 || !mpforeign_isvm(mp, osize)))
    whose = lj_memprof_freeing(mp, ptr, &osize);
  mpput_free(mp, site, ptr, osize);
  if (LJ_UNLIKELY(whose != MP_FREE_VM)) {
    const MPChange c = {LJM_FREE, ptr, NULL, osize, 0};
    if (whose == MP_FREE_FOREIGN)
      lj_memprof_foreign(mp, &c);
    else
      mptype_wait(mp, &c);
  }
  return osize;
}

/* Any deallocation. */
static LJ_NOINLINE void *event_rarefree(MPHook *h, void *ptr, size_t osize)
{
  MPState *mp = h->rec;
  size_t size = osize;
  uint32_t site;
  lj_memprof_complete(mp, ptr, osize);
  if (mpwhere_iscode(ptr, osize))
    lj_memprof_forget(mp, ptr, osize);
  site = lj_memprof_where(mp);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_FREE, site, ptr, osize, NULL, 0);
  else
    size = event_putfree(mp, site, ptr, osize);
  mp->total.nevents[LJM_FREE]++;
  mp->total.bytesout += size;
  lj_memprof_leave(h);
  return h->allocf(h->allocd, ptr, osize, 0);
}

/*
** A deallocation. Most come from the garbage collector, one after another, and
** are no code.
*/
static LJ_AINLINE void *event_free(MPHook *h, MPState *mp, void *ptr,
                                   size_t osize, int mode)
{
  if (mode == EVENT_OLD ||
      LJ_UNLIKELY(mp->newest.o != NULL || mp->g->vmstate != ~LJ_VMST_GC ||
                  mp->last[LJM_FREE].site != LJM_SITE_INTERNAL))
    return event_rarefree(h, ptr, osize);
  if (LJ_UNLIKELY(!mpput_gcfree(mp, ptr, osize)))
    return event_rarefree(h, ptr, osize);
  mp->total.nevents[LJM_FREE]++;
  mp->total.bytesout += osize;
  lj_memprof_leave(h);
  return h->allocf(h->allocd, ptr, osize, 0);
}

/* Before an event, when it is time to look at the clock and the buffer. */
static LJ_NOINLINE void *event_late(MPHook *h, void *ptr, size_t osize,
                                    size_t nsize)
{
  /* The last event may be about to be written. */
  lj_memprof_complete(h->rec, nsize == 0 ? ptr : NULL, nsize == 0 ? osize : 0);
  h->late = 1;
  lj_memprof_look(h, h->rec, nsize == 0);
  h->late = 0;
  lj_memprof_leave(h);
  /* If the recording has ended, this is the allocator below, or a pass. */
  return h->wrapper(h, ptr, osize, nsize);
}

/*
** The wrapper of a mode. Each case is a function of its own, so that none has
** to save the registers of another.
*/
#define EVENT_WRAPPER(name, mode)                                              \
  static LJ_NOINLINE void *name##_alloc(MPHook *h, size_t nsize)               \
  {                                                                            \
    return event_alloc(h, nsize, mode);                                        \
  }                                                                            \
  static void *name(void *ud, void *ptr, size_t osize, size_t nsize)           \
  {                                                                            \
    MPHook *h = (MPHook *)ud;                                                  \
    MPState *mp = lj_memprof_enter(h);                                         \
    if (LJ_UNLIKELY(mp == NULL))                                               \
      return lj_memprof_pass(h, ptr, osize, nsize);                            \
    if (LJ_UNLIKELY(mp->buf.p >= mp->buf.soft))                                \
      return event_late(h, ptr, osize, nsize);                                 \
    if (nsize == 0)                                                            \
      return ptr ? event_free(h, mp, ptr, osize, mode) : event_nothing(h);     \
    return ptr ? event_realloc(h, ptr, osize, nsize) : name##_alloc(h, nsize); \
  }

EVENT_WRAPPER(event_top, EVENT_TOP)
EVENT_WRAPPER(event_full, EVENT_FULL)
EVENT_WRAPPER(event_old, EVENT_OLD)

lua_Alloc lj_memprof_wrapper(const MPState *mp)
{
  if (mp->format != LUAM_PROF_COMPACT)
    return event_old;
  if (mp->sample != NULL)
    return lj_memprof_sampled;
  return mp->stack != NULL ? event_full : event_top;
}

#endif

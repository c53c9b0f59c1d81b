/*
** Memory outside of the VM's count.
**
** A C module may take memory from lua_getallocf() for itself, as LPeg does. It
** passes through the recorder, but the VM does not count it. The VM changes
** gc.total by the same number of bytes right after its calls of the allocator,
** or right before those of lj_mem_free(); a module does not. So the count at
** one event shows to whom the event before belongs, and whose a deallocation
** is.
**
** Where two events in a row have changes that cancel out, and nothing else is
** known of their blocks, they are taken for the VM's: its count is right either
** way. What a module has allocated while recording is always known.
*/

#define lj_memprof_foreign_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_memprof_foreign.h"
#include "lj_memprof_map.h"
#include "lj_memprof_state.h"
#include "lj_wbuf.h"

void lj_memprof_foreignstart(MPState *mp)
{
  mp->foreign.base = (uint64_t)mp->g->gc.total;
}

size_t lj_memprof_foreignsize(const MPState *mp, const void *ptr)
{
  return (size_t)lj_memprof_mapget(&mp->foreign.live, (uint64_t)(uintptr_t)ptr);
}

/*
** True if the last event, which changed the heap by so many bytes, is foreign.
** The current event is to free a block of a size, or else size is 0.
*/
static int foreign_judge(MPState *mp, GCSize change, const void *ptr,
                         GCSize size)
{
  GCSize missing = mpforeign_missing(mp);
  if (size != 0 && lj_memprof_foreignsize(mp, ptr) != 0)
    size = 0; /* The VM has nothing to count for it. */
  if (missing == size)
    return 0;
  if (missing == change || missing == change + size)
    return 1;
  if (missing != 0) /* Not everything was seen: goes on from here. */
    mp->foreign.base -= (uint64_t)missing - size;
  return 0;
}

void lj_memprof_foreign(MPState *mp, const MPChange *c)
{
  MPForeign *f = &mp->foreign;
  f->nevents[c->kind]++;
  f->bytesin += c->nsize;
  f->bytesout += c->osize;
  f->base -= (uint64_t)c->nsize - c->osize;
  if (c->kind != LJM_ALLOC) {
    lj_memprof_mapdel(&f->live, (uint64_t)(uintptr_t)c->optr);
    /* The type of an allocation says the same. */
    lj_wbuf_recordend(&mp->buf, lj_wbuf_record(&mp->buf, LJM_REC_FOREIGN));
  }
  /* Without memory, the VM's count has to do when it is freed. */
  if (c->kind != LJM_FREE)
    lj_memprof_mapput(&f->live, (uint64_t)(uintptr_t)c->nptr, c->nsize);
}

int lj_memprof_settle(MPState *mp, const MPChange *c, const void *ptr,
                      size_t size)
{
  GCSize change = (GCSize)c->nsize - (GCSize)c->osize;
  if (change == 0 || !foreign_judge(mp, change, ptr, (GCSize)size))
    return 0;
  lj_memprof_foreign(mp, c);
  return 1;
}

int lj_memprof_settlealloc(MPState *mp, const void *ptr, size_t size)
{
  const MPChange c = {LJM_ALLOC, NULL, mp->newest.o, 0,
                      (size_t)mp->newest.size};
  return mp->sample == NULL && lj_memprof_settle(mp, &c, ptr, size);
}

/*
** Whose a block is that is about to be freed, by its address or by the VM's
** count. Corrects the size of one that is foreign: its module may not keep it.
*/
int lj_memprof_freeing(MPState *mp, const void *ptr, size_t *size)
{
  GCSize missing = mpforeign_missing(mp);
  size_t known = lj_memprof_foreignsize(mp, ptr);
  if (known != 0 && (missing == 0 || missing != (GCSize)*size)) {
    *size = known;
    mp->foreign.base -= (uint64_t)missing; /* None, unless some was not seen. */
    return MP_FREE_FOREIGN;
  }
  if (known != 0) /* Nor was its end: the address is another block's. */
    lj_memprof_mapdel(&mp->foreign.live, (uint64_t)(uintptr_t)ptr);
  if (missing == 0)
    return *size != 0 ? MP_FREE_MAYBE : MP_FREE_VM;
  mp->foreign.base -= (uint64_t)missing - *size;
  return MP_FREE_VM;
}

#endif

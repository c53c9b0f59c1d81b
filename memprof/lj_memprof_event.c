/*
** Memory profiler: the allocator's wrapper, the events it writes, the blocks
** they go out in.
**
** What an allocation was for is known when the VM has filled it in: its type
** is put into its event when the next one comes.
*/

#define lj_memprof_event_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_str.h"
#include "lj_tab.h"

/* -- Blocks and time ------------------------------------------------------ */

#define MP_MARK_EVERY  (10 * MP_MS)
#define MP_FLUSH_EVERY (1000 * MP_MS)
#define MP_LOOK_EVERY  (2 * MP_MS)
#define MP_LOOK_MIN    8 /* Bytes of events between two looks. */
#define MP_LOOK_MAX    1024

/* Appends a time mark. */
static void event_mark(MPState *mp, uint64_t now)
{
  uint8_t *mark;
  mp->marked = now;
  if (mp->format != LUAM_PROF_COMPACT) {
    mp->oldmark = 1;
    return;
  }
  mark = lj_wbuf_record(&mp->buf, LJM_REC_TIME);
  lj_wbuf_uleb(&mp->buf, now - mp->start);
  lj_wbuf_recordend(&mp->buf, mark);
}

/* Begins a block: the registers are zero, and the time is told. */
void lj_memprof_beginblock(MPState *mp)
{
  memset(mp->last, 0, sizeof(mp->last));
  mp->typeat = NULL;
  lj_memprof_cleartold(mp);
  mp->blockevents =
      mp->nevents[LJM_ALLOC] + mp->nevents[LJM_FREE] + mp->nevents[LJM_REALLOC];
  if (mp->format == LUAM_PROF_COMPACT)
    event_mark(mp, mp->seen);
}

/* Writes out the buffer. The writer may call the VM: it is not recorded. */
void lj_memprof_write(MPState *mp)
{
  MPHook *h = mp->hook;
  MPState *active = h->mp;
  h->mp = NULL;
  lj_wbuf_flush(&mp->buf, mp->blockevents);
  h->mp = active;
}

/* Writes out the buffer and begins the next block. */
void lj_memprof_flush(MPState *mp)
{
  lj_memprof_write(mp);
  mp->flushed = mp->seen;
  lj_memprof_beginblock(mp);
  mp->softref = mp->buf.soft = mp->buf.p;
}

/*
** Chooses when to look at the clock again: after as many bytes as were lately
** written in MP_LOOK_EVERY. A look costs what ten events do, so there are many
** events between two looks when they come fast, and none when they are slow.
*/
static void event_setsoft(MPState *mp, uint64_t now)
{
  MPBuf *b = &mp->buf;
  uint64_t time = now - mp->seen;
  uint32_t step = 2 * mp->step + MP_LOOK_MIN;
  if (time > MP_LOOK_EVERY / 2)
    step = (uint32_t)((uint64_t)(b->p - mp->softref) * MP_LOOK_EVERY / time);
  mp->step = step < MP_LOOK_MAX ? step : MP_LOOK_MAX;
  mp->softref = b->p;
  b->soft = (size_t)(b->hard - b->p) > mp->step ? b->p + mp->step : b->hard;
}

/*
** Before an event: marks the time, writes a full buffer, ends a recording that
** is over. The VM has taken what it is about to free off its count already, so
** the end waits for another event.
*/
void lj_memprof_look(MPHook *h, MPState *mp, int isfree)
{
  uint64_t now = lj_memprof_now();
  uint64_t marks =
      mp->format == LUAM_PROF_COMPACT ? MP_MARK_EVERY : MP_FLUSH_EVERY;
  MPBuf *b = &mp->buf;
  int full = b->p >= b->hard;
  event_setsoft(mp, now);
  mp->seen = now;
  if (full || now - mp->flushed >= MP_FLUSH_EVERY) {
    lj_memprof_setthread(h);
    lj_memprof_flush(mp);
    if (b->error) /* Nothing can be told any more. */
      h->mp = NULL;
  } else if (now - mp->marked >= marks) {
    event_mark(mp, now);
  }
  if (mp->end != 0 && now >= mp->end && !isfree)
    h->over(h);
}

/* -- Types ---------------------------------------------------------------- */

/* The type of a block that the VM does not keep as its newest object. */
static LJ_NOINLINE int event_raretype(const global_State *g, const GCobj *o,
                                      size_t size)
{
  const GCobj *root = gcref(g->gc.root);
  if (gcref(g->uvhead.next) == o)
    return ~LJ_TUPVAL;
  if (gcref(mainthread(g)->nextgc) == o)
    return ~LJ_TUDATA;
  if (root != NULL && root->gch.gct == ~LJ_TTAB) {
    if (mref(root->tab.array, const GCobj) == o)
      return LJM_TYPE_ARRAY;
    if (noderef(root->tab.node) == (const void *)o)
      return LJM_TYPE_HASH;
  }
  /* Cdata that is aligned, or of variable size, begins inside of its block. */
  if (root != NULL && root->gch.gct == ~LJ_TCDATA &&
      (uintptr_t)root - (uintptr_t)o < size)
    return ~LJ_TCDATA;
#if LJ_HASJIT
  if (lj_memprof_istrace(o, size))
    return ~LJ_TTRACE;
#endif
  /* Nothing else that is no object has the size of a hash part. */
  if (size % sizeof(Node) == 0 &&
      ((size / sizeof(Node)) & (size / sizeof(Node) - 1)) == 0)
    return LJM_TYPE_HASH;
  return LJM_TYPE_OTHER;
}

/* The type of what was allocated last. */
static LJ_AINLINE int event_type(const global_State *g, const GCobj *o,
                                 size_t size)
{
  if (LJ_LIKELY(o == gcref(g->gc.root)))
    return o->gch.gct;
  if (size > sizeof(GCstr) && o->gch.gct == ~LJ_TSTR &&
      size == lj_str_size(o->str.len))
    return ~LJ_TSTR;
  return event_raretype(g, o, size);
}

/* -- Events --------------------------------------------------------------- */

/* Appends an address, told relative to another one. Both are turned. */
static LJ_AINLINE uint8_t *event_putaddr(uint8_t *p, uint64_t addr,
                                         uint64_t from)
{
  return lj_wbuf_putuleb(p, ljm_zigzag(addr - from));
}

/* Appends an allocation or a deallocation. */
static LJ_AINLINE void event_put(MPState *mp, int kind, uint32_t site,
                                 const void *ptr, uint64_t size)
{
  MPLast *last = &mp->last[kind];
  uint64_t addr = ljm_turn((uint64_t)(uintptr_t)ptr);
  uint8_t *h = mp->buf.p, *p = h + 1;
  int header = kind | LJM_SAMESITE | LJM_SAMESIZE;
  if (site != last->site) {
    header &= ~LJM_SAMESITE;
    p = lj_wbuf_putuleb(p, site);
    last->site = site;
  }
  p = event_putaddr(p, addr, last->addr);
  last->addr = addr;
  if (size != last->size) {
    header &= ~LJM_SAMESIZE;
    p = lj_wbuf_putuleb(p, size);
    last->size = size;
  }
  *h = (uint8_t)header;
  if (kind == LJM_ALLOC)
    mp->typeat = h;
  mp->buf.p = p;
}

/* Appends a reallocation. */
static LJ_AINLINE void event_putrealloc(MPState *mp, uint32_t site,
                                        const void *optr, uint64_t osize,
                                        const void *nptr, uint64_t nsize)
{
  MPLast *last = &mp->last[LJM_REALLOC];
  uint64_t oaddr = ljm_turn((uint64_t)(uintptr_t)optr);
  uint64_t naddr = ljm_turn((uint64_t)(uintptr_t)nptr);
  uint8_t *h = mp->buf.p, *p = h + 1;
  int header = LJM_REALLOC | LJM_SAMESITE | LJM_INPLACE;
  if (site != last->site) {
    header &= ~LJM_SAMESITE;
    p = lj_wbuf_putuleb(p, site);
    last->site = site;
  }
  p = event_putaddr(p, oaddr, mp->last[LJM_ALLOC].addr);
  if (naddr != oaddr) {
    header &= ~LJM_INPLACE;
    p = event_putaddr(p, naddr, oaddr);
  }
  mp->last[LJM_ALLOC].addr = naddr;
  p = lj_wbuf_putuleb(p, osize);
  p = lj_wbuf_putuleb(p, nsize);
  *h = (uint8_t)header;
  mp->buf.p = p;
}

/* -- The allocator's wrapper ---------------------------------------------- */

/* The site of what the VM is about to do. */
static LJ_AINLINE uint32_t event_site(MPState *mp)
{
  /* Most deallocations come from the garbage collector. */
  return mp->g->vmstate == ~LJ_VMST_GC ? LJM_SITE_INTERNAL
                                       : lj_memprof_where(mp);
}

/* The same for what has callers: they are told. */
static LJ_AINLINE uint32_t event_callers(MPState *mp)
{
  uint32_t site = event_site(mp);
  if (mp->stack != NULL && site > LJM_SITE_UNKNOWN)
    lj_memprof_stack(mp);
  return site;
}

/* What was allocated last has been filled in: tells its type and name. */
static LJ_AINLINE void event_complete(MPState *mp)
{
  GCobj *o = mp->newest;
  if (o != NULL) {
    int type = event_type(mp->g, o, mp->last[LJM_ALLOC].size);
    mp->newest = NULL;
    if (LJ_LIKELY(mp->typeat != NULL))
      *mp->typeat |= (uint8_t)(type << LJM_TYPE_SHIFT);
    mp->typeat = NULL;
    if (LJ_UNLIKELY(type == ~LJ_TPROTO))
      lj_memprof_namechildren(mp, gco2pt(o));
  }
}

/* True if a block of memory may hold code that the recorder knows. */
static LJ_AINLINE int event_iscode(const void *ptr, size_t size)
{
  uint8_t gct = size > sizeof(GChead) ? ((const GChead *)ptr)->gct : 0;
  return gct == ~LJ_TPROTO || gct == ~LJ_TTRACE;
}

/* Not being recorded any more, or for as long as the writer is at work. */
static LJ_NOINLINE void *event_pass(MPHook *h, void *ptr, size_t osize,
                                    size_t nsize)
{
  if (h->rec != NULL && h->rec->buf.writing && (ptr != NULL || nsize != 0))
    h->rec->lost++; /* What the writer does cannot be told to it. */
  return h->allocf(h->allocd, ptr, osize, nsize);
}

static LJ_NOINLINE void *event_free(MPHook *h, MPState *mp, void *ptr,
                                    size_t osize)
{
  uint32_t site;
  if (LJ_UNLIKELY(event_iscode(ptr, osize)))
    lj_memprof_forget(mp, ptr, osize);
  site = event_site(mp);
  if (LJ_LIKELY(mp->format == LUAM_PROF_COMPACT))
    event_put(mp, LJM_FREE, site, ptr, osize);
  else
    lj_memprof_oldevent(mp, LJM_FREE, site, ptr, osize, NULL, 0);
  mp->nevents[LJM_FREE]++;
  mp->bytesout += osize;
  return h->allocf(h->allocd, ptr, osize, 0);
}

static LJ_NOINLINE void *event_realloc(MPHook *h, MPState *mp, void *ptr,
                                       size_t osize, size_t nsize)
{
  /* The VM may not be walked any more after the block has moved. */
  uint32_t site = event_callers(mp);
  void *p = h->allocf(h->allocd, ptr, osize, nsize);
  if (LJ_UNLIKELY(p == NULL))
    return NULL;
  if (LJ_LIKELY(mp->format == LUAM_PROF_COMPACT))
    event_putrealloc(mp, site, ptr, osize, p, nsize);
  else
    lj_memprof_oldevent(mp, LJM_REALLOC, site, ptr, osize, p, nsize);
  mp->nevents[LJM_REALLOC]++;
  mp->bytesout += osize;
  mp->bytesin += nsize;
  return p;
}

static LJ_NOINLINE void *event_alloc(MPHook *h, MPState *mp, size_t nsize)
{
  uint32_t site = event_callers(mp);
  void *p = h->allocf(h->allocd, NULL, 0, nsize);
  if (LJ_UNLIKELY(p == NULL))
    return NULL;
  if (LJ_LIKELY(mp->format == LUAM_PROF_COMPACT)) {
    event_put(mp, LJM_ALLOC, site, p, nsize);
    mp->newest = (GCobj *)p;
  } else {
    lj_memprof_oldevent(mp, LJM_ALLOC, site, NULL, 0, p, nsize);
  }
  mp->nevents[LJM_ALLOC]++;
  mp->bytesin += nsize;
  return p;
}

/* Takes the place of a VM's allocator while it is being profiled. */
void *lj_memprof_allocf(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPHook *h = (MPHook *)ud;
  MPState *mp = h->mp;
  if (LJ_UNLIKELY(mp == NULL))
    return event_pass(h, ptr, osize, nsize);
  event_complete(mp);
  if (LJ_UNLIKELY(mp->buf.p >= mp->buf.soft)) {
    lj_memprof_look(h, mp, nsize == 0);
    if (h->mp == NULL)
      return event_pass(h, ptr, osize, nsize);
  }
  if (ptr == NULL)
    return nsize ? event_alloc(h, mp, nsize) : NULL;
  if (nsize == 0)
    return event_free(h, mp, ptr, osize);
  return event_realloc(h, mp, ptr, osize, nsize);
}

#endif

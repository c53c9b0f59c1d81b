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

#include "lj_dispatch.h"
#include "lj_memprof_put.h"
#include "lj_memprof_same.h"
#include "lj_memprof_where.h"
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

/* Begins a block: the registers are zero, and the time is recorded. */
void lj_memprof_beginblock(MPState *mp)
{
  memset(mp->last, 0, sizeof(mp->last));
  memset(mp->allocsize, 0, sizeof(mp->allocsize));
  memset(mp->freesize, 0, sizeof(mp->freesize));
  lj_memprof_clearsent(mp);
  mp->blockevents =
      mp->nevents[LJM_ALLOC] + mp->nevents[LJM_FREE] + mp->nevents[LJM_REALLOC];
  if (mp->format == LUAM_PROF_COMPACT)
    event_mark(mp, mp->seen);
}

/*
** Writes out the buffer. The writer may call the VM: it is not recorded.
** Returns 0 if it has to be tried again later, which it must not.
*/
int lj_memprof_write(MPState *mp, int must)
{
  MPHook *h = mp->hook;
  MPState *active = lj_memprof_active(h);
  int done;
  if (mp->detached) /* The VM runs on by itself. */
    return lj_wbuf_flush(&mp->buf, mp->blockevents, must);
  lj_memprof_setactive(h, NULL);
  h->writing = mp;
  done = lj_wbuf_flush(&mp->buf, mp->blockevents, must);
  h->writing = NULL;
  lj_memprof_setactive(h, active);
  return done;
}

/* Says how many bytes from here it is time for a look. */
static void event_setsoft(MPState *mp, uint32_t step)
{
  MPBuf *b = &mp->buf;
  mp->softref = b->p;
  b->soft = b->p + step;
  if (b->soft > b->hard)
    b->soft = b->hard;
}

/* Writes out the buffer, if it can be, and begins the next block. */
static void event_flush(MPState *mp, int must)
{
  int done = lj_memprof_write(mp, must);
  mp->flushed = mp->seen;
  if (done)
    lj_memprof_beginblock(mp);
  event_setsoft(mp, 1); /* The next event is free to go. */
}

/* Writes out the buffer and begins the next block. */
void lj_memprof_flush(MPState *mp)
{
  event_flush(mp, 1);
}

/*
** Chooses when to look at the clock again: after as many bytes as were lately
** written in MP_LOOK_EVERY. A look costs what ten events do, so there are many
** events between two looks when they come fast, and none when they are slow.
*/
static uint32_t event_step(MPState *mp, uint64_t now)
{
  uint64_t time = now - mp->seen;
  uint64_t step = 2 * (uint64_t)mp->step + MP_LOOK_MIN;
  if (time > MP_LOOK_EVERY / 2)
    step = (uint64_t)(mp->buf.p - mp->softref) * MP_LOOK_EVERY / time;
  mp->step = (uint32_t)(step < MP_LOOK_MAX ? step : MP_LOOK_MAX);
  return mp->step > 0 ? mp->step : 1;
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
  uint32_t step = event_step(mp, now);
  mp->seen = now;
  if (mp->buf.p >= mp->buf.hard || now - mp->flushed >= MP_FLUSH_EVERY) {
    event_flush(mp, mp->buf.p >= mp->buf.hard);
    if (mp->buf.error) /* Nothing can be recorded any more. */
      lj_memprof_setactive(h, NULL);
  } else {
    if (now - mp->marked >= marks)
      event_mark(mp, now);
    event_setsoft(mp, step);
  }
  if (mp->end != 0 && now >= mp->end && !isfree)
    h->over(h);
}

/* -- Types ---------------------------------------------------------------- */

#define EVENT_BEHIND 8 /* No more objects than these come to the front. */

/*
** The type of a block that is one of the first objects of a list, or 0.
** Upvalues that are closed, and what is to be finalized, get in front of it
** without an allocation. Cdata that is aligned, or of variable size, begins
** inside of its block.
*/
static int event_newtype(const GCobj *p, const GCobj *o, size_t size)
{
  int n = EVENT_BEHIND;
  for (; p != NULL && n-- > 0; p = gcref(p->gch.nextgc))
    if (p == o ||
        (p->gch.gct == ~LJ_TCDATA && (uintptr_t)p - (uintptr_t)o < size))
      return p->gch.gct;
  return 0;
}

#define EVENT_NODES 8 /* So many nodes distinguish a hash part. */

/*
** True if a block of memory is a hash part, by its size and by what is in it.
** An array part that has left its table may have the same size.
*/
static int event_ishash(const void *p, size_t size)
{
  const Node *node = (const Node *)p;
  size_t n = size / sizeof(Node), i;
  if (size % sizeof(Node) != 0 || n < 2 || (n & (n - 1)) != 0)
    return 0;
#if !LJ_GC64
  /* The first one knows which of them are free. */
  if ((uintptr_t)mref(node->freetop, char) - (uintptr_t)p - 1 >= size)
    return 0;
#endif
  for (i = 0; i < n && i < EVENT_NODES; i++) {
    const Node *next = nextnode(&node[i]);
    uintptr_t ofs = (uintptr_t)next - (uintptr_t)p;
    if (next != NULL && (ofs >= size || ofs % sizeof(Node) != 0))
      return 0;
    /* No key comes twice, as numbers in an array do. */
    if (i > 0 && !tvisnil(&node[i].key) && node[i].key.u64 == node[0].key.u64)
      return 0;
  }
  return 1;
}

/* True if a block is a string that the VM has just interned. */
static LJ_AINLINE int event_isstr(const global_State *g, const GCobj *o,
                                  size_t size)
{
  /* Memory that was not written yet may look as one, but is no chain's head. */
  return size > sizeof(GCstr) && o->gch.gct == ~LJ_TSTR &&
         size == lj_str_size(o->str.len) &&
         (gcrefu(g->str.tab[o->str.hash & g->str.mask]) & ~(uintptr_t)1) ==
             (uintptr_t)o;
}

/*
** The type of a block that is where most are to be found, or 0: the VM's
** newest object, or a part of it, or the one before it.
*/
static LJ_AINLINE int event_usualtype(const global_State *g, const GCobj *o,
                                      size_t size)
{
  const GCobj *root = gcref(g->gc.root);
  if (LJ_LIKELY(o == root))
    return o->gch.gct;
  if (o == gcref(g->uvhead.next))
    return ~LJ_TUPVAL;
  if (event_isstr(g, o, size))
    return ~LJ_TSTR;
  if (LJ_UNLIKELY(root == NULL))
    return 0;
  if (o == gcref(root->gch.nextgc)) /* An upvalue was closed. */
    return o->gch.gct;
  if (root->gch.gct == ~LJ_TTAB) {
    if (noderef(root->tab.node) == (const void *)o)
      return LJM_TYPE_HASH;
    if (mref(root->tab.array, const GCobj) == o)
      return LJM_TYPE_ARRAY;
  }
  return 0;
}

#if LJ_HASJIT
/* True if what looks as a trace is one of the VM's. */
static int event_islisted(const MPState *mp, const GCobj *o)
{
  const jit_State *J = G2J(mp->g);
  TraceNo no = ((const GCtrace *)(const void *)o)->traceno;
  return no < J->sizetrace && gcref(J->trace[no]) == o;
}
#endif

/* The type of any other block that the VM has listed, or 0. */
static int event_raretype(const MPState *mp, const GCobj *o, size_t size)
{
  const global_State *g = mp->g;
  int type = event_newtype(gcref(g->gc.root), o, size);
  if (type == 0) /* Userdata are behind the main thread, as is all else. */
    type = event_newtype(gcref(mainthread(g)->nextgc), o, size);
#if LJ_HASJIT
  /* The compiler has it at hand, or has it listed. */
  if (type == 0 && (o == (const GCobj *)(const void *)G2J(g)->curfinal ||
                    (lj_memprof_istrace(o, size) && event_islisted(mp, o))))
    return ~LJ_TTRACE;
#endif
  return type;
}

/* The type of what no list has, by its looks. The VM has no use for tables. */
static int event_looktype(const MPState *mp, const GCobj *o, size_t size)
{
  return mp->last[LJM_ALLOC].site != LJM_SITE_INTERNAL && event_ishash(o, size)
             ? LJM_TYPE_HASH
             : LJM_TYPE_OTHER;
}

/* In place of the newest block: the last event may be foreign. */
#define EVENT_WAITS(mp) ((GCobj *)(void *)(mp))

/* The last event is complete when it is known whether it is foreign. */
static void event_wait(MPState *mp, const MPChange *c)
{
  mp->foreign.last = *c;
  mp->newest = EVENT_WAITS(mp);
  mp->newestsize = 0; /* No type has that. */
}

/* Settles whose the last event was. The current one frees ptr, or size is 0. */
static LJ_AINLINE void event_settle(MPState *mp, const void *ptr, size_t size)
{
  mp->newest = NULL;
  if (LJ_UNLIKELY(!mpforeign_isvm(mp, size)))
    lj_memprof_settle(mp, &mp->foreign.last, ptr, size);
}

/*
** The type of what was allocated last, where it is none of the usual ones. The
** current event frees ptr, or else size is 0.
*/
static LJ_AINLINE int event_othertype(MPState *mp, GCobj *o, const void *ptr,
                                      size_t size)
{
  int type = event_raretype(mp, o, (size_t)mp->newestsize);
  if (type != 0)
    return type;
  if (!mpforeign_isvm(mp, size) && lj_memprof_settlealloc(mp, ptr, size))
    return LJM_TYPE_FOREIGN;
  return event_looktype(mp, o, (size_t)mp->newestsize);
}

/*
** What was allocated last has been filled in: records its type and name. The
** current event frees ptr, or else size is 0.
*/
static LJ_NOINLINE void event_complete(MPState *mp, const void *ptr,
                                       size_t size)
{
  GCobj *o = mp->newest;
  if (o == EVENT_WAITS(mp)) {
    event_settle(mp, ptr, size);
  } else if (o != NULL) {
    int type = event_usualtype(mp->g, o, mp->newestsize);
    if (type == 0)
      type = event_othertype(mp, o, ptr, size);
    mp->newest = NULL;
    *mp->typeat |= (uint8_t)(type << LJM_TYPE_SHIFT);
    if (type == ~LJ_TPROTO)
      lj_memprof_namechildren(mp, gco2pt(o));
  }
}

/* The same, if no block is about to be freed. */
void lj_memprof_complete(MPState *mp)
{
  event_complete(mp, NULL, 0);
}

/*
** The same without a call, if it is that easy; else 0, and nothing is done. It
** stays the newest: the caller sets another one.
*/
static LJ_AINLINE int event_completeusual(const MPState *mp,
                                          const global_State *g)
{
  const GCobj *o = mp->newest;
  int type;
  if (LJ_UNLIKELY(o == NULL))
    return 1;
  type = event_usualtype(g, o, mp->newestsize);
  if (LJ_UNLIKELY(type == 0 || type == ~LJ_TPROTO))
    return o == EVENT_WAITS(mp) && mpforeign_isvm(mp, 0);
  *mp->typeat |= (uint8_t)(type << LJM_TYPE_SHIFT);
  return 1;
}

/* -- The allocator's wrappers --------------------------------------------- */

/*
** What a wrapper has to do is known when a recording starts, so there is one
** for each: the usual one looks for nothing else.
*/
enum {
  EVENT_TOP,  /* Compact format, top locations only. */
  EVENT_FULL, /* Compact format, stacks. */
  EVENT_OLD   /* One of the old formats. */
};

/* Not being recorded any more, or for as long as the writer is at work. */
void *lj_memprof_pass(MPHook *h, void *ptr, size_t osize, size_t nsize)
{
  if (h->writing == NULL)
    lj_memprof_leave(h);
  else if (ptr != NULL || nsize != 0)
    h->writing->lost++; /* What the writer does cannot be recorded. */
  return h->allocf(h->allocd, ptr, osize, nsize);
}

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
  lj_memprof_complete(mp);
  site = event_site(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (p == NULL)
    return event_nothing(mp->hook);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_ALLOC, site, NULL, 0, p, nsize);
  else
    mpput_alloc(mp, site, p, nsize);
  mp->nevents[LJM_ALLOC]++;
  mp->bytesin += nsize;
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
  if (mode == EVENT_OLD || LJ_UNLIKELY(!event_completeusual(mp, g)))
    return event_rarealloc(h, mp, nsize);
  c = mpwhere_known(mp, g, mode == EVENT_FULL);
  if (LJ_UNLIKELY(c == NULL)) {
    mp->newest = NULL;
    return event_rarealloc(h, mp, nsize);
  }
  site = c->site;
  if (mode == EVENT_FULL && LJ_UNLIKELY(!mpsame_stack(mp)))
    lj_memprof_stack(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (LJ_UNLIKELY(p == NULL)) {
    mp->newest = NULL;
    return event_nothing(mp->hook);
  }
  mpput_alloc(mp, site, p, nsize);
  mp->nevents[LJM_ALLOC]++;
  mp->bytesin += nsize;
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
  if (LJ_UNLIKELY(known != 0))
    lj_memprof_foreign(mp, &c);
  else
    event_wait(mp, &c);
  return c.osize;
}

/* A reallocation. */
static LJ_NOINLINE void *event_realloc(MPHook *h, void *ptr, size_t osize,
                                       size_t nsize)
{
  MPState *mp = h->rec;
  uint32_t site;
  void *p;
  lj_memprof_complete(mp);
  /* The VM may not be walked any more after the block has moved. */
  site = event_site(mp);
  p = h->allocf(h->allocd, ptr, osize, nsize);
  if (LJ_UNLIKELY(p == NULL))
    return event_nothing(mp->hook);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_REALLOC, site, ptr, osize, p, nsize);
  else
    osize = event_putrealloc(mp, site, ptr, osize, p, nsize);
  mp->nevents[LJM_REALLOC]++;
  mp->bytesout += osize;
  mp->bytesin += nsize;
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
      event_wait(mp, &c);
  }
  return osize;
}

/* Any deallocation. */
static LJ_NOINLINE void *event_rarefree(MPHook *h, void *ptr, size_t osize)
{
  MPState *mp = h->rec;
  size_t size = osize;
  uint32_t site;
  event_complete(mp, ptr, osize);
  if (mpwhere_iscode(ptr, osize))
    lj_memprof_forget(mp, ptr, osize);
  site = lj_memprof_where(mp);
  if (mp->format != LUAM_PROF_COMPACT)
    lj_memprof_oldevent(mp, LJM_FREE, site, ptr, osize, NULL, 0);
  else
    size = event_putfree(mp, site, ptr, osize);
  mp->nevents[LJM_FREE]++;
  mp->bytesout += size;
  lj_memprof_leave(h);
  return h->allocf(h->allocd, ptr, osize, 0);
}

/* A deallocation by the garbage collector, of another size than the last. */
static LJ_NOINLINE void *event_gcfree(MPHook *h, void *ptr, size_t osize)
{
  MPState *mp = h->rec;
  if (LJ_UNLIKELY(mpwhere_iscode(ptr, osize)))
    return event_rarefree(h, ptr, osize);
  mpput_free(mp, LJM_SITE_INTERNAL, ptr, osize);
  mp->nevents[LJM_FREE]++;
  mp->bytesout += osize;
  lj_memprof_leave(h);
  return h->allocf(h->allocd, ptr, osize, 0);
}

/*
** A deallocation. Most come from the garbage collector, one after another, and
** of a size that mpput_free() has recorded before; then it is no code.
*/
static LJ_AINLINE void *event_free(MPHook *h, MPState *mp, void *ptr,
                                   size_t osize, int mode)
{
  if (mode == EVENT_OLD ||
      LJ_UNLIKELY(mp->newest != NULL || mp->g->vmstate != ~LJ_VMST_GC ||
                  mp->last[LJM_FREE].site != LJM_SITE_INTERNAL))
    return event_rarefree(h, ptr, osize);
  if (!mpput_freesame(mp, ptr, osize))
    return event_gcfree(h, ptr, osize);
  mp->nevents[LJM_FREE]++;
  mp->bytesout += osize;
  lj_memprof_leave(h);
  return h->allocf(h->allocd, ptr, osize, 0);
}

/* Before an event, when it is time to look at the clock and the buffer. */
static LJ_NOINLINE void *event_late(MPHook *h, void *ptr, size_t osize,
                                    size_t nsize)
{
  /* The last event may be about to be written. */
  event_complete(h->rec, nsize == 0 ? ptr : NULL, nsize == 0 ? osize : 0);
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

/* What takes the place of the VM's allocator for a recording. */
lua_Alloc lj_memprof_wrapper(const MPState *mp)
{
  if (mp->format != LUAM_PROF_COMPACT)
    return event_old;
  if (mp->sample != NULL)
    return lj_memprof_sampled;
  return mp->stack != NULL ? event_full : event_top;
}

/* True if an allocator is one of the recorder's. */
int lj_memprof_iswrapper(lua_Alloc allocf)
{
  return allocf == event_top || allocf == event_full || allocf == event_old ||
         allocf == lj_memprof_sampled;
}

#endif

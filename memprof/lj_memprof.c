/*
** Memory profiler: the recorder's life, the allocator's wrapper, the events.
**
** A recording is found by its VM. What the VM's allocator slot points to is a
** small hook that stays valid until lua_close(), so that a host that cached
** the pair of lua_getallocf() can go on using it after the recording's end.
*/

#define lj_memprof_c
#define LUA_CORE

#include "lj_memprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef LUAJIT_DISABLE_MEMPROF

#include <signal.h>
#include <unistd.h>

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#include <pthread.h>
typedef pthread_t MPThread;
#define memprof_self() pthread_self()
#else
typedef int MPThread;
#define memprof_self() 0
#endif

/* -- Hooks of all VMs ----------------------------------------------------- */

/* The allocator's user data while a VM is, or was, being profiled. */
typedef struct MPHook {
  MPState *mp;      /* Set while events are taken. */
  lua_Alloc allocf; /* The allocator below. */
  void *allocd;
  MPState *rec;        /* Set from a start to its stop; under the lock. */
  global_State *g;     /* The VM. */
  struct MPHook *next; /* List of all hooks; under the lock. */
  MPThread thread;     /* The thread that last wrote. */
  long pid;            /* The process that started. */
  int atexit;          /* End the recording when the process exits. */
} MPHook;

static MPHook *memprof_hooks; /* Under the lock. */

#ifndef LUAJIT_DISABLE_THREAD_SAFE
static pthread_mutex_t memprof_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t memprof_once = PTHREAD_ONCE_INIT;

static void memprof_lock(void)
{
  pthread_mutex_lock(&memprof_mutex);
}

static void memprof_unlock(void)
{
  pthread_mutex_unlock(&memprof_mutex);
}

/* A fork must not leave the lock in the hands of a thread that is gone. */
static void memprof_init(void)
{
  pthread_atfork(memprof_lock, memprof_unlock, memprof_unlock);
}

#define memprof_initonce() pthread_once(&memprof_once, memprof_init)
#else
#define memprof_lock()     ((void)0)
#define memprof_unlock()   ((void)0)
#define memprof_initonce() ((void)0)
#endif

/* Remembers which thread runs the VM. */
static void memprof_setthread(MPHook *h)
{
  __atomic_store_n(&h->thread, memprof_self(), __ATOMIC_RELAXED);
}

/* True if this thread runs the VM. Others may ask, when the process exits. */
static int memprof_isthread(const MPHook *h)
{
  return __atomic_load_n(&h->thread, __ATOMIC_RELAXED) == memprof_self();
}

/* The hook of a VM's recording, or NULL. Call with the lock held. */
static MPHook *memprof_find(const global_State *g)
{
  MPHook *h;
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (h->g == g && h->rec != NULL)
      return h;
  return NULL;
}

/* -- Events --------------------------------------------------------------- */

static LJ_NOINLINE void memprof_look(MPHook *h, MPState *mp, int kind,
                                     int64_t pending);

/* Appends an address, told relative to another one. Both are turned. */
static LJ_AINLINE uint8_t *memprof_putaddr(uint8_t *p, uint64_t addr,
                                           uint64_t from)
{
  return lj_wbuf_putuleb(p, ljm_zigzag(addr - from));
}

/* Appends an allocation or a deallocation. */
static LJ_AINLINE void memprof_put(MPState *mp, int kind, uint32_t site,
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
  p = memprof_putaddr(p, addr, last->addr);
  last->addr = addr;
  if (size != last->size) {
    header &= ~LJM_SAMESIZE;
    p = lj_wbuf_putuleb(p, size);
    last->size = size;
  }
  *h = (uint8_t)header;
  mp->buf.p = p;
}

/* Appends a reallocation. */
static LJ_AINLINE void memprof_putrealloc(MPState *mp, uint32_t site,
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
  p = memprof_putaddr(p, oaddr, mp->last[LJM_ALLOC].addr);
  if (naddr != oaddr) {
    header &= ~LJM_INPLACE;
    p = memprof_putaddr(p, naddr, oaddr);
  }
  mp->last[LJM_ALLOC].addr = naddr;
  p = lj_wbuf_putuleb(p, osize);
  p = lj_wbuf_putuleb(p, nsize);
  *h = (uint8_t)header;
  mp->buf.p = p;
}

/* Counts an event and looks at the clock and the buffer, when it is time. */
static LJ_AINLINE void memprof_count(MPHook *h, MPState *mp, int kind,
                                     size_t osize, size_t nsize)
{
  mp->nevents[kind]++;
  mp->bytesout += osize;
  mp->bytesin += nsize;
  if (LJ_UNLIKELY(mp->buf.p >= mp->buf.soft))
    memprof_look(h, mp, kind, (int64_t)(nsize - osize));
}

/* Takes down one call of the allocator. */
static LJ_AINLINE void memprof_event(MPHook *h, MPState *mp, int kind,
                                     uint32_t site, const void *optr,
                                     size_t osize, const void *nptr,
                                     size_t nsize)
{
  if (LJ_LIKELY(mp->format == LUAM_PROF_COMPACT)) {
    if (kind == LJM_REALLOC)
      memprof_putrealloc(mp, site, optr, osize, nptr, nsize);
    else
      memprof_put(mp, kind, site, kind == LJM_ALLOC ? nptr : optr,
                  kind == LJM_ALLOC ? nsize : osize);
  } else {
    lj_memprof_oldevent(mp, kind, site, optr, osize, nptr, nsize);
  }
  memprof_count(h, mp, kind, osize, nsize);
}

/* -- The allocator's wrapper ---------------------------------------------- */

/* The site of what the VM is about to do. */
static LJ_AINLINE uint32_t memprof_site(MPState *mp)
{
  /* Most deallocations come from the garbage collector. */
  return mp->g->vmstate == ~LJ_VMST_GC ? LJM_SITE_INTERNAL
                                       : lj_memprof_where(mp);
}

/* Names the functions of code that has just been loaded. */
static LJ_AINLINE void memprof_newest(MPState *mp)
{
  GCobj *o = gcref(mp->g->gc.root);
  /* A proto is complete when something is allocated after it. */
  if (LJ_UNLIKELY(o->gch.gct == ~LJ_TPROTO) && o != mp->newest) {
    mp->newest = o;
    lj_memprof_namechildren(mp, gco2pt(o));
  }
}

/* True if a block of memory may hold code that the recorder knows. */
static LJ_AINLINE int memprof_iscode(const void *ptr, size_t size)
{
  uint8_t gct = size > sizeof(GChead) ? ((const GChead *)ptr)->gct : 0;
  return gct == ~LJ_TPROTO || gct == ~LJ_TTRACE;
}

/* Not being recorded any more, or for as long as the writer is at work. */
static LJ_NOINLINE void *memprof_pass(MPHook *h, void *ptr, size_t osize,
                                      size_t nsize)
{
  if (h->rec != NULL && h->rec->buf.writing && (ptr != NULL || nsize != 0))
    h->rec->lost++; /* What the writer does cannot be told to it. */
  return h->allocf(h->allocd, ptr, osize, nsize);
}

static LJ_NOINLINE void *memprof_free(MPHook *h, MPState *mp, void *ptr,
                                      size_t osize)
{
  if (LJ_UNLIKELY(memprof_iscode(ptr, osize)))
    lj_memprof_forget(mp, ptr, osize);
  memprof_event(h, mp, LJM_FREE, memprof_site(mp), ptr, osize, NULL, 0);
  return h->allocf(h->allocd, ptr, osize, 0);
}

static LJ_NOINLINE void *memprof_resize(MPHook *h, MPState *mp, void *ptr,
                                        size_t osize, size_t nsize)
{
  /* The VM may not be walked any more after the block has moved. */
  uint32_t site = memprof_site(mp);
  void *p = h->allocf(h->allocd, ptr, osize, nsize);
  if (LJ_LIKELY(p != NULL))
    memprof_event(h, mp, LJM_REALLOC, site, ptr, osize, p, nsize);
  return p;
}

static LJ_NOINLINE void *memprof_alloc(MPHook *h, MPState *mp, size_t nsize)
{
  uint32_t site;
  void *p;
  memprof_newest(mp);
  site = memprof_site(mp);
  p = h->allocf(h->allocd, NULL, 0, nsize);
  if (LJ_LIKELY(p != NULL))
    memprof_event(h, mp, LJM_ALLOC, site, NULL, 0, p, nsize);
  return p;
}

/* Takes the place of a VM's allocator while it is being profiled. */
static void *memprof_allocf(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPHook *h = (MPHook *)ud;
  MPState *mp = h->mp;
  if (LJ_UNLIKELY(mp == NULL))
    return memprof_pass(h, ptr, osize, nsize);
  if (ptr == NULL)
    return nsize ? memprof_alloc(h, mp, nsize) : NULL;
  if (nsize == 0)
    return memprof_free(h, mp, ptr, osize);
  return memprof_resize(h, mp, ptr, osize, nsize);
}

/* -- Blocks and time ------------------------------------------------------ */

#define MP_MS          U64x(00000000, 000f4240) /* Nanoseconds. */
#define MP_MARK_EVERY  (10 * MP_MS)
#define MP_FLUSH_EVERY (1000 * MP_MS)
#define MP_LOOK_EVERY  (2 * MP_MS)
#define MP_LOOK_MIN    8 /* Bytes of events between two looks. */
#define MP_LOOK_MAX    1024

/* All events so far. */
static uint64_t memprof_total(const MPState *mp)
{
  return mp->nevents[LJM_ALLOC] + mp->nevents[LJM_FREE] +
         mp->nevents[LJM_REALLOC];
}

/* Appends a time mark. */
static void memprof_mark(MPState *mp, uint64_t now)
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
static void memprof_beginblock(MPState *mp)
{
  memset(mp->last, 0, sizeof(mp->last));
  mp->blockevents = memprof_total(mp);
  if (mp->format == LUAM_PROF_COMPACT)
    memprof_mark(mp, mp->seen);
}

/* Writes out the buffer. The writer may call the VM: it is not recorded. */
static void memprof_write(MPState *mp)
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
  memprof_write(mp);
  mp->flushed = mp->seen;
  memprof_beginblock(mp);
  mp->softref = mp->buf.soft = mp->buf.p;
}

/*
** Chooses when to look at the clock again: after as many bytes as were lately
** written in MP_LOOK_EVERY. A look costs what ten events do, so there are many
** events between two looks when they come fast, and none when they are slow.
*/
static void memprof_setsoft(MPState *mp, uint64_t now)
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

static int memprof_end(MPHook *h, int64_t pending);

/*
** Marks the time, writes a full buffer, ends a recording that is over. The VM
** has yet to add an allocation to its count; before a deallocation there is no
** telling, so the end waits for the next event.
*/
static LJ_NOINLINE void memprof_look(MPHook *h, MPState *mp, int kind,
                                     int64_t pending)
{
  uint64_t now = lj_memprof_now();
  uint64_t marks =
      mp->format == LUAM_PROF_COMPACT ? MP_MARK_EVERY : MP_FLUSH_EVERY;
  MPBuf *b = &mp->buf;
  int full = b->p >= b->hard;
  memprof_setsoft(mp, now);
  mp->seen = now;
  if (full || now - mp->flushed >= MP_FLUSH_EVERY) {
    memprof_setthread(h);
    lj_memprof_flush(mp);
    if (b->error) /* Nothing can be told any more. */
      h->mp = NULL;
  } else if (now - mp->marked >= marks) {
    memprof_mark(mp, now);
  }
  if (mp->end != 0 && now >= mp->end && kind != LJM_FREE)
    memprof_end(h, pending);
}

/* -- Start ---------------------------------------------------------------- */

/* True if the options can be used as they are. */
static int memprof_checkoptions(const struct luam_Prof_options *opt)
{
  size_t i;
  if (opt == NULL || opt->writer == NULL || opt->on_stop == NULL)
    return 0;
  if (opt->format < LUAM_PROF_COMPACT || opt->format > LUAM_PROF_TARANTOOL)
    return 0;
  if (opt->buffer != 0 &&
      (opt->buffer < LJM_BLOCK_MIN || opt->buffer > LJM_BLOCK_MAX))
    return 0;
  if (opt->signo < 0 || opt->signo >= NSIG)
    return 0;
  if (opt->stack != 0 || opt->sample != 0 || opt->lines != 0 ||
      opt->reserved_int != 0)
    return 0;
  for (i = 0; i < sizeof(opt->reserved) / sizeof(opt->reserved[0]); i++)
    if (opt->reserved[i] != 0)
      return 0;
  return 1;
}

/* Makes the state of a recording. Returns NULL without memory. */
static MPState *memprof_new(global_State *g,
                            const struct luam_Prof_options *opt)
{
  MPState *mp = (MPState *)calloc(1, sizeof(MPState));
  size_t size = opt->buffer ? (size_t)opt->buffer : LJM_BLOCK_DEFAULT;
  if (mp == NULL)
    return NULL;
  if (!lj_wbuf_init(&mp->buf, size, opt->format == LUAM_PROF_COMPACT)) {
    free(mp);
    return NULL;
  }
  mp->g = g;
  mp->format = opt->format;
  mp->nextfunc = 1;
  mp->nextsite = LJM_SITE_FIRST;
  mp->buf.writer = opt->writer;
  mp->buf.arg = opt->arg;
  mp->on_stop = opt->on_stop;
  mp->start = mp->seen = mp->marked = mp->flushed = lj_memprof_now();
  mp->softref = mp->buf.p;
  if (opt->dursec != 0)
    mp->end = opt->dursec > (~(uint64_t)0 - mp->start) / (1000 * MP_MS)
                  ? 0
                  : mp->start + opt->dursec * 1000 * MP_MS;
  return mp;
}

/* Frees all that a recording has. */
static void memprof_delete(MPState *mp)
{
  lj_symtab_free(mp);
  lj_wbuf_free(&mp->buf);
  free(mp->oldsite);
  free(mp);
}

/* Appends bytes as they are. */
static void memprof_bytes(MPState *mp, const void *p, size_t len)
{
  memcpy(mp->buf.p, p, len);
  mp->buf.p += len;
}

/* Writes the beginning of the stream, all of it. */
static void memprof_begin(MPState *mp)
{
  static const char syms[LJM_PROLOGUE_LEN] = {'l', 'j', 's', LJM_VERSION};
  static const char body[LJM_PROLOGUE_LEN] = {'l', 'j', 'm', LJM_VERSION};
  if (mp->format != LUAM_PROF_COMPACT) {
    lj_memprof_oldbegin(mp);
    lj_memprof_flush(mp);
    return;
  }
  /* The prologues are no block: they go out without a header. */
  mp->buf.blocks = 0;
  lj_wbuf_begin(&mp->buf);
  memprof_bytes(mp, syms, sizeof(syms));
  lj_wbuf_uleb(&mp->buf, (uint64_t)(uintptr_t)mp->g);
  *mp->buf.p++ = LJM_SYM_FINAL;
  memprof_bytes(mp, body, sizeof(body));
  memprof_write(mp);
  mp->buf.blocks = 1;
  lj_wbuf_begin(&mp->buf);
  memprof_beginblock(mp);
  lj_memprof_meta(mp);
  lj_memprof_flush(mp);
  lj_memprof_nameheap(mp);
}

/*
** True if a hook can be put in the VM's slot as it is. One that wraps another
** allocator than the slot has may lie below it, if a host has cached it.
*/
static int memprof_fits(const MPHook *h, const global_State *g)
{
  return h->g == g &&
         ((g->allocf == memprof_allocf && g->allocd == (const void *)h) ||
          (g->allocf == h->allocf && g->allocd == h->allocd));
}

/*
** Reserves a hook for a VM's new recording. Returns LUAM_PROFILE_ERR if the
** VM is being profiled. Call with the lock held.
*/
static int memprof_reserve(MPState *mp, MPHook **hp)
{
  global_State *g = mp->g;
  MPHook *h = memprof_find(g);
  if (h != NULL)
    return LUAM_PROFILE_ERR;
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (memprof_fits(h, g))
      break;
  if (h == NULL) {
    h = (MPHook *)calloc(1, sizeof(MPHook));
    if (h == NULL)
      return LUAM_PROFILE_ERRMEM;
    h->g = g;
    h->allocf = g->allocf;
    h->allocd = g->allocd;
    h->next = memprof_hooks;
    memprof_hooks = h;
  }
  h->rec = mp;
  h->mp = NULL;
  h->pid = (long)getpid();
  mp->hook = h;
  *hp = h;
  return LUAM_PROFILE_SUCCESS;
}

/* Puts a hook between a VM and its allocator. */
static void memprof_install(MPHook *h, MPState *mp, int atexit)
{
  global_State *g = h->g;
  memprof_setthread(h);
  h->atexit = atexit;
  /* The writer may have used the VM since META was told. */
  if (mp->format == LUAM_PROF_COMPACT && mp->live != (uint64_t)g->gc.total)
    mp->lost++;
  h->mp = mp;
  g->allocd = h;
  g->allocf = memprof_allocf;
}

/* Ends what a fork has copied of the parent's recording of this VM. */
static void memprof_reap(const global_State *g)
{
  MPHook *h;
  memprof_lock();
  h = memprof_find(g);
  if (h != NULL && h->pid == (long)getpid())
    h = NULL;
  memprof_unlock();
  if (h != NULL)
    memprof_end(h, 0);
}

/* Starts a recording. If atexit is set it ends whole when the process exits. */
int lj_memprof_start(lua_State *L, const struct luam_Prof_options *opt,
                     int atexit)
{
  MPHook *h = NULL;
  MPState *mp;
  int status;
  if (L == NULL || !memprof_checkoptions(opt))
    return LUAM_PROFILE_ERR;
  memprof_initonce();
  memprof_reap(G(L));
  mp = memprof_new(G(L), opt);
  if (mp == NULL)
    return LUAM_PROFILE_ERRMEM;
  memprof_lock();
  status = memprof_reserve(mp, &h);
  memprof_unlock();
  if (status == LUAM_PROFILE_SUCCESS) {
    memprof_begin(mp);
    if (!mp->buf.error) {
      memprof_install(h, mp, atexit);
      return LUAM_PROFILE_SUCCESS;
    }
    memprof_lock();
    h->rec = NULL;
    memprof_unlock();
    status = LUAM_PROFILE_ERRIO;
  }
  memprof_delete(mp);
  return status;
}

/* -- Stop ----------------------------------------------------------------- */

/* Appends the books, the last record. */
static void memprof_totals(MPState *mp, int swapped, uint64_t live)
{
  MPBuf *b = &mp->buf;
  uint8_t *mark;
  if (lj_wbuf_room(b) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  mark = lj_wbuf_record(b, LJM_REC_TOTALS);
  lj_wbuf_uleb(b, (swapped ? LJM_TOTALS_SWAPPED : 0) |
                      (mp->lost ? LJM_TOTALS_LOST : 0));
  lj_wbuf_uleb(b, mp->nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, mp->nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, mp->nevents[LJM_FREE]);
  lj_wbuf_uleb(b, mp->bytesin);
  lj_wbuf_uleb(b, mp->bytesout);
  lj_wbuf_uleb(b, live);
  lj_wbuf_uleb(b, mp->lost);
  lj_wbuf_uleb(b, mp->seen - mp->start);
  lj_wbuf_recordend(b, mark);
}

/* Gives the VM its allocator back, if the slot is still ours. */
static int memprof_uninstall(MPHook *h)
{
  global_State *g = h->g;
  h->mp = NULL;
  if (g->allocf == memprof_allocf && g->allocd == (void *)h) {
    g->allocf = h->allocf;
    g->allocd = h->allocd;
    return 0;
  }
  return 1; /* A foreign allocator, which may still call us. */
}

/*
** Ends a recording: the rest of the stream, then the caller's destroyer.
** pending is what the last event will yet add to the VM's own count.
*/
static int memprof_end(MPHook *h, int64_t pending)
{
  MPState *mp = h->rec;
  int swapped = memprof_uninstall(h);
  int failed;
  mp->seen = lj_memprof_now();
  if (mp->format == LUAM_PROF_COMPACT)
    memprof_totals(mp, swapped, (uint64_t)mp->g->gc.total + pending);
  else
    *mp->buf.p++ = LJM_SYM_FINAL;
  memprof_write(mp);
  memprof_lock();
  h->rec = NULL; /* From here on, on_stop() may start the next one. */
  memprof_unlock();
  failed = mp->buf.error;
  if (mp->on_stop(mp->buf.arg) != 0)
    failed = 1;
  memprof_delete(mp);
  return failed ? LUAM_PROFILE_ERRIO : LUAM_PROFILE_SUCCESS;
}

/* True if the VM of L is being profiled by this process. */
int lj_memprof_isactive(const lua_State *L)
{
  MPHook *h;
  int active;
  memprof_lock();
  h = memprof_find(G(L));
  active = h != NULL && h->pid == (long)getpid();
  memprof_unlock();
  return active;
}

/*
** Forgets the hooks of a VM that goes away. Below a foreign allocator they are
** called until it is gone, so they stay, belonging to nobody.
*/
static void memprof_forgethooks(global_State *g)
{
  MPHook *h, **link = &memprof_hooks;
  int foreign = 0;
  /* The last one in the list is the first one that was made. */
  for (h = memprof_hooks; h != NULL; h = h->next)
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
}

/* Ends the recording of a VM that goes away. */
void lj_memprof_close(global_State *g)
{
  MPHook *h;
  memprof_lock();
  h = memprof_find(g);
  memprof_unlock();
  if (h != NULL)
    memprof_end(h, 0);
  /* A host may have put back what it had cached. */
  while (g->allocf == memprof_allocf) {
    h = (MPHook *)g->allocd;
    g->allocf = h->allocf;
    g->allocd = h->allocd;
  }
  memprof_lock();
  memprof_forgethooks(g);
  memprof_unlock();
}

/* Ends the recordings that this thread has to end when the process exits. */
static void __attribute__((destructor)) memprof_atexit(void)
{
  MPHook *h;
  do {
    memprof_lock();
    for (h = memprof_hooks; h != NULL; h = h->next)
      if (h->rec != NULL && h->atexit && h->pid == (long)getpid() &&
          memprof_isthread(h) && !h->rec->buf.writing)
        break;
    memprof_unlock();
    if (h != NULL)
      memprof_end(h, 0);
  } while (h != NULL);
}

/* -- Public API ----------------------------------------------------------- */

LUAMISC_API int luaM_memprof_start(lua_State *L,
                                   const struct luam_Prof_options *opt)
{
  return lj_memprof_start(L, opt, 0);
}

LUAMISC_API int luaM_memprof_stop(const lua_State *L)
{
  MPHook *h;
  if (L == NULL)
    return LUAM_PROFILE_ERR;
  memprof_lock();
  h = memprof_find(G(L));
  if (h != NULL && (h->rec->buf.writing || h->pid != (long)getpid()))
    h = NULL;
  memprof_unlock();
  return h != NULL ? memprof_end(h, 0) : LUAM_PROFILE_ERR;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  MPHook *h;
  long pid = (long)getpid();
  memprof_lock();
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (h->rec != NULL && h->pid == pid)
      break;
  memprof_unlock();
  return h != NULL;
}

#else

void lj_memprof_close(global_State *g)
{
  UNUSED(g);
}

LUAMISC_API int luaM_memprof_start(lua_State *L,
                                   const struct luam_Prof_options *opt)
{
  UNUSED(L);
  UNUSED(opt);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API int luaM_memprof_stop(const lua_State *L)
{
  UNUSED(L);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  return false;
}

#endif

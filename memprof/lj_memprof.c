/*
** Memory profiler: the recorder's life, from a start to its stop.
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

#include "lj_memprof_file.h"

#include <signal.h>
#include <unistd.h>

/* -- Hooks of all VMs ----------------------------------------------------- */

static MPHook *memprof_hooks; /* Under the lock. */
static int memprof_exiting;   /* Nothing may start; under the lock. */

static void memprof_atexit(void);

#ifndef LUAJIT_DISABLE_THREAD_SAFE
#define memprof_self() pthread_self()
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

/* A child of fork() has nothing to do with its parent's recordings. */
static void memprof_forked(void)
{
  MPHook *h;
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (h->rec != NULL && h->state != MP_ENDED && h->rec->buf.forked != NULL)
      h->rec->buf.forked(h->rec->buf.arg);
  memprof_unlock();
}

/*
** A fork must not leave the lock in the hands of a thread that is gone. What
** was there before the first start is there when the process exits, and when
** this library is unloaded.
*/
static void memprof_init(void)
{
  pthread_atfork(memprof_lock, memprof_unlock, memprof_forked);
  atexit(memprof_atexit);
}

#define memprof_initonce() pthread_once(&memprof_once, memprof_init)
#else
#define memprof_self()   0
#define memprof_lock()   ((void)0)
#define memprof_unlock() ((void)0)

static void memprof_initonce(void)
{
  static int done;
  if (!done)
    atexit(memprof_atexit);
  done = 1;
}
#endif

/* Sets the state of a hook to what this thread does. Call with the lock held.
 */
static void memprof_setstate(MPHook *h, int state)
{
  h->state = state;
  h->owner = memprof_self();
}

/* True if this process records. Call with the lock held. */
static int memprof_isrecording(const MPHook *h)
{
  return h->rec != NULL && h->state != MP_ENDED && h->pid == (long)getpid();
}

/*
** True if the VM is in an allocation that may have ended its recording: a start
** from on_stop() would change what goes on below. Call with the lock held.
*/
static int memprof_islate(const global_State *g)
{
  const MPHook *h;
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (h->g == g && h->late)
      return 1;
  return 0;
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

/* The recording of a VM whose allocator's place is ours, or NULL. */
MPState *lj_memprof_state(global_State *g)
{
  return lj_memprof_iswrapper(g->allocf) ? ((MPHook *)g->allocd)->rec : NULL;
}

static int memprof_end(MPHook *h);

/*
** Takes the end of a recording into this thread's hands. Returns 0 if it is
** in those of another one. Call with the lock held.
*/
static int memprof_claim(MPHook *h)
{
  if (h->state != MP_RUNNING)
    return 0;
  memprof_setstate(h, MP_ENDING);
  return 1;
}

/* A recording has run for as long as it was to. */
static void memprof_over(MPHook *h)
{
  int mine;
  memprof_lock();
  mine = memprof_claim(h);
  memprof_unlock();
  if (mine)
    memprof_end(h);
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
  if (opt->lines < 0 || opt->lines > LUAM_PROF_LINES_NATURAL)
    return 0;
  if (opt->stack < 0 || opt->stack > MP_MAXDEPTH ||
      (opt->stack > 1 && opt->format != LUAM_PROF_COMPACT))
    return 0;
  if (opt->sample > MP_MAXSAMPLE ||
      (opt->sample != 0 && opt->format != LUAM_PROF_COMPACT))
    return 0;
  if (opt->strings != 0 || (opt->seed != 0 && opt->sample == 0))
    return 0;
  for (i = 0; i < sizeof(opt->reserved) / sizeof(opt->reserved[0]); i++)
    if (opt->reserved[i] != 0)
      return 0;
  return 1;
}

/* Frees all that a recording has. */
static void memprof_delete(MPState *mp)
{
  lj_symtab_free(mp);
  lj_memprof_freestack(mp);
  lj_memprof_freesample(mp);
  lj_memprof_mapfree(&mp->foreign.live);
  lj_wbuf_free(&mp->buf);
  free(mp->oldsite);
  free(mp);
}

/* Makes the state of a recording. Returns NULL without memory. */
static MPState *memprof_new(global_State *g,
                            const struct luam_Prof_options *opt,
                            const MPWriter *more)
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
  mp->depth = opt->stack > 0 ? (uint32_t)opt->stack : 1;
  if ((mp->depth > 1 && !lj_memprof_newstack(mp)) ||
      (opt->sample && !lj_memprof_newsample(mp, opt->sample, opt->seed))) {
    memprof_delete(mp);
    return NULL;
  }
  mp->lines = opt->lines ? opt->lines : LUAM_PROF_LINES_EXACT;
  mp->nextfunc = 1;
  mp->nextsite = LJM_SITE_FIRST;
  mp->buf.writer = opt->writer;
  mp->buf.arg = opt->arg;
  mp->buf.again = more ? more->again : NULL;
  mp->buf.forked = more ? more->forked : NULL;
  mp->on_stop = opt->on_stop;
  mp->start = mp->seen = mp->marked = mp->flushed = lj_memprof_now();
  mp->softref = mp->buf.p;
  if (opt->dursec != 0)
    mp->end = opt->dursec > (~(uint64_t)0 - mp->start) / (1000 * MP_MS)
                  ? 0
                  : mp->start + opt->dursec * 1000 * MP_MS;
  return mp;
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
  lj_memprof_write(mp, 1);
  mp->buf.blocks = 1;
  lj_wbuf_begin(&mp->buf);
  lj_memprof_beginblock(mp);
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
         ((lj_memprof_iswrapper(g->allocf) && g->allocd == (const void *)h) ||
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
  if (h != NULL || memprof_exiting || memprof_islate(g))
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
  h->stuck = 0;
  h->pid = (long)getpid();
  memprof_setstate(h, MP_STARTING);
  mp->hook = h;
  *hp = h;
  return LUAM_PROFILE_SUCCESS;
}

/* Puts a hook between a VM and its allocator. */
static void memprof_install(MPHook *h, MPState *mp)
{
  global_State *g = h->g;
  h->over = memprof_over;
  h->busy = 0;
  /* The writer may have used the VM since META was written. */
  if (mp->format == LUAM_PROF_COMPACT && mp->live != (uint64_t)g->gc.total)
    mp->lost++;
  lj_memprof_foreignstart(mp);
  lj_memprof_setactive(h, mp);
  g->allocd = h;
  g->allocf = h->wrapper = lj_memprof_wrapper(mp);
}

/* Forgets a recording that is over, or never was. */
static void memprof_forget(MPHook *h)
{
  memprof_lock();
  h->rec = NULL;
  memprof_setstate(h, MP_IDLE);
  memprof_unlock();
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
    memprof_end(h);
}

/* Begins the stream of a recording whose hook is reserved. */
static int memprof_open(MPState *mp, lua_State *L, const MPWriter *more)
{
  if (lj_memprof_linesbusy(mp->g, mp->lines))
    return LUAM_PROFILE_ERRBUSY;
  memprof_begin(mp);
  if (mp->buf.error || (more != NULL && !more->begun(mp->buf.arg)))
    return LUAM_PROFILE_ERRIO;
  lj_memprof_linesstart(mp, L);
  return LUAM_PROFILE_SUCCESS;
}

/*
** Returns LUAM_PROFILE_SUCCESS if nothing is known against a start. What a fork
** has copied would be: it is ended first.
*/
int lj_memprof_check(lua_State *L, const struct luam_Prof_options *opt)
{
  if (L == NULL || !memprof_checkoptions(opt))
    return LUAM_PROFILE_ERR;
  memprof_initonce();
  memprof_reap(G(L));
  return lj_memprof_linesbusy(G(L), opt->lines) ? LUAM_PROFILE_ERRBUSY
                                                : LUAM_PROFILE_SUCCESS;
}

/* Starts a recording. more is NULL for a host's writer. */
int lj_memprof_start(lua_State *L, const struct luam_Prof_options *opt,
                     const MPWriter *more)
{
  MPHook *h = NULL;
  MPState *mp;
  int status = lj_memprof_check(L, opt);
  if (status != LUAM_PROFILE_SUCCESS)
    return status;
  mp = memprof_new(G(L), opt, more);
  if (mp == NULL)
    return LUAM_PROFILE_ERRMEM;
  memprof_lock();
  status = memprof_reserve(mp, &h);
  memprof_unlock();
  if (status == LUAM_PROFILE_SUCCESS) {
    status = memprof_open(mp, L, more);
    if (status == LUAM_PROFILE_SUCCESS) {
      memprof_install(h, mp);
      memprof_lock();
      memprof_setstate(h, MP_RUNNING);
      memprof_unlock();
      return status;
    }
    memprof_forget(h);
  }
  memprof_delete(mp);
  return status;
}

/* -- Stop ----------------------------------------------------------------- */

/* Appends the books, the last record. */
static void memprof_totals(MPState *mp, int swapped, uint64_t live)
{
  const MPForeign *f = &mp->foreign;
  MPBuf *b = &mp->buf;
  uint8_t *mark;
  if (lj_wbuf_room(b) < MP_RECORD_MAX)
    lj_memprof_flush(mp);
  mark = lj_wbuf_record(b, LJM_REC_TOTALS);
  lj_wbuf_uleb(b, (swapped ? LJM_TOTALS_SWAPPED : 0) |
                      (mp->lost ? LJM_TOTALS_LOST : 0) |
                      (mp->sample ? LJM_TOTALS_SAMPLED : 0));
  lj_wbuf_uleb(b, mp->nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, mp->nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, mp->nevents[LJM_FREE]);
  lj_wbuf_uleb(b, mp->bytesin);
  lj_wbuf_uleb(b, mp->bytesout);
  lj_wbuf_uleb(b, live);
  lj_wbuf_uleb(b, mp->lost);
  lj_wbuf_uleb(b, mp->seen - mp->start);
  lj_wbuf_uleb(b, f->nevents[LJM_ALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_REALLOC]);
  lj_wbuf_uleb(b, f->nevents[LJM_FREE]);
  lj_wbuf_uleb(b, f->bytesin);
  lj_wbuf_uleb(b, f->bytesout);
  lj_wbuf_recordend(b, mark);
}

/* True if the VM's allocator is what a recording has put there. */
static int memprof_isinstalled(const MPHook *h)
{
  const global_State *g = h->g;
  return lj_memprof_iswrapper(g->allocf) && g->allocd == (const void *)h;
}

/* Gives the VM its allocator back, if the slot is still ours. */
static int memprof_uninstall(MPHook *h)
{
  global_State *g = h->g;
  lj_memprof_setactive(h, NULL);
  if (memprof_isinstalled(h)) {
    g->allocf = h->allocf;
    g->allocd = h->allocd;
    return 0;
  }
  return 1; /* A foreign allocator, which may still call us. */
}

/* Writes the rest of the stream. */
static void memprof_finish(MPState *mp, int swapped, uint64_t live)
{
  mp->seen = lj_memprof_now();
  if (mp->format == LUAM_PROF_COMPACT)
    memprof_totals(mp, swapped, live);
  else
    *mp->buf.p++ = LJM_SYM_FINAL;
  lj_memprof_write(mp, 1);
}

/*
** Ends a recording that this thread has claimed: the rest of the stream, then
** the caller's destroyer.
*/
static int memprof_end(MPHook *h)
{
  MPState *mp = h->rec;
  int swapped = memprof_uninstall(h);
  int failed;
  lj_memprof_linesstop(mp);
  if (!swapped) /* Else the VM may have freed what was allocated last. */
    lj_memprof_complete(mp);
  if (h->stuck) /* When the process exits, and something was let through. */
    mp->lost++;
  memprof_finish(mp, swapped, (uint64_t)mp->g->gc.total);
  /* From here on, on_stop() may start the next one; but not where dursec is
  ** over, in the middle of an allocation.
  */
  memprof_forget(h);
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
  active = (h != NULL && memprof_isrecording(h)) || memprof_islate(G(L));
  memprof_unlock();
  return active;
}

/* -- The VM goes away ------------------------------------------------------ */

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

/*
** The hook whose recording this thread has to end, or NULL, or one that was
** ended at exit. Waits for a thread that is at that.
*/
static MPHook *memprof_claimlast(const global_State *g)
{
  MPHook *h;
  for (;;) {
    memprof_lock();
    h = memprof_find(g);
    if (h == NULL || h->pid != (long)getpid() || h->state != MP_ENDING ||
        h->owner == memprof_self())
      break;
    memprof_unlock();
    lj_memprof_nap();
  }
  if (h != NULL && h->state != MP_ENDED)
    memprof_setstate(h, MP_ENDING);
  memprof_unlock();
  return h;
}

/* Ends the recording of a VM that goes away. */
void lj_memprof_close(global_State *g)
{
  MPHook *h = memprof_claimlast(g);
  if (h != NULL && h->state == MP_ENDED) {
    MPState *mp = h->rec;
    memprof_forget(h);
    memprof_delete(mp);
  } else if (h != NULL) {
    memprof_end(h);
  }
  /* A host may have put back what it had cached. */
  while (lj_memprof_iswrapper(g->allocf)) {
    h = (MPHook *)g->allocd;
    g->allocf = h->allocf;
    g->allocd = h->allocd;
  }
  memprof_lock();
  memprof_forgethooks(g);
  memprof_unlock();
}

/* -- The process exits ----------------------------------------------------- */

#define MEMPROF_PATIENCE (1000 * MP_MS) /* With other threads, in all, */
#define MEMPROF_LEAST    MP_MS          /* or with each of them. */

/*
** Bytes on the heap of a VM that may be running. Samples do not add up; then
** it is the VM's own count, which may be about to change.
*/
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
__attribute__((no_sanitize("thread")))
#endif
#elif defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize_thread))
#endif
static uint64_t
memprof_estimate(const MPState *mp)
{
  if (mp->sample != NULL)
    return (uint64_t) * (const volatile GCSize *)&mp->g->gc.total;
  return (GCSize)(mp->foreign.base + mp->bytesin - mp->bytesout);
}

/*
** Ends a recording whose VM may be running in another thread: nothing of the VM
** is changed, and the recording is not freed.
*/
static void memprof_endforeign(MPHook *h, uint64_t until)
{
  MPState *mp = h->rec;
  int (*on_stop)(void *arg) = mp->on_stop;
  void *arg = mp->buf.arg;
  uint64_t least = lj_memprof_now() + MEMPROF_LEAST;
  int done = lj_memprof_quiesce(h, until > least ? until : least);
  if (done) {
    mp->detached = 1;
    memprof_finish(mp, !memprof_isinstalled(h), memprof_estimate(mp));
  }
  memprof_lock();
  memprof_setstate(h, done ? MP_ENDED : MP_RUNNING);
  h->stuck = !done;
  memprof_unlock();
  if (done) /* Now lua_close() may free the rest. */
    on_stop(arg);
}

/*
** The next recording to end, or NULL. *wait is set if another thread is about
** to begin or to end one. Call with the lock held.
*/
static MPHook *memprof_nextforeign(int *wait)
{
  MPHook *h;
  *wait = 0;
  for (h = memprof_hooks; h != NULL; h = h->next) {
    if (!memprof_isrecording(h) || h->stuck)
      continue;
    if (memprof_claim(h))
      return h;
    if (h->owner != memprof_self())
      *wait = 1;
  }
  return NULL;
}

/* Ends all recordings. */
static void memprof_atexit(void)
{
  uint64_t until = lj_memprof_now() + MEMPROF_PATIENCE;
  MPHook *h;
  int wait;
  do {
    memprof_lock();
    memprof_exiting = 1;
    lj_memprof_outuntil(until);
    h = memprof_nextforeign(&wait);
    memprof_unlock();
    if (h != NULL)
      memprof_endforeign(h, until);
    else if (wait)
      lj_memprof_nap();
  } while (h != NULL || (wait && lj_memprof_now() < until));
}

/* -- Public API ----------------------------------------------------------- */

LUAMISC_API int luaM_memprof_start(lua_State *L,
                                   const struct luam_Prof_options *opt)
{
  return lj_memprof_start(L, opt, NULL);
}

LUAMISC_API int luaM_memprof_stop(const lua_State *L)
{
  MPHook *h;
  if (L == NULL)
    return LUAM_PROFILE_ERR;
  memprof_lock();
  h = memprof_find(G(L));
  if (h != NULL && (h->pid != (long)getpid() || h->state != MP_RUNNING ||
                    h->rec->buf.writing || !memprof_claim(h)))
    h = NULL;
  memprof_unlock();
  return h != NULL ? memprof_end(h) : LUAM_PROFILE_ERR;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  MPHook *h;
  memprof_lock();
  for (h = memprof_hooks; h != NULL; h = h->next)
    if (memprof_isrecording(h))
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

LUAMISC_API int luaM_memprof_dump(lua_State *L,
                                  const struct luam_Prof_options *opt)
{
  UNUSED(L);
  UNUSED(opt);
  return LUAM_PROFILE_ERR;
}

LUAMISC_API bool luaM_memprof_isrunning(void)
{
  return false;
}

#endif

/*
** Memory profiler: the life of a recording, from its start to its stop.
*/

#define lj_memprof_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <limits.h>

#include "lj_heapfork.h"
#include "lj_heaptake.h"
#include "lj_memprof_anew.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_control.h"
#include "lj_memprof_ends.h"
#include "lj_memprof_event.h"
#include "lj_memprof_exit.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_limit.h"
#include "lj_memprof_lines.h"
#include "lj_memprof_map.h"
#include "lj_memprof_obey.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_memprof_timer.h"
#include "lj_memprof_type.h"
#include "lj_memprof_writers.h"
#include "lj_symtab.h"

/* -- State ---------------------------------------------------------------- */

/* Size of the buffer. */
static size_t memprof_buffer(const struct luam_Prof_options *opt)
{
  return opt->buffer ? (size_t)opt->buffer : LJM_BLOCK_DEFAULT;
}

/* Frees all that a recording has. */
static void memprof_delete(MPState *mp)
{
  lj_memprof_endtimer(mp);
  lj_symtab_free(mp);
  lj_memprof_freestack(mp);
  lj_memprof_freeinlined(mp);
  lj_memprof_freesample(mp);
  lj_memprof_freeevery(mp);
  lj_memprof_freelimit(mp);
  lj_memprof_mapfree(&mp->foreign.live);
  lj_memprof_freeold(mp);
  if (mp->buf.queue != NULL)
    lj_memprof_dropqueue(mp->buf.queue);
  lj_memprof_freestate(mp);
}

/* Puts a queue before the writer, if there is to be one. Returns 0, errno. */
static int memprof_newqueue(MPState *mp, const struct luam_Prof_options *opt,
                            const MPWriter *more)
{
  uint64_t word = opt->reserved[LUAM_PROF_THREAD];
  MPThreadHow how;
  MPQueue *q = more ? more->queue : NULL;
  if (q != NULL) {
    lj_memprof_holdqueue(q);
  } else if (word != 0 &&
             lj_memprof_readthread(&how, word, memprof_buffer(opt))) {
    q = lj_memprof_newthread(&how, memprof_buffer(opt));
    if (q == NULL)
      return 0;
    q->writer = opt->writer;
    q->arg = opt->arg;
    q->again = more ? more->again : NULL;
    q->next = more ? more->next : NULL;
  }
  mp->buf.queue = q;
  return 1;
}

/* Makes the state of a recording. Returns NULL and errno. */
static MPState *memprof_new(global_State *g,
                            const struct luam_Prof_options *opt,
                            const MPWriter *more)
{
  MPState *mp;
  errno = ENOMEM;
  mp =
      lj_memprof_newstate(memprof_buffer(opt), opt->format == LUAM_PROF_COMPACT,
                          (int)opt->reserved[LUAM_PROF_TAIL] - 1);
  if (mp == NULL)
    return NULL;
  mp->g = g;
  mp->format = opt->format;
  mp->depth = opt->stack > 0 ? (uint32_t)opt->stack : 1;
  if ((mp->depth > 1 && !lj_memprof_newstack(mp)) ||
      (opt->sample && !lj_memprof_newsample(mp, opt->sample, opt->seed)) ||
      !lj_memprof_newlimit(mp, opt) || !lj_memprof_newevery(mp, opt) ||
      !memprof_newqueue(mp, opt, more)) {
    int en = errno;
    memprof_delete(mp);
    errno = en;
    return NULL;
  }
  mp->lines = opt->lines ? opt->lines : LUAM_PROF_LINES_EXACT;
  lj_symtab_undefine(mp);
  mp->buf.writer = opt->writer;
  mp->buf.arg = opt->arg;
  mp->buf.again = more ? more->again : NULL;
  mp->buf.forked = more ? more->forked : NULL;
  mp->segment.max = more ? more->segment : 0;
  mp->segment.next = more ? more->next : NULL;
  mp->on_stop = opt->on_stop;
  lj_memprof_clockstart(mp, opt->dursec, opt->reserved[LUAM_PROF_DURMS],
                        opt->reserved[LUAM_PROF_MARKS] & LUAM_PROF_MARKSMASK);
  if (!lj_memprof_newanew(mp, opt, more ? more->file : NULL)) {
    memprof_delete(mp);
    errno = EINVAL;
    return NULL;
  }
  return mp;
}

/* -- Stop ----------------------------------------------------------------- */

/* Gives the VM its allocator back, if the slot is still ours. */
static int memprof_uninstall(MPHook *h)
{
  lj_memprof_setactive(h, NULL);
  __atomic_store_n(&h->due, 0, __ATOMIC_RELAXED);
  if (lj_memprof_isinstalled(h))
    return !lj_memprof_restore(h->g);
  return 1; /* A foreign allocator, which may still call us. */
}

/*
** True if the VM may have freed what was allocated last, since it has gone on
** without being recorded: with another allocator, in a child of fork(), after
** an end, or at the exit.
*/
static int memprof_isbehind(const MPHook *h, int swapped)
{
  return swapped || !lj_memprof_isowner(h) || h->rec->anew.paused || h->stuck;
}

/* Writes the rest of the stream. */
static void memprof_finish(MPHook *h, int swapped)
{
  MPState *mp = h->rec;
  if (!memprof_isbehind(h, swapped))
    lj_memprof_complete(mp, NULL, 0);
  if (h->stuck) /* At exit; an event was not recorded. */
    mp->stream.lost++;
  lj_memprof_finish(mp, swapped,
                    h->freeing ? lj_memprof_estimate(mp)
                               : (uint64_t)mp->g->gc.total);
}

/*
** Ends a recording that this thread has claimed: the rest of the stream, if the
** timer's thread has not written it, then the caller's destroyer.
*/
static int memprof_end(MPHook *h)
{
  MPState *mp = h->rec;
  int swapped = memprof_uninstall(h);
  int failed, en;
  if (!lj_memprof_isowner(h) && !lj_memprof_tailleave(mp))
    return LUAM_PROFILE_ERRMEM; /* All of it stays as it is. */
  lj_memprof_linesstop(mp);
  if (!mp->detached)
    memprof_finish(h, swapped);
  if (mp->buf.queue != NULL && !lj_memprof_endthread(mp->buf.queue)) {
    lj_memprof_release(h);
    return LUAM_PROFILE_ERRIO; /* The process exits: all stays the thread's. */
  }
  lj_memprof_endtimer(mp);
  failed = mp->buf.error || (mp->buf.queue != NULL && mp->buf.queue->error);
  /* on_stop() may start the next recording, but not in the middle of an
  ** allocation, where dursec is over.
  */
  if (lj_memprof_letgo(h, mp->on_stop, mp->buf.arg) != 0)
    failed = 1;
  en = errno;
  memprof_delete(mp);
  errno = en; /* Set by our own writers. */
  return failed ? LUAM_PROFILE_ERRIO : LUAM_PROFILE_SUCCESS;
}

void lj_memprof_conclude(const lua_State *L)
{
  MPHook *h = lj_memprof_claimover(G(L));
  if (h != NULL)
    memprof_end(h);
}

/* A recording has run for as long as it was to. The VM is in an event. */
static void memprof_over(MPHook *h, const void *ptr, size_t size)
{
  if (h->rec->anew.control) { /* It can begin anew. */
    lj_memprof_pausehook(h, ptr, size);
    return;
  }
  if (!lj_memprof_claim(h))
    return;
  if (!h->rec->detached)
    lj_memprof_complete(h->rec, ptr, size);
  memprof_end(h);
}

/* -- Start ---------------------------------------------------------------- */

/* True if there is no tail, or it can be one. */
static int memprof_checktail(const struct luam_Prof_options *opt)
{
  uint64_t word = opt->reserved[LUAM_PROF_TAIL];
  if (word == 0)
    return 1;
  return opt->format == LUAM_PROF_COMPACT && LJ_LE && word <= INT_MAX &&
         lj_memprof_tailfits((int)word - 1, memprof_buffer(opt));
}

/* True if there is to be no thread, or it can be one. */
static int memprof_checkthread(const struct luam_Prof_options *opt)
{
  uint64_t word = opt->reserved[LUAM_PROF_THREAD];
  MPThreadHow how;
  return word == 0 || (opt->format == LUAM_PROF_COMPACT &&
                       opt->reserved[LUAM_PROF_TAIL] == 0 &&
                       lj_memprof_readthread(&how, word, memprof_buffer(opt)));
}

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
  if (!lj_memprof_checksignal(opt->signo))
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
    if (opt->reserved[i] != 0 && i != LUAM_PROF_LIMIT &&
        i != LUAM_PROF_LIMIT_NAME && i != LUAM_PROF_DURMS &&
        i != LUAM_PROF_TAIL && i != LUAM_PROF_THREAD && i != LUAM_PROF_ANEW &&
        i != LUAM_PROF_MARKS)
      return 0;
  return lj_memprof_checkclock(opt) && memprof_checktail(opt) &&
         memprof_checkthread(opt) && lj_memprof_checklimit(opt) &&
         lj_memprof_checkevery(opt);
}

/* Puts a hook between a VM and its allocator. */
static void memprof_install(MPHook *h, MPState *mp)
{
  global_State *g = h->g;
  h->over = memprof_over;
  h->busy = 0;
  h->anew = mp->anew.follow || mp->anew.control ? lj_memprof_obey : NULL;
  /* The writer may have used the VM since META was written. */
  if (mp->format == LUAM_PROF_COMPACT &&
      mp->stream.live != (uint64_t)g->gc.total)
    mp->stream.lost++;
  lj_memprof_foreignstart(mp);
  lj_memprof_setactive(h, mp);
  h->wrapper = lj_memprof_wrapper(mp);
  h->first = mp->limit.name != NULL ? lj_memprof_limited : h->wrapper;
  lj_memprof_install(h, g);
}

/* META is written. Returns 0 if the rest cannot be, for want of a thread. */
static int memprof_openqueue(const MPState *mp)
{
  MPQueue *q = mp->buf.queue;
  return q == NULL || q->taken || lj_memprof_startthread(q);
}

/* True if the writer is the recorder's own, or called by a thread already. */
static int memprof_isours(const MPState *mp)
{
  return mp->buf.queue != NULL || lj_memprof_isourwriter(mp->buf.writer);
}

/* Begins the stream of a recording whose hook is reserved. */
static int memprof_open(MPState *mp, lua_State *L,
                        const struct luam_Prof_options *opt,
                        const MPWriter *more)
{
  if (lj_memprof_linesbusy(mp->g, mp->lines))
    return LUAM_PROFILE_ERRBUSY;
  if ((mp->tail.head != NULL || mp->anew.follow) && !mp->hook->wiped) {
    errno = ENOSYS; /* A child could not detect that it is one. */
    return LUAM_PROFILE_ERRIO;
  }
  if (mp->anew.control && !lj_memprof_startcontrol())
    return LUAM_PROFILE_ERRIO;
  lj_memprof_begin(mp);
  if (mp->buf.error || !memprof_openqueue(mp) ||
      !lj_memprof_starttimer(mp, opt->signo, memprof_isours(mp)) ||
      (more != NULL && more->begun != NULL && !more->begun(mp->buf.arg)))
    return LUAM_PROFILE_ERRIO;
  lj_memprof_linesstart(mp, L);
  return LUAM_PROFILE_SUCCESS;
}

/* Frees what memprof_open() has made. */
static void memprof_unopen(MPState *mp)
{
  lj_memprof_endtimer(mp);
  if (mp->buf.queue != NULL)
    lj_memprof_endthread(mp->buf.queue);
  lj_memprof_release(mp->hook);
}

/*
** Ends a recording that a fork has copied, or whose stream has ended by itself.
** Returns LUAM_PROFILE_SUCCESS if a new one may start.
*/
int lj_memprof_check(lua_State *L, const struct luam_Prof_options *opt)
{
  MPHook *h;
  if (L == NULL || !memprof_checkoptions(opt))
    return LUAM_PROFILE_ERR;
  lj_memprof_atexit();
  h = lj_memprof_inherited(G(L));
  if (h != NULL)
    memprof_end(h);
  lj_memprof_conclude(L);
  return lj_memprof_linesbusy(G(L), opt->lines) ? LUAM_PROFILE_ERRBUSY
                                                : LUAM_PROFILE_SUCCESS;
}

int lj_memprof_start(lua_State *L, const struct luam_Prof_options *opt,
                     const MPWriter *more)
{
  MPState *mp;
  int status = lj_memprof_check(L, opt);
  if (status != LUAM_PROFILE_SUCCESS)
    return status;
  if (!lj_memprof_checkanew(opt, more != NULL ? more->file : NULL))
    return LUAM_PROFILE_ERR;
  mp = memprof_new(G(L), opt, more);
  if (mp == NULL)
    return errno != ENOMEM ? LUAM_PROFILE_ERRIO : LUAM_PROFILE_ERRMEM;
  status = lj_memprof_reserve(mp);
  if (status == LUAM_PROFILE_SUCCESS) {
    int en;
    status = memprof_open(mp, L, opt, more);
    if (status == LUAM_PROFILE_SUCCESS) {
      memprof_install(mp->hook, mp);
      lj_memprof_running(mp->hook);
      return status;
    }
    en = errno;
    memprof_unopen(mp);
    memprof_delete(mp);
    errno = en;
    return status;
  }
  memprof_delete(mp);
  return status;
}

/* -- The VM goes away ----------------------------------------------------- */

void lj_memprof_close(global_State *g)
{
  MPHook *h = lj_memprof_claimlast(g);
  if (h != NULL && h->state == MP_ENDED) {
    MPState *mp = h->rec;
    lj_memprof_release(h);
    memprof_delete(mp);
  } else if (h != NULL) {
    memprof_end(h);
  }
  /* A host may have put back what it had cached. */
  while (lj_memprof_restore(g))
    ;
  lj_memprof_forgethooks(g);
  lj_heap_forkclose(g);
}

/* -- The compiler --------------------------------------------------------- */

#if LJ_HASJIT && !defined(LJ_MEMPROF_MODULE)
#include "lj_dispatch.h"

/* The recording that wants exact lines, or NULL. */
static MPState *memprof_exact(jit_State *J)
{
  MPState *mp = lj_memprof_state(J2G(J));
  return mp != NULL && mp->lines == LUAM_PROF_LINES_EXACT ? mp : NULL;
}

int lj_memprof_newline(jit_State *J, const BCIns *pc)
{
  MPState *mp = memprof_exact(J);
  return LJ_UNLIKELY(mp != NULL) && lj_memprof_beginsline(mp, J, pc);
}

int lj_memprof_keepsnap(jit_State *J)
{
  return memprof_exact(J) != NULL;
}
#endif

/* -- Public API ----------------------------------------------------------- */

/* The allocator of a host may call this. */
LUAMISC_API int luaM_memprof_dump(lua_State *L,
                                  const struct luam_Prof_options *opt)
{
  MPState *mp = L != NULL ? lj_memprof_state(G(L)) : NULL;
  return lj_heap_take(L, mp, opt, 1);
}

LUAMISC_API int luaM_memprof_start(lua_State *L,
                                   const struct luam_Prof_options *opt)
{
  MPWriter more;
  return lj_memprof_start(L, opt,
                          lj_memprof_filewriter(opt, &more) ? &more : NULL);
}

LUAMISC_API int luaM_memprof_stop(const lua_State *L)
{
  MPHook *h;
  if (L == NULL)
    return LUAM_PROFILE_ERR;
  h = lj_memprof_claimvm(G(L));
  return h != NULL ? memprof_end(h) : LUAM_PROFILE_ERR;
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

#endif

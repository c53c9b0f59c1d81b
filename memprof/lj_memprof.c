/*
** Memory profiler: the life of a recording, from its start to its stop.
*/

#define lj_memprof_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <signal.h>
#include <stdlib.h>

#include "lj_heapfork.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_event.h"
#include "lj_memprof_exit.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_limit.h"
#include "lj_memprof_lines.h"
#include "lj_memprof_map.h"
#include "lj_memprof_old.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"
#include "lj_memprof_stream.h"
#include "lj_memprof_type.h"
#include "lj_symtab.h"
#include "lj_wbuf.h"

/* -- State ---------------------------------------------------------------- */

/* Frees all that a recording has. */
static void memprof_delete(MPState *mp)
{
  lj_symtab_free(mp);
  lj_memprof_freestack(mp);
  lj_memprof_freeinlined(mp);
  lj_memprof_freesample(mp);
  lj_memprof_freelimit(mp);
  lj_memprof_mapfree(&mp->foreign.live);
  lj_memprof_freeold(mp);
  lj_wbuf_free(&mp->buf);
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
      (opt->sample && !lj_memprof_newsample(mp, opt->sample, opt->seed)) ||
      !lj_memprof_newlimit(mp, opt)) {
    memprof_delete(mp);
    return NULL;
  }
  mp->lines = opt->lines ? opt->lines : LUAM_PROF_LINES_EXACT;
  mp->symtab.nextfunc = 1;
  mp->symtab.nextsite = LJM_SITE_FIRST;
  mp->buf.writer = opt->writer;
  mp->buf.arg = opt->arg;
  mp->buf.again = more ? more->again : NULL;
  mp->buf.forked = more ? more->forked : NULL;
  mp->on_stop = opt->on_stop;
  lj_memprof_clockstart(mp, opt->dursec);
  return mp;
}

/* -- Stop ----------------------------------------------------------------- */

/* Gives the VM its allocator back, if the slot is still ours. */
static int memprof_uninstall(MPHook *h)
{
  lj_memprof_setactive(h, NULL);
  if (lj_memprof_isinstalled(h)) {
    lj_memprof_restore(h, h->g);
    return 0;
  }
  return 1; /* A foreign allocator, which may still call us. */
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
    lj_memprof_complete(mp, NULL, 0);
  if (h->stuck) /* When the process exits, and something was let through. */
    mp->stream.lost++;
  lj_memprof_finish(mp, swapped, (uint64_t)mp->g->gc.total);
  /* From here on, on_stop() may start the next one; but not where dursec is
  ** over, in the middle of an allocation.
  */
  lj_memprof_release(h);
  failed = mp->buf.error;
  if (mp->on_stop(mp->buf.arg) != 0)
    failed = 1;
  memprof_delete(mp);
  return failed ? LUAM_PROFILE_ERRIO : LUAM_PROFILE_SUCCESS;
}

/* A recording has run for as long as it was to. */
static void memprof_over(MPHook *h)
{
  if (lj_memprof_claim(h))
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
    if (opt->reserved[i] != 0 && i != LUAM_PROF_LIMIT &&
        i != LUAM_PROF_LIMIT_NAME)
      return 0;
  return lj_memprof_checklimit(opt);
}

/* Puts a hook between a VM and its allocator. */
static void memprof_install(MPHook *h, MPState *mp)
{
  global_State *g = h->g;
  h->over = memprof_over;
  h->busy = 0;
  /* The writer may have used the VM since META was written. */
  if (mp->format == LUAM_PROF_COMPACT &&
      mp->stream.live != (uint64_t)g->gc.total)
    mp->stream.lost++;
  lj_memprof_foreignstart(mp);
  lj_memprof_setactive(h, mp);
  g->allocd = h;
  h->wrapper = lj_memprof_wrapper(mp);
  g->allocf = mp->limit.name != NULL ? lj_memprof_limited : h->wrapper;
}

/* Begins the stream of a recording whose hook is reserved. */
static int memprof_open(MPState *mp, lua_State *L, const MPWriter *more)
{
  if (lj_memprof_linesbusy(mp->g, mp->lines))
    return LUAM_PROFILE_ERRBUSY;
  lj_memprof_begin(mp);
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
  MPHook *h;
  if (L == NULL || !memprof_checkoptions(opt))
    return LUAM_PROFILE_ERR;
  lj_memprof_atexit();
  h = lj_memprof_inherited(G(L));
  if (h != NULL)
    memprof_end(h);
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
  mp = memprof_new(G(L), opt, more);
  if (mp == NULL)
    return LUAM_PROFILE_ERRMEM;
  status = lj_memprof_reserve(mp);
  if (status == LUAM_PROFILE_SUCCESS) {
    status = memprof_open(mp, L, more);
    if (status == LUAM_PROFILE_SUCCESS) {
      memprof_install(mp->hook, mp);
      lj_memprof_running(mp->hook);
      return status;
    }
    lj_memprof_release(mp->hook);
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
  while (lj_memprof_iswrapper(g->allocf))
    lj_memprof_restore((MPHook *)g->allocd, g);
  lj_memprof_forgethooks(g);
  lj_heap_forkclose(g);
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

/*
** Events with all that can be wanted of them.
**
** stream.c is the model of this, and has the speed: there nothing is wanted but
** sums, and every event stands for itself. Here it may stand for more. An
** object weighs the same when it comes and when it goes, since its size is told
** both times; no weight is kept.
*/

#include <stdlib.h>
#include <string.h>

#include "leb.h"
#include "ingest.h"

/* Of an event: it has an old, a new object that counts. */
enum { WATCH_OLD = 1, WATCH_NEW = 2 };

/* All that has come and gone is added up for these. */
#define WATCH_SUMS (LP_WANT_TEMPORARY | LP_WANT_YOUNG | LP_WANT_TIME)

/* -- The live map --------------------------------------------------------- */

/* An object of an origin is at an address now. */
static void watch_put(LpStream *st, const LpEvent *e, uint32_t origin)
{
  LpWatch *w = st->watch;
  uint32_t number = origin, was;
  if (w->ages)
    number = lp_ages_new(&w->age, origin, e->nsize, w->come.n);
  was = lp_live_put(&st->live, e->naddr, number);
  if (was == LP_NONE)
    return;
  if (w->ages) {
    number = lp_ages_get(&w->age, was)->origin;
    lp_ages_drop(&w->age, was);
    was = number;
  }
  st->prof->row[lp_cell_site(&st->prof->origins.cell[was])].twice++;
  st->twice++; /* Its end was not told. */
}

/* The object of an event is gone. Returns its origin, and whether it went SOON:
** before many others came.
*/
static uint32_t watch_take(LpStream *st, const LpEvent *e, int *soon)
{
  LpWatch *w = st->watch;
  uint32_t number = lp_live_take(&st->live, e->oaddr), origin;
  uint64_t others, much = st->prof->wanted.temporary;
  const LpAge *age;
  *soon = 0;
  if (number == LP_NONE) {
    lp_stream_stray(st, e);
    return LP_ORIGIN_BEFORE;
  }
  if (!w->ages)
    return number;
  age = lp_ages_get(&w->age, number);
  origin = age->origin;
  others = lp_ages_ticks(&w->age, age, w->come.n) << w->age.shift;
  *soon = others < (much ? much : w->most);
  lp_ages_drop(&w->age, number);
  return origin;
}

/* -- Events --------------------------------------------------------------- */

/* Which of the event's objects count. Of a reallocation in samples, one may be
** no sample.
*/
static unsigned watch_objects(const LpStream *st, const LpEvent *e)
{
  if (e->kind != LJM_REALLOC)
    return e->kind == LJM_FREE ? WATCH_OLD : WATCH_NEW;
  if (!st->sample)
    return WATCH_OLD | WATCH_NEW;
  return (e->sampled & LJM_SAMPLED_OLD ? WATCH_OLD : 0) |
         (e->sampled & LJM_SAMPLED_NEW ? WATCH_NEW : 0);
}

/* Count objects of an origin: how many, and their bytes. */
static void watch_count(LpStream *st, uint32_t origin, int count, int bytes,
                        const LpWeight *v)
{
  LpOrigins *o = &st->prof->origins;
  uint64_t *n, *part;
  if (st->watch->what & LP_WANT_PEAK)
    lp_peak_touch(&st->watch->peak, o, origin);
  n = o->cell[origin].n;
  if (!st->scale) {
    n[count] += v->n;
    n[bytes] += v->bytes;
    return;
  }
  if (origin >= o->nparts)
    lp_origins_parts(o);
  part = o->part[origin];
  lp_parts_add(&n[count], &part[count], v->n, v->npart);
  lp_parts_add(&n[bytes], &part[bytes], v->bytes, v->bytespart);
}

/* What the site of an origin holds, for snapshots. */
static LpWeight *watch_site(LpStream *st, uint32_t origin)
{
  const LpCell *c = &st->prof->origins.cell[origin];
  return &lp_snaps_touch(&st->watch->snapper, lp_cell_site(c))->live;
}

/* An object of an origin comes. */
static void watch_arrive(LpStream *st, const LpEvent *e, uint32_t type,
                         const LpWeight *v)
{
  LpWatch *w = st->watch;
  LpProfile *prof = st->prof;
  uint32_t origin = lp_origins_get(&prof->origins, e->node, e->site, type);
  if (e->kind == LJM_ALLOC)
    watch_count(st, origin, LP_ALLOCS, LP_ALLOC_BYTES, v);
  else
    watch_count(st, origin, LP_REALLOCS, LP_REALLOC_BYTES, v);
  if (w->what & WATCH_SUMS)
    lp_weight_add(&w->come, v);
  if (w->ages) {
    lp_weight_add(&w->own, v);
    w->most = w->own.n > w->most ? w->own.n : w->most;
  }
  watch_put(st, e, origin);
  if (w->what & LP_WANT_SIZES)
    lp_weight_add(&prof->size[lp_sizes_class(e->nsize)].come, v);
  if (prof->wanted.snap)
    lp_weight_add(watch_site(st, origin), v);
}

/* An object that had an age is gone, perhaps soon. */
static void watch_gone(LpStream *st, uint32_t origin, int soon,
                       const LpWeight *v)
{
  lp_weight_sub(&st->watch->own, v);
  if (soon)
    lp_origins_beside(&st->prof->origins, origin, LP_TEMPORARY,
                      LP_TEMPORARY_BYTES, v);
}

/* An object goes. Returns its type. */
static uint32_t watch_leave(LpStream *st, const LpEvent *e, const LpWeight *v)
{
  LpWatch *w = st->watch;
  LpProfile *prof = st->prof;
  int soon;
  uint32_t origin = watch_take(st, e, &soon);
  const LpCell *c = &prof->origins.cell[origin];
  int moved = e->kind == LJM_REALLOC;
  uint64_t key = LP_TAKEN_KEY(e->site, lp_cell_site(c));
  watch_count(st, origin, moved ? LP_MOVES : LP_FREES, LP_LEFT_BYTES, v);
  if (w->what & WATCH_SUMS)
    lp_weight_add(&w->gone, v);
  key |= moved ? LP_TAKEN_REALLOC : 0;
  if (st->scale)
    lp_weight_add(lp_taken_of(&prof->taken, key), v);
  else
    lp_taken_add(&prof->taken, key, e->osize);
  if (w->ages && origin != LP_ORIGIN_BEFORE)
    watch_gone(st, origin, soon, v);
  if (w->what & LP_WANT_SIZES) {
    LpSizeClass *s = &prof->size[lp_sizes_class(e->osize)];
    lp_weight_add(&s->gone, v);
    if (origin == LP_ORIGIN_BEFORE)
      lp_weight_add(&s->older, v);
  }
  if (prof->wanted.snap)
    lp_weight_sub(watch_site(st, origin), v);
  return lp_cell_type(c);
}

/* One event. What was no sample before has no known type. */
static void watch_event(LpStream *st, const LpEvent *e)
{
  LpWatch *w = st->watch;
  unsigned objects = watch_objects(st, e);
  uint32_t type = e->kind == LJM_ALLOC ? e->type : LJM_TYPE_UNKNOWN;
  LpWeight old = {0, 0, 0, 0}, new = {0, 0, 0, 0};
  LpFixed more;
  if (objects & WATCH_OLD)
    lp_stream_weigh(st, e->osize, &old);
  if (objects & WATCH_NEW)
    lp_stream_weigh(st, e->nsize, &new);
  more = lp_weight_fixed(&new) - lp_weight_fixed(&old);
  lp_peak_event(&w->peak, more);
  if (objects & WATCH_OLD)
    type = watch_leave(st, e, &old);
  if (e->foreign)
    type = LJM_TYPE_FOREIGN;
  if (objects & WATCH_NEW)
    watch_arrive(st, e, type, &new);
  w->live += more;
  if (w->live > w->highest)
    w->highest = w->live;
  lp_peak_after(&w->peak, w->live, st->ns);
}

/* Ask for the memory of a batch of events: first for the places of its objects,
** then for their ages.
*/
static void watch_prefetch(LpStream *st, const LpEvent *ev, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++) {
    if (ev[i].kind != LJM_ALLOC)
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  for (i = 0; st->watch->ages && i < n; i++) {
    uint32_t number = LP_NONE;
    if (ev[i].kind != LJM_ALLOC)
      number = lp_live_look(&st->live, ev[i].oaddr);
    if (number != LP_NONE)
      __builtin_prefetch(lp_ages_get(&st->watch->age, number), 1);
  }
}

/* -- Outside of what is wanted -------------------------------------------- */

/* An event before that: what it leaves is older than what is counted. */
static void watch_early(LpStream *st, const LpEvent *e)
{
  unsigned objects = watch_objects(st, e);
  int soon;
  if (objects & WATCH_OLD)
    watch_take(st, e, &soon);
  if (objects & WATCH_NEW)
    watch_put(st, e, LP_ORIGIN_BEFORE);
  st->early += e->nsize - e->osize;
}

/* An event outside counts only for the books. */
static void watch_outside(LpStream *st, const LpEvent *e)
{
  lp_sums_add(&st->outside, e);
}

/* A batch of events, all from one time. The books count what was told, as the
** recorder's totals do.
*/
void lp_watch_events(LpStream *st, const LpEvent *ev, size_t n)
{
  int inside = lp_watch_inside(st);
  int early = !inside && st->ns < st->prof->wanted.from;
  lp_watch_resume(st);
  if (inside || early)
    watch_prefetch(st, ev, n);
  for (; n--; ev++) {
    st->in += ev->nsize;
    st->out += ev->osize;
    st->allocs += ev->kind == LJM_ALLOC;
    st->frees += ev->kind == LJM_FREE;
    st->reallocs += ev->kind == LJM_REALLOC;
    if (ev->foreign)
      lp_sums_add(&st->foreign, ev);
    if (inside)
      watch_event(st, ev);
    else
      watch_outside(st, ev);
    if (early)
      watch_early(st, ev);
  }
}

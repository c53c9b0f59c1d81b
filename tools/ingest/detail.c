/*
** Detailed ingest of events.
**
** ingest.c has the fast path, for sums of events that all are recorded. Here an
** event may be a sample and stand for more. An object has the same weight when
** it is allocated and when it is freed, since both events record its size; no
** weight is stored.
*/

#include <stdlib.h>
#include <string.h>

#include "leb.h"
#include "ingest.h"

/* Of an event: it has an old, a new object that counts. */
enum { DETAIL_OLD = 1, DETAIL_NEW = 2 };

/* All that has come and gone is added up for these. */
#define DETAIL_SUMS (LP_WANT_TEMPORARY | LP_WANT_YOUNG | LP_WANT_TIME)

/* -- The live map --------------------------------------------------------- */

/* An object of an origin is at an address now. */
static void detail_put(LpStream *st, const LpEvent *e, uint32_t origin)
{
  LpDetail *w = st->detail;
  uint32_t number = origin, old;
  if (w->track_ages)
    number = lp_object_age_new(&w->ages, origin, e->nsize, w->come.n);
  old = lp_live_put(&st->live, e->naddr, number);
  if (old == LP_NONE)
    return;
  if (w->track_ages) {
    number = lp_object_age_get(&w->ages, old)->origin;
    lp_object_age_drop(&w->ages, old);
    old = number;
  }
  st->prof->row[lp_cell_site(&st->prof->origins.cell[old])].twice++;
  st->twice++; /* Its deallocation was not recorded. */
}

/* The object of an event is gone. Returns its origin, and whether it went SOON:
** before many others came.
*/
static uint32_t detail_take(LpStream *st, const LpEvent *e, int *soon)
{
  LpDetail *w = st->detail;
  uint32_t number = lp_live_take(&st->live, e->oaddr), origin;
  uint64_t others, much = st->prof->wanted.temporary;
  const LpObjectAge *age;
  *soon = 0;
  if (number == LP_NONE) {
    lp_stream_stray(st, e);
    return LP_ORIGIN_BEFORE;
  }
  if (!w->track_ages)
    return number;
  age = lp_object_age_get(&w->ages, number);
  origin = age->origin;
  others = lp_object_age_ticks(&w->ages, age, w->come.n) << w->ages.shift;
  *soon = others < (much ? much : w->most);
  lp_object_age_drop(&w->ages, number);
  return origin;
}

/* -- Events --------------------------------------------------------------- */

/* Which of the event's objects count. Of a reallocation in samples, one may be
** no sample.
*/
static unsigned detail_objects(const LpStream *st, const LpEvent *e)
{
  if (e->kind != LJM_REALLOC)
    return e->kind == LJM_FREE ? DETAIL_OLD : DETAIL_NEW;
  if (!st->sample)
    return DETAIL_OLD | DETAIL_NEW;
  return (e->sampled & LJM_SAMPLED_OLD ? DETAIL_OLD : 0) |
         (e->sampled & LJM_SAMPLED_NEW ? DETAIL_NEW : 0);
}

/* Count objects of an origin: how many, and their bytes. */
static void detail_count(LpStream *st, uint32_t origin, int count, int bytes,
                         const LpWeight *v)
{
  LpOrigins *o = &st->prof->origins;
  uint64_t *n, *part;
  if (st->detail->what & LP_WANT_PEAK)
    lp_peak_touch(&st->detail->peak, o, origin);
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
static LpWeight *detail_site(LpStream *st, uint32_t origin)
{
  const LpCell *c = &st->prof->origins.cell[origin];
  return &lp_snaps_touch(&st->detail->snapper, lp_cell_site(c))->live;
}

/* An object of an origin comes. */
static void detail_arrive(LpStream *st, const LpEvent *e, uint32_t type,
                          const LpWeight *v)
{
  LpDetail *w = st->detail;
  LpProfile *prof = st->prof;
  uint32_t origin = lp_origins_get(&prof->origins, e->node, e->site, type);
  if (e->kind == LJM_ALLOC)
    detail_count(st, origin, LP_ALLOCS, LP_ALLOC_BYTES, v);
  else
    detail_count(st, origin, LP_REALLOCS, LP_REALLOC_BYTES, v);
  if (w->what & DETAIL_SUMS)
    lp_weight_add(&w->come, v);
  if (w->track_ages) {
    lp_weight_add(&w->own, v);
    w->most = w->own.n > w->most ? w->own.n : w->most;
  }
  detail_put(st, e, origin);
  if (w->what & LP_WANT_SIZES)
    lp_weight_add(&prof->size[lp_sizes_class(e->nsize)].come, v);
  if (prof->wanted.snap)
    lp_weight_add(detail_site(st, origin), v);
}

/* An object that had an age is gone, perhaps soon. */
static void detail_gone(LpStream *st, uint32_t origin, int soon,
                        const LpWeight *v)
{
  lp_weight_sub(&st->detail->own, v);
  if (soon)
    lp_origins_beside(&st->prof->origins, origin, LP_TEMPORARY,
                      LP_TEMPORARY_BYTES, v);
}

/* An object goes. Returns its type. */
static uint32_t detail_leave(LpStream *st, const LpEvent *e, const LpWeight *v)
{
  LpDetail *w = st->detail;
  LpProfile *prof = st->prof;
  int soon;
  uint32_t origin = detail_take(st, e, &soon);
  const LpCell *c = &prof->origins.cell[origin];
  int moved = e->kind == LJM_REALLOC;
  uint64_t key = LP_OVERRIDE_KEY(e->site, lp_cell_site(c));
  detail_count(st, origin, moved ? LP_MOVES : LP_FREES, LP_LEFT_BYTES, v);
  if (w->what & DETAIL_SUMS)
    lp_weight_add(&w->gone, v);
  key |= moved ? LP_OVERRIDE_REALLOC : 0;
  if (st->scale)
    lp_weight_add(lp_overrides_of(&prof->overrides, key), v);
  else
    lp_overrides_add(&prof->overrides, key, e->osize);
  if (w->track_ages && origin != LP_ORIGIN_BEFORE)
    detail_gone(st, origin, soon, v);
  if (w->what & LP_WANT_SIZES) {
    LpSizeClass *s = &prof->size[lp_sizes_class(e->osize)];
    lp_weight_add(&s->gone, v);
    if (origin == LP_ORIGIN_BEFORE)
      lp_weight_add(&s->older, v);
  }
  if (prof->wanted.snap)
    lp_weight_sub(detail_site(st, origin), v);
  return lp_cell_type(c);
}

/* One event. What was no sample before has no known type. */
static void detail_event(LpStream *st, const LpEvent *e)
{
  LpDetail *w = st->detail;
  unsigned objects = detail_objects(st, e);
  uint32_t type = e->kind == LJM_ALLOC ? e->type : LJM_TYPE_UNKNOWN;
  LpWeight old = {0, 0, 0, 0}, new = {0, 0, 0, 0};
  LpFixed more;
  if (objects & DETAIL_OLD)
    lp_stream_weigh(st, e->osize, &old);
  if (objects & DETAIL_NEW)
    lp_stream_weigh(st, e->nsize, &new);
  more = lp_weight_fixed(&new) - lp_weight_fixed(&old);
  lp_peak_event(&w->peak, more);
  if (objects & DETAIL_OLD)
    type = detail_leave(st, e, &old);
  if (e->foreign)
    type = LJM_TYPE_FOREIGN;
  if (objects & DETAIL_NEW)
    detail_arrive(st, e, type, &new);
  w->live += more;
  if (w->live > w->highest)
    w->highest = w->live;
  lp_peak_after(&w->peak, w->live, st->ns);
}

/* Ask for the memory of a batch of events: first for the places of its objects,
** then for their ages.
*/
static void detail_prefetch(LpStream *st, const LpEvent *ev, size_t n)
{
  size_t i;
  for (i = 0; i < n; i++) {
    if (ev[i].kind != LJM_ALLOC)
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  for (i = 0; st->detail->track_ages && i < n; i++) {
    uint32_t number = LP_NONE;
    if (ev[i].kind != LJM_ALLOC)
      number = lp_live_look(&st->live, ev[i].oaddr);
    if (number != LP_NONE)
      __builtin_prefetch(lp_object_age_get(&st->detail->ages, number), 1);
  }
}

/* -- Outside of what is wanted -------------------------------------------- */

/* An event before that: what it leaves is older than what is counted. */
static void detail_early(LpStream *st, const LpEvent *e)
{
  unsigned objects = detail_objects(st, e);
  int soon;
  if (objects & DETAIL_OLD)
    detail_take(st, e, &soon);
  if (objects & DETAIL_NEW)
    detail_put(st, e, LP_ORIGIN_BEFORE);
  st->early += e->nsize - e->osize;
}

/* An event outside counts only for the check of the totals. */
static void detail_outside(LpStream *st, const LpEvent *e)
{
  lp_sums_add(&st->outside, e);
}

/* A batch of events, all from one time. The sums of the stream include all that
** was recorded, as the recorder's totals do.
*/
void lp_detail_events(LpStream *st, const LpEvent *ev, size_t n)
{
  int inside = lp_stream_wanted(st);
  int early = !inside && st->ns < st->prof->wanted.from;
  lp_detail_resume(st);
  if (inside || early)
    detail_prefetch(st, ev, n);
  for (; n--; ev++) {
    st->in += ev->nsize;
    st->out += ev->osize;
    st->allocs += ev->kind == LJM_ALLOC;
    st->frees += ev->kind == LJM_FREE;
    st->reallocs += ev->kind == LJM_REALLOC;
    if (ev->foreign)
      lp_sums_add(&st->foreign, ev);
    if (inside)
      detail_event(st, ev);
    else
      detail_outside(st, ev);
    if (early)
      detail_early(st, ev);
  }
}

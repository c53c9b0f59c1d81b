/*
** Counts events into a profile.
**
** The functions marked COUNT_INLINE are compiled twice. Without detailed
** counters W is NULL: that is the fast path, for sums of events that all are
** recorded. With them an event may be a sample and stand for more. An object
** has the same weight when it is allocated and when it is freed, since both
** events record its size; no weight is stored.
*/

#include "count.h"
#include "detail.h"

#define COUNT_INLINE __attribute__((always_inline)) static inline

/* Of an event: it has an old, a new object that counts. */
enum { COUNT_OLD = 1, COUNT_NEW = 2 };

/* All that has come and gone is added up for these. */
#define COUNT_SUMS                                                             \
  (LP_WANT_TEMPORARY | LP_WANT_YOUNG | LP_WANT_TIME | LP_WANT_AGES |           \
   LP_WANT_PROCESSES)

/* Add an event of KIND to sums. */
COUNT_INLINE void count_sums(LpSums *s, const LpEvent *e, unsigned kind)
{
  s->in += kind == LJM_FREE ? 0 : e->nsize;
  s->out += kind == LJM_ALLOC ? 0 : e->osize;
  s->allocs += kind == LJM_ALLOC;
  s->frees += kind == LJM_FREE;
  s->reallocs += kind == LJM_REALLOC;
}

/* -- The live map --------------------------------------------------------- */

/* An object of an origin is at the new address of an event now. */
COUNT_INLINE void count_put(LpStream *st, LpDetail *w, const LpEvent *e,
                            uint32_t origin)
{
  int aged = w && w->track_ages;
  uint32_t old;
  if (aged)
    origin = lp_object_age_new(&w->ages, origin, e->nsize, w->come.n);
  old = lp_live_put(&st->live, e->naddr, origin);
  if (old == LP_NONE)
    return;
  if (aged) {
    uint32_t number = old;
    old = lp_object_age_get(&w->ages, number)->origin;
    lp_object_age_drop(&w->ages, number);
  }
  st->prof->row[lp_cell_site(&st->prof->origins.cell[old])].twice++;
  st->twice++; /* Its deallocation was not recorded. */
}

/* An object that is older than the recording is gone. */
static void count_stray(LpStream *st, const LpEvent *e)
{
  st->strays++;
  if (!e->foreign) {
    st->before += e->osize;
    return;
  }
  st->elder += e->osize;
  st->prof->elder.n++;
  st->prof->elder.bytes += e->osize;
}

/* The object of a NUMBER is gone. Returns its origin, and whether it went SOON:
** before many others came.
*/
static uint32_t count_aged(LpStream *st, LpDetail *w, uint32_t number,
                           int *soon)
{
  const LpObjectAge *age = lp_object_age_get(&w->ages, number);
  uint64_t others = lp_object_age_ticks(&w->ages, age, w->come.n)
                    << w->ages.shift;
  uint64_t much = st->prof->wanted.temporary;
  uint32_t origin = age->origin;
  *soon = others < (much ? much : w->most);
  lp_object_age_drop(&w->ages, number);
  return origin;
}

/* The old object of an event is gone. Returns its origin, and as count_aged. */
COUNT_INLINE uint32_t count_take(LpStream *st, LpDetail *w, const LpEvent *e,
                                 int *soon)
{
  uint32_t number = lp_live_take(&st->live, e->oaddr);
  *soon = 0;
  if (number != LP_NONE)
    return w && w->track_ages ? count_aged(st, w, number, soon) : number;
  count_stray(st, e);
  return LP_ORIGIN_BEFORE;
}

/* -- Events --------------------------------------------------------------- */

/* Which of an event's objects count. Of a reallocation in samples, one may be
** no sample.
*/
COUNT_INLINE unsigned count_which(const LpStream *st, const LpDetail *w,
                                  const LpEvent *e, unsigned kind)
{
  if (kind != LJM_REALLOC)
    return kind == LJM_FREE ? COUNT_OLD : COUNT_NEW;
  if (!w || !st->sample)
    return COUNT_OLD | COUNT_NEW;
  return (e->sampled & LJM_SAMPLED_OLD ? COUNT_OLD : 0) |
         (e->sampled & LJM_SAMPLED_NEW ? COUNT_NEW : 0);
}

/* Count objects of an origin: how many, and their bytes. */
COUNT_INLINE void count_objects(LpOrigins *o, LpDetail *w, uint32_t origin,
                                int count, int bytes, const LpWeight *v)
{
  uint64_t *n = o->cell[origin].n, *part;
  if (w && (w->what & LP_WANT_PEAK))
    lp_peak_touch(&w->peak, o, origin);
  if (w && (w->what & LP_WANT_SLICES) && !lp_slicer_known(&w->slicer, origin))
    lp_detail_touch(w, o, origin);
  if (!w || !(v->npart | v->bytespart)) {
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
static LpWeight *count_site(LpStream *st, LpDetail *w, uint32_t origin)
{
  const LpCell *c = &st->prof->origins.cell[origin];
  return &lp_snaps_touch(&w->snapper, lp_cell_site(c))->live;
}

/* What is wanted of an object that comes. */
static void count_came(LpStream *st, LpDetail *w, const LpEvent *e,
                       uint32_t origin, const LpWeight *v)
{
  if (w->what & COUNT_SUMS)
    lp_weight_add(&w->come, v);
  if (w->track_ages) {
    lp_weight_add(&w->own, v);
    w->most = w->own.n > w->most ? w->own.n : w->most;
  }
  if (w->what & LP_WANT_SIZES)
    lp_weight_add(&st->prof->size[lp_sizes_class(e->nsize)].come, v);
  if (st->prof->wanted.snap)
    lp_weight_add(count_site(st, w, origin), v);
  if ((w->what & LP_WANT_ARRIVALS) && e->kind == LJM_ALLOC)
    lp_weight_add(
        lp_overrides_of(&st->prof->arrivals, LP_OVERRIDE_KEY(e->site, 0)), v);
}

/* The object of an origin is reallocated: its new bytes. */
static void count_grown(LpStream *st, const LpEvent *e, uint32_t origin)
{
  uint32_t site = lp_cell_site(&st->prof->origins.cell[origin]);
  uint64_t key = LP_OVERRIDE_REALLOC | LP_OVERRIDE_KEY(e->site, site);
  LpWeight v;
  lp_stream_weigh(st, e->nsize, &v);
  lp_weight_add(lp_overrides_of(&st->prof->arrivals, key), &v);
}

/* What is wanted of an object that went, perhaps SOON. */
static void count_went(LpStream *st, LpDetail *w, const LpEvent *e,
                       uint32_t origin, int soon, const LpWeight *v)
{
  if (w->what & COUNT_SUMS)
    lp_weight_add(&w->gone, v);
  if ((w->what & LP_WANT_PROCESSES) && origin == LP_ORIGIN_BEFORE)
    lp_weight_add(&w->older, v);
  if (w->track_ages && origin != LP_ORIGIN_BEFORE)
    lp_weight_sub(&w->own, v);
  if (soon && origin != LP_ORIGIN_BEFORE)
    lp_origins_beside(&st->prof->origins, origin, LP_TEMPORARY,
                      LP_TEMPORARY_BYTES, v);
  if (w->what & LP_WANT_SIZES) {
    LpSizeClass *s = &st->prof->size[lp_sizes_class(e->osize)];
    lp_weight_add(&s->gone, v);
    if (origin == LP_ORIGIN_BEFORE)
      lp_weight_add(&s->older, v);
  }
  if (st->prof->wanted.snap)
    lp_weight_sub(count_site(st, w, origin), v);
  if ((w->what & LP_WANT_ARRIVALS) && e->kind == LJM_REALLOC)
    count_grown(st, e, origin);
}

/* An object of an origin comes. */
COUNT_INLINE void count_arrive(LpStream *st, LpDetail *w, const LpEvent *e,
                               unsigned kind, uint32_t origin,
                               const LpWeight *v)
{
  count_objects(&st->prof->origins, w, origin,
                kind == LJM_ALLOC ? LP_ALLOCS : LP_REALLOCS,
                kind == LJM_ALLOC ? LP_ALLOC_BYTES : LP_REALLOC_BYTES, v);
  if (w)
    count_came(st, w, e, origin, v);
  count_put(st, w, e, origin);
}

/* An object goes. Returns its type. */
COUNT_INLINE uint32_t count_leave(LpStream *st, LpDetail *w, const LpEvent *e,
                                  unsigned kind, const LpWeight *v)
{
  LpProfile *prof = st->prof;
  int soon;
  uint32_t origin = count_take(st, w, e, &soon);
  const LpCell *c = &prof->origins.cell[origin];
  uint64_t key = LP_OVERRIDE_KEY(e->site, lp_cell_site(c));
  key |= kind == LJM_REALLOC ? LP_OVERRIDE_REALLOC : 0;
  count_objects(&prof->origins, w, origin,
                kind == LJM_REALLOC ? LP_MOVES : LP_FREES, LP_LEFT_BYTES, v);
  if (w)
    lp_weight_add(lp_overrides_of(&prof->overrides, key), v);
  else
    lp_overrides_add(&prof->overrides, key, e->osize);
  if (w)
    count_went(st, w, e, origin, soon, v);
  return lp_cell_type(c);
}

/* The objects of an event of KIND, of the weights OLD and NEW. An allocation in
** the fast path knows its ORIGIN. A reallocation moves the whole object to its
** site; its type remains. What was no sample before has no known type.
*/
COUNT_INLINE void count_event(LpStream *st, LpDetail *w, const LpEvent *e,
                              unsigned kind, uint32_t origin,
                              const LpWeight *old, const LpWeight *new)
{
  unsigned objects = count_which(st, w, e, kind);
  uint32_t type = kind == LJM_ALLOC ? e->type : LJM_TYPE_UNKNOWN;
  if (objects & COUNT_OLD)
    type = count_leave(st, w, e, kind, old);
  if (!(objects & COUNT_NEW))
    return;
  if (e->foreign)
    type = LJM_TYPE_FOREIGN;
  if (w || kind == LJM_REALLOC)
    origin = lp_origins_get(&st->prof->origins, e->node, e->site, type);
  count_arrive(st, w, e, kind, origin, new);
}

/* An event of KIND in the fast path, a constant there. */
COUNT_INLINE void count_plain(LpStream *st, const LpEvent *e, unsigned kind,
                              uint32_t origin)
{
  const LpWeight old = {1, 0, e->osize, 0}, new = {1, 0, e->nsize, 0};
  count_sums(&st->sums, e, kind);
  count_event(st, NULL, e, kind, origin, &old, &new);
}

/* An event in detail. */
static void count_detailed(LpStream *st, LpDetail *w, const LpEvent *e)
{
  unsigned objects = count_which(st, w, e, e->kind);
  LpWeight old = {0, 0, 0, 0}, new = {0, 0, 0, 0};
  LpFixed more;
  if (objects & COUNT_OLD)
    lp_stream_weigh(st, e->osize, &old);
  if (objects & COUNT_NEW)
    lp_stream_weigh(st, e->nsize, &new);
  more = lp_weight_fixed(&new) - lp_weight_fixed(&old);
  lp_peak_event(&w->peak, more);
  count_event(st, w, e, e->kind, 0, &old, &new);
  w->live += more;
  if (w->live > w->highest)
    w->highest = w->live;
  lp_peak_after(&w->peak, w->live, st->ns);
}

/* An event before the wanted time: what it leaves is older than what is
** counted.
*/
static void count_early(LpStream *st, LpDetail *w, const LpEvent *e)
{
  unsigned objects = count_which(st, w, e, e->kind);
  int soon;
  if (objects & COUNT_OLD)
    count_take(st, w, e, &soon);
  if (objects & COUNT_NEW)
    count_put(st, w, e, LP_ORIGIN_BEFORE);
  st->early += e->nsize - e->osize;
}

/* -- Batches -------------------------------------------------------------- */

/* Ask for the memory of the ages of a batch's objects. */
static void count_prefetch_ages(LpStream *st, const LpDetail *w,
                                const LpEvent *ev, size_t n)
{
  for (; n--; ev++) {
    uint32_t number = LP_NONE;
    if (ev->kind != LJM_ALLOC)
      number = lp_live_look(&st->live, ev->oaddr);
    if (number != LP_NONE)
      __builtin_prefetch(lp_object_age_get(&w->ages, number), 1);
  }
}

/* A batch in detail, all from one time. */
static void count_in_detail(LpStream *st, LpDetail *w, const LpEvent *ev,
                            size_t n)
{
  int inside = lp_stream_wanted(st);
  int early = !inside && st->ns < st->prof->wanted.from;
  size_t i;
  lp_detail_resume(st);
  for (i = 0; (inside || early) && i < n; i++) {
    if (ev[i].kind != LJM_ALLOC)
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  if (w->track_ages && (inside || early))
    count_prefetch_ages(st, w, ev, n);
  for (; n--; ev++) {
    count_sums(&st->sums, ev, ev->kind);
    if (ev->foreign)
      count_sums(&st->foreign, ev, ev->kind);
    if (inside)
      count_detailed(st, w, ev);
    else
      count_sums(&st->outside, ev, ev->kind);
    if (early)
      count_early(st, w, ev);
  }
}

void lp_count_events(void *ctx, const LpEvent *ev, size_t n)
{
  LpStream *st = ctx;
  LpOrigins *o = &st->prof->origins;
  LpDetail *w = lp_detail_begin(st);
  uint32_t origin[LP_BATCH];
  size_t i;
  if (w) {
    count_in_detail(st, w, ev, n);
    return;
  }
  for (i = 0; i < n; i++) {
    if (ev[i].kind == LJM_ALLOC)
      origin[i] = lp_origins_get(o, ev[i].node, ev[i].site, ev[i].type);
    else
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  for (i = 0; i < n; i++) {
    const LpEvent *e = &ev[i];
    if (e->foreign)
      count_sums(&st->foreign, e, e->kind);
    if (e->kind == LJM_ALLOC)
      count_plain(st, e, LJM_ALLOC, origin[i]);
    else if (e->kind == LJM_FREE)
      count_plain(st, e, LJM_FREE, LP_ORIGIN_BEFORE);
    else
      count_plain(st, e, LJM_REALLOC, LP_ORIGIN_BEFORE);
  }
}

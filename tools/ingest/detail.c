/*
** Detailed ingest: time marks, and finalizing of time series, peak, object age.
** A profile is finalized when the stream has ended, or to report it before.
*/

#include <stdlib.h>
#include <string.h>

#include "detail.h"
#include "leb.h"

/* What needs the age of each live object. */
#define DETAIL_AGES (LP_WANT_TEMPORARY | LP_WANT_YOUNG | LP_WANT_AGES)

/* -- Time ----------------------------------------------------------------- */

/* The counters of an origin that slices have. */
static void detail_counters(const LpOrigins *o, uint32_t origin,
                            uint64_t n[LP_NSLICE])
{
  static const uint64_t none[LP_NCELL];
  const uint64_t *c = o->cell[origin].n;
  const uint64_t *part = origin < o->nparts ? o->part[origin] : none;
  n[LP_SLICE_BIRTHS] = lp_round(c[LP_ALLOCS] + c[LP_REALLOCS],
                                part[LP_ALLOCS] + part[LP_REALLOCS]);
  n[LP_SLICE_BYTES] = lp_round(c[LP_ALLOC_BYTES] + c[LP_REALLOC_BYTES],
                               part[LP_ALLOC_BYTES] + part[LP_REALLOC_BYTES]);
  n[LP_SLICE_DEATHS] =
      lp_round(c[LP_FREES] + c[LP_MOVES], part[LP_FREES] + part[LP_MOVES]);
  n[LP_SLICE_FREED] = lp_round(c[LP_LEFT_BYTES], part[LP_LEFT_BYTES]);
}

void lp_detail_touch(LpDetail *w, const LpOrigins *o, uint32_t origin)
{
  uint64_t n[LP_NSLICE];
  detail_counters(o, origin, n);
  lp_slicer_touch(&w->slicer, origin, n);
}

void lp_detail_sampled(LpStream *st, uint32_t stack, uint64_t count)
{
  uint64_t n[LP_NSLICE] = {0};
  LpSlicer *s = &st->detail->slicer;
  n[LP_SLICE_SAMPLES] = st->prof->sampled.samples[stack] - count;
  if (!lp_slicer_known(s, stack))
    lp_slicer_touch(s, stack, n);
}

/* Add what changed to the slices; it happened at NS nanoseconds, samples from
** FROM on.
*/
static void detail_slice(LpStream *st, uint64_t from, uint64_t ns)
{
  const LpOrigins *o = &st->prof->origins;
  LpSlicer *s = &st->detail->slicer;
  uint64_t n[LP_NSLICE];
  size_t i;
  int k;
  for (i = 0; i < s->ntouched; i++) {
    const LpSlice *e = &s->touched[i];
    if (st->body == 'p') {
      lp_slices_spread(&s->slices, from, ns, e->id,
                       st->prof->sampled.samples[e->id] -
                           e->n[LP_SLICE_SAMPLES]);
      continue;
    }
    detail_counters(o, e->id, n);
    for (k = 0; k < LP_NSLICE; k++)
      n[k] -= e->n[k];
    lp_slices_add(&s->slices, ns, e->id, n);
  }
  s->ntouched = 0;
  s->epoch++;
  if (s->slices.full)
    st->detail->what &= ~(unsigned)LP_WANT_SLICES;
}

/* Is it time to do so, where the next mark is at NS? */
static int detail_slice_ends(const LpStream *st, uint64_t ns)
{
  const LpSlices *s = &st->detail->slicer.slices;
  uint64_t width = s->width ? s->width : TIMESERIES_FIRST;
  return st->body == 'p' || st->ns / width != ns / width;
}

/* Add what happened since the last time mark to the time series. */
static void detail_step(LpStream *st)
{
  LpDetail *w = st->detail;
  LpStep s = {w->come, w->gone, w->live, w->highest, w->samples};
  uint64_t ns = st->ns, from = w->marked;
  w->marked = ns;
  lp_weight_sub(&s.come, &w->at_mark[0]);
  lp_weight_sub(&s.gone, &w->at_mark[1]);
  w->at_mark[0] = w->come;
  w->at_mark[1] = w->gone;
  w->highest = w->live;
  w->samples = 0;
  if (!lp_stream_wanted(st))
    return;
  if (st->body == 'p')
    lp_timeseries_spread(&w->timeseries, from, ns, s.samples);
  else
    lp_timeseries_add(&w->timeseries, ns, &s);
}

void lp_detail_time(LpStream *st, uint64_t ns)
{
  LpDetail *w = st->detail;
  LpProfile *prof = st->prof;
  lp_detail_resume(st);
  if ((w->what & LP_WANT_SLICES) && st->marks && detail_slice_ends(st, ns))
    detail_slice(st, w->marked, st->ns);
  if ((w->what & LP_WANT_TIME) && st->marks)
    detail_step(st);
  if (ns > prof->wanted.to)
    ns = prof->wanted.to;
  if (prof->wanted.snap && st->body != 'p')
    lp_snaps_take(&w->snapper, &prof->snaps, ns, prof->wanted.snap);
}

/* -- Its life ------------------------------------------------------------- */

LpDetail *lp_detail_begin(LpStream *st)
{
  LpProfile *prof = st->prof;
  const LpWanted *wanted = &prof->wanted;
  LpDetail *w = st->detail;
  if (w || !(st->sample || wanted->what || wanted->snap || wanted->from ||
             wanted->to != UINT64_MAX))
    return w;
  st->detail = w = lp_zalloc(1, sizeof(LpDetail));
  w->what = st->body == 'p' ? wanted->what & (LP_WANT_TIME | LP_WANT_SLICES)
                            : wanted->what;
  if (!(wanted->young > 0))
    w->what &= ~(unsigned)LP_WANT_YOUNG; /* Nothing is too young. */
  w->track_ages = (w->what & DETAIL_AGES) != 0;
  if (wanted->snap)
    w->snapper.next = wanted->from / wanted->snap + 1;
  if (w->track_ages)
    lp_object_age_open(&w->ages);
  if (w->what & LP_WANT_PEAK)
    lp_peak_open(&w->peak, &prof->origins);
  if ((w->what & LP_WANT_SIZES) && !prof->size)
    prof->size = lp_zalloc(LP_NSIZES, sizeof(LpSizeClass));
  return w;
}

/* Those of the live objects that came last; to be added, or taken off again. */
static void detail_young(LpStream *st, int resume)
{
  LpDetail *w = st->detail;
  double part = st->prof->wanted.young / 100;
  uint64_t all = w->come.n;
  uint64_t old = part < 1 ? all - (uint64_t)((double)all * part) : 0;
  uint32_t i;
  for (i = 0; i < w->ages.n; i++) {
    const LpObjectAge *age = lp_object_age_get(&w->ages, i);
    LpWeight v, less = {0, 0, 0, 0};
    if (age->origin == LP_NONE || age->birth <= old >> w->ages.shift)
      continue;
    lp_stream_weigh(st, age->size, &v);
    lp_weight_sub(&less, &v);
    lp_origins_beside(&st->prof->origins, age->origin, LP_YOUNG, LP_YOUNG_BYTES,
                      resume ? &less : &v);
  }
}

/* The live objects by the quarter of all allocations that they came in; to be
** added, or taken off again. Those of the last one are the rest.
*/
static void detail_quarters(LpStream *st, int resume)
{
  LpDetail *w = st->detail;
  uint64_t all = w->come.n;
  uint32_t i;
  for (i = LP_OBJECT_AGE_LOST + 1; i < w->ages.n; i++) {
    const LpObjectAge *age = lp_object_age_get(&w->ages, i);
    LpWeight v, less = {0, 0, 0, 0};
    uint64_t birth = (uint64_t)age->birth << w->ages.shift;
    int quarter = LP_QUARTER_1 + (birth > all / 4) + (birth > all / 2);
    if (age->origin == LP_NONE || birth > all - all / 4)
      continue;
    lp_stream_weigh(st, age->size, &v);
    lp_weight_sub(&less, &v);
    lp_origins_bytes(&st->prof->origins, age->origin, quarter,
                     resume ? &less : &v);
  }
}

/* The highest peak of all streams is that of the profile. */
static void detail_peak(LpStream *st)
{
  LpProfile *prof = st->prof;
  LpPeak *p = &st->detail->peak;
  uint64_t base, bytes;
  bytes = lp_peak_finalize(p, &prof->origins, lp_stream_base(st, &base));
  if (!prof->peak_bytes || (int64_t)bytes > (int64_t)prof->peak_bytes) {
    prof->peak_bytes = bytes;
    prof->peak_ns = lp_sat_add(st->at, p->ns);
  }
}

/* Add the time series of this stream to the profile's. */
static void detail_timeseries(LpStream *st)
{
  LpDetail *w = st->detail;
  LpTimeSeries mine;
  uint64_t base;
  detail_step(st);
  mine = lp_timeseries_copy(&w->timeseries);
  lp_timeseries_raise(&mine, lp_stream_base(st, &base) ? base : 0);
  lp_timeseries_shift(&mine, st->at);
  w->others = lp_timeseries_copy(&st->prof->timeseries);
  lp_timeseries_join(&st->prof->timeseries, &mine);
}

void lp_detail_resume(LpStream *st)
{
  LpDetail *w = st->detail;
  LpProfile *prof = st->prof;
  if (!w->finalized)
    return;
  w->finalized = 0;
  prof->peak_bytes = w->peak_bytes;
  prof->peak_ns = w->peak_ns;
  if (w->what & LP_WANT_PEAK)
    lp_peak_resume(&w->peak, &prof->origins);
  if (w->what & LP_WANT_YOUNG)
    detail_young(st, 1);
  if (w->what & LP_WANT_AGES)
    detail_quarters(st, 1);
  if ((w->what & LP_WANT_TIME) && st->marks) {
    lp_timeseries_free(&prof->timeseries);
    prof->timeseries = w->others;
    w->others = (LpTimeSeries){0};
  }
}

void lp_detail_finalize(LpStream *st)
{
  LpDetail *w = lp_detail_begin(st);
  if (!w)
    return;
  lp_detail_resume(st);
  w->finalized = 1;
  w->peak_bytes = st->prof->peak_bytes;
  w->peak_ns = st->prof->peak_ns;
  if (w->what & LP_WANT_PEAK)
    detail_peak(st);
  if (w->what & LP_WANT_YOUNG)
    detail_young(st, 0);
  if (w->what & LP_WANT_AGES)
    detail_quarters(st, 0);
  if (w->what & LP_WANT_SLICES)
    detail_slice(st, w->marked, st->ns);
  if ((w->what & LP_WANT_TIME) && st->marks)
    detail_timeseries(st);
}

void lp_detail_close(LpStream *st)
{
  LpDetail *w = st->detail;
  if (!w)
    return;
  lp_peak_close(&w->peak);
  lp_object_age_close(&w->ages);
  lp_timeseries_free(&w->timeseries);
  lp_timeseries_free(&w->others);
  lp_snapper_free(&w->snapper);
  lp_slices_shift(&w->slicer.slices, st->at);
  lp_slices_join(&st->prof->slices[st->body == 'p'], &w->slicer.slices);
  lp_slicer_free(&w->slicer);
  free(w);
  st->detail = NULL;
}

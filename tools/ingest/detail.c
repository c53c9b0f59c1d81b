/*
** Detailed ingest: time marks, and finalizing of time series, peak, object age.
** A profile is finalized when the stream has ended, or to report it before.
*/

#include <stdlib.h>
#include <string.h>

#include "detail.h"
#include "leb.h"

/* -- Time ----------------------------------------------------------------- */

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
  w->what = st->body == 'p' ? wanted->what & LP_WANT_TIME : wanted->what;
  if (!(wanted->young > 0))
    w->what &= ~(unsigned)LP_WANT_YOUNG; /* Nothing is too young. */
  w->track_ages = (w->what & (LP_WANT_TEMPORARY | LP_WANT_YOUNG)) != 0;
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
  free(w);
  st->detail = NULL;
}

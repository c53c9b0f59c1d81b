/*
** What is wanted of a stream beside its events: time, peak, ages. A profile is
** settled when the stream has ended, or when it is to be reported before that.
*/

#include <stdlib.h>
#include <string.h>

#include "leb.h"
#include "ingest.h"

/* -- Time ----------------------------------------------------------------- */

/* What happened since the last time mark is a part of the course. */
static void watch_step(LpStream *st)
{
  LpWatch *w = st->watch;
  LpStep s = {w->come, w->gone, w->live, w->highest, w->samples};
  uint64_t ns = st->ns, from = w->marked;
  w->marked = ns;
  lp_weight_sub(&s.come, &w->told[0]);
  lp_weight_sub(&s.gone, &w->told[1]);
  w->told[0] = w->come;
  w->told[1] = w->gone;
  w->highest = w->live;
  w->samples = 0;
  if (!lp_watch_inside(st))
    return;
  if (st->body == 'p')
    lp_course_spread(&w->course, from, ns, s.samples);
  else
    lp_course_add(&w->course, ns, &s);
}

/* A time mark. */
void lp_watch_time(LpStream *st, uint64_t ns)
{
  LpWatch *w = st->watch;
  LpProfile *prof = st->prof;
  lp_watch_resume(st);
  if ((w->what & LP_WANT_TIME) && st->marks)
    watch_step(st);
  if (ns > prof->wanted.to)
    ns = prof->wanted.to;
  if (prof->wanted.snap && st->body != 'p')
    lp_snaps_take(&w->snapper, &prof->snaps, ns, prof->wanted.snap);
}

/* -- Its life ------------------------------------------------------------- */

/* Begin, if something is wanted. */
void lp_watch_open(LpStream *st)
{
  LpProfile *prof = st->prof;
  const LpWanted *wanted = &prof->wanted;
  LpWatch *w = st->watch;
  st->begun = 1;
  if (w || !(st->sample || wanted->what || wanted->snap || wanted->from ||
             wanted->to != UINT64_MAX))
    return;
  st->watch = w = lp_zalloc(1, sizeof(LpWatch));
  w->what = st->body == 'p' ? wanted->what & LP_WANT_TIME : wanted->what;
  if (!(wanted->young > 0))
    w->what &= ~(unsigned)LP_WANT_YOUNG; /* Nothing is too young. */
  w->ages = (w->what & (LP_WANT_TEMPORARY | LP_WANT_YOUNG)) != 0;
  if (wanted->snap)
    w->snapper.next = wanted->from / wanted->snap + 1;
  if (w->ages)
    lp_ages_open(&w->age);
  if (w->what & LP_WANT_PEAK)
    lp_peak_open(&w->peak, &prof->origins);
  if ((w->what & LP_WANT_SIZES) && !prof->size)
    prof->size = lp_zalloc(LP_NSIZES, sizeof(LpSizeClass));
}

/* Those of the live objects that came last; to be added, or taken off again. */
static void watch_young(LpStream *st, int resume)
{
  LpWatch *w = st->watch;
  double part = st->prof->wanted.young / 100;
  uint64_t all = w->come.n;
  uint64_t old = part < 1 ? all - (uint64_t)((double)all * part) : 0;
  uint32_t i;
  for (i = 0; i < w->age.n; i++) {
    const LpAge *age = lp_ages_get(&w->age, i);
    LpWeight v, less = {0, 0, 0, 0};
    if (age->origin == LP_NONE || age->birth <= old >> w->age.shift)
      continue;
    lp_stream_weigh(st, age->size, &v);
    lp_weight_sub(&less, &v);
    lp_origins_beside(&st->prof->origins, age->origin, LP_YOUNG, LP_YOUNG_BYTES,
                      resume ? &less : &v);
  }
}

/* The highest peak of all streams is that of the profile. */
static void watch_peak(LpStream *st)
{
  LpProfile *prof = st->prof;
  LpPeak *p = &st->watch->peak;
  uint64_t base, bytes;
  bytes = lp_peak_settle(p, &prof->origins, lp_stream_base(st, &base));
  if (!prof->peak_bytes || (int64_t)bytes > (int64_t)prof->peak_bytes) {
    prof->peak_bytes = bytes;
    prof->peak_ns = lp_sat_add(st->at, p->ns);
  }
}

/* The course of this stream is a part of the profile's. */
static void watch_course(LpStream *st)
{
  LpWatch *w = st->watch;
  LpCourse mine;
  uint64_t base;
  watch_step(st);
  mine = lp_course_copy(&w->course);
  lp_course_raise(&mine, lp_stream_base(st, &base) ? base : 0);
  lp_course_shift(&mine, st->at);
  w->others = lp_course_copy(&st->prof->course);
  lp_course_join(&st->prof->course, &mine);
}

/* Take what was settled out of the profile, to go on. */
void lp_watch_resume(LpStream *st)
{
  LpWatch *w = st->watch;
  LpProfile *prof = st->prof;
  if (!w->settled)
    return;
  w->settled = 0;
  prof->peak_bytes = w->peak_bytes;
  prof->peak_ns = w->peak_ns;
  if (w->what & LP_WANT_PEAK)
    lp_peak_resume(&w->peak, &prof->origins);
  if (w->what & LP_WANT_YOUNG)
    watch_young(st, 1);
  if ((w->what & LP_WANT_TIME) && st->marks) {
    lp_course_free(&prof->course);
    prof->course = w->others;
    w->others = (LpCourse){0};
  }
}

/* Bring the profile up to date. */
void lp_watch_settle(LpStream *st)
{
  LpWatch *w;
  lp_stream_begin(st);
  w = st->watch;
  if (!w)
    return;
  lp_watch_resume(st);
  w->settled = 1;
  w->peak_bytes = st->prof->peak_bytes;
  w->peak_ns = st->prof->peak_ns;
  if (w->what & LP_WANT_PEAK)
    watch_peak(st);
  if (w->what & LP_WANT_YOUNG)
    watch_young(st, 0);
  if ((w->what & LP_WANT_TIME) && st->marks)
    watch_course(st);
}

/* The end of the stream, which is settled. */
void lp_watch_close(LpStream *st)
{
  LpWatch *w = st->watch;
  if (!w)
    return;
  lp_peak_close(&w->peak);
  lp_ages_close(&w->age);
  lp_course_free(&w->course);
  lp_course_free(&w->others);
  lp_snapper_free(&w->snapper);
  free(w);
  st->watch = NULL;
}

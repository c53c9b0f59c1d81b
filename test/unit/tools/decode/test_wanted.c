/*
** All that can be wanted of a profile, of random streams: against a slow model,
** which goes through all events again for every question.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "reader.h"
#include "run.h"
#include "suites.h"

#define NSITE  6
#define NOBJ   300
#define NEVENT 4000
#define NMARK  1000
#define OLDER  LP_SITE_BEFORE /* A site of objects older than what counts. */
#define BASE   5000

typedef unsigned __int128 Sum; /* In 2^-32. */

/* Objects, and bytes. */
typedef struct Held {
  Sum n, bytes;
} Held;

/* An event; no size, no object. */
typedef struct Event {
  int kind, site, old, new; /* old, new: the objects' places. */
  uint64_t osize, nsize, ns;
} Event;

typedef struct Object {
  int site; /* 0: nobody; -1: it is older. */
  uint64_t size;
  Sum birth; /* How many had come by then. */
} Object;

typedef struct Model {
  Event ev[NEVENT];
  int n;
  uint64_t mark[NMARK];
  int nmark;
  uint64_t sample;
  LpScale scale;
  /* While going through the events. */
  Object obj[NOBJ];
  Held live[LP_SITE_FIRST + NSITE + 2];
  Held come, gone, all;
  /* What is found on the way. */
  Held peak[LP_SITE_FIRST + NSITE + 2], high;
  Held soon[LP_SITE_FIRST + NSITE + 2];
  uint64_t peak_ns;
  Sum own, most; /* Objects that came and live. */
} Model;

#define NLIVE ((int)(sizeof(((Model *)0)->live) / sizeof(Held)))

static Sum sum(uint64_t n, uint64_t part)
{
  return ((Sum)n << 32) + (Sum)(__int128)(int64_t)part;
}

/* What an object stands for. */
static Held weigh(Model *m, uint64_t size)
{
  LpWeight w = {.n = 1, .bytes = size};
  if (m->sample)
    w = lp_weigh(&m->scale, size);
  return (Held){sum(w.n, w.npart), sum(w.bytes, w.bytespart)};
}

/* Add B to A; with SIGN -1 take it off. */
static void add(Held *a, Held b, int sign)
{
  a->n += sign < 0 ? -b.n : b.n;
  a->bytes += sign < 0 ? -b.bytes : b.bytes;
}

/* -- The stream ----------------------------------------------------------- */

/* Add an event to both. */
static void event(Model *m, Craft *c, Event e)
{
  uint64_t oaddr = (uint64_t)(e.old + 1) << 12;
  uint64_t naddr = (uint64_t)(e.new + 1) << 12;
  e.ns = c->ns;
  m->ev[m->n++] = e;
  c->sampled = 0;
  if (m->sample)
    c->sampled =
        (e.osize ? LJM_SAMPLED_OLD : 0) | (e.nsize ? LJM_SAMPLED_NEW : 0);
  if (e.kind == LJM_ALLOC)
    craft_alloc(c, (uint64_t)e.site, naddr, e.nsize);
  else if (e.kind == LJM_FREE)
    craft_free(c, (uint64_t)e.site, oaddr, e.osize);
  else
    craft_realloc(c, (uint64_t)e.site, oaddr, e.osize ? e.osize : 7, naddr,
                  e.nsize ? e.nsize : 9);
}

/* A random event; after a while more is freed than allocated. */
static void random_event(Model *m, Craft *c, uint64_t *size)
{
  int k = (int)craft_random(NOBJ), to = (int)craft_random(NOBJ),
      site = 2 + (int)craft_random(NSITE);
  uint64_t new = 1 + craft_random(craft_random(9) ? 100 : 30000);
  Event e = {LJM_ALLOC, site, k, k, 0, new, 0};
  if (size[k] && craft_random(8) < (m->n / 500 % 2 ? 3 : 6)) {
    e = (Event){LJM_FREE, site, k, k, size[k], 0, 0};
  } else if (size[k] && (to == k || !size[to])) {
    int half = m->sample && craft_random(4) == 0;
    e = (Event){LJM_REALLOC, site, k, to, size[k], half ? 0 : new, 0};
  } else if (size[k]) {
    return;
  } else if (m->sample && craft_random(9) == 0) {
    e = (Event){LJM_REALLOC, site, to, k, 0, new, 0};
  }
  if (e.osize)
    size[e.old] = 0;
  if (e.nsize)
    size[e.new] = e.nsize;
  event(m, c, e);
}

/* A stream; not sampled, some of its objects are older. */
static void make(Model *m, Craft *c, uint64_t sample)
{
  uint64_t size[NOBJ] = {0};
  int i;
  memset(m, 0, sizeof(*m));
  lp_scale_open(&m->scale, sample);
  craft_open(c, 1);
  c->sample = m->sample = sample;
  craft_time(c, 0);
  m->mark[m->nmark++] = 0;
  craft_meta(c, BASE);
  craft_proto(c, 1, 0, 9, 0, "=s", "");
  for (i = 2; i < NSITE + 2; i++)
    craft_site(c, (uint64_t)i, 0, 1, (uint64_t)i);
  for (i = 0; i < 20 && !sample; i++)
    size[i] = 10 + (uint64_t)i;
  while (m->n < NEVENT) {
    if (craft_random(50) == 0 && m->nmark < NMARK) {
      if (craft_random(4) == 0)
        craft_flush(c);
      craft_time(c,
                 c->ns + craft_random(craft_random(20) ? 20000000 : 700000000));
      m->mark[m->nmark++] = c->ns;
    }
    random_event(m, c, size);
  }
  craft_totals(c, sample ? LJM_TOTALS_SAMPLED : 0, 0);
  craft_flush(c);
}

/* -- The model ------------------------------------------------------------ */

/* The row of a site of the stream. */
static int row(int site)
{
  return site < 0 ? OLDER : LP_SITE_FIRST + site - 2;
}

/* One event that counts, with figures by row. */
static void model_event(Model *m, const Event *e, uint64_t soon)
{
  Object *o = &m->obj[e->old];
  if (e->osize) {
    Held w = weigh(m, e->osize);
    int at = o->site > 0 ? row(o->site) : OLDER;
    uint64_t others = (uint64_t)((m->come.n >> 32) - (o->birth >> 32));
    m->own -= o->site > 0 ? w.n : 0;
    if (o->site > 0 && others < (soon ? soon : (uint64_t)(m->most >> 32)))
      add(&m->soon[at], w, 1);
    add(&m->live[at], w, -1);
    add(&m->gone, w, 1);
    add(&m->all, w, -1);
    o->site = 0;
  }
  if (e->nsize) {
    Held w = weigh(m, e->nsize);
    add(&m->live[row(e->site)], w, 1);
    add(&m->come, w, 1);
    m->own += w.n;
    m->most = m->own > m->most ? m->own : m->most;
    add(&m->all, w, 1);
    m->obj[e->new] = (Object){e->site, e->nsize, m->come.n};
  }
  if ((__int128)m->all.bytes > (__int128)m->high.bytes) {
    m->high = m->all;
    m->peak_ns = e->ns;
    memcpy(m->peak, m->live, sizeof(m->live));
  }
}

/* One that does not. */
static void model_early(Model *m, const Event *e)
{
  if (e->osize)
    m->obj[e->old].site = 0;
  if (e->nsize)
    m->obj[e->new] = (Object){-1, e->nsize, 0};
}

/* Go through the events before TILL, from the first one. Returns what was live
** when that began which counts.
*/
static uint64_t model_run(Model *m, const LpWanted *w, uint64_t till)
{
  uint64_t base = BASE;
  int i;
  memset(m->live, 0, sizeof(m->live));
  memset(m->peak, 0, sizeof(m->peak));
  memset(m->soon, 0, sizeof(m->soon));
  m->come = m->gone = m->all = m->high = (Held){0, 0};
  m->peak_ns = 0;
  m->own = m->most = 0;
  for (i = 0; i < NOBJ; i++)
    m->obj[i].site = -1;
  for (i = 0; i < m->n && m->ev[i].ns < till && m->ev[i].ns < w->to; i++) {
    const Event *e = &m->ev[i];
    if (e->ns >= w->from) {
      model_event(m, e, w->temporary);
    } else {
      model_early(m, e);
      base += e->nsize - e->osize;
    }
  }
  return base;
}

/* -- Comparison ----------------------------------------------------------- */

/* Two counters of a row, of all its origins. */
static Held counted(const Run *r, int site, int n, int bytes)
{
  const LpOrigins *o = &r->prof->origins;
  Held h = {0, 0};
  uint32_t i;
  for (i = 0; i < o->n; i++) {
    LpFigures f = lp_origins_figures(o, i);
    const LpRow *p = &r->prof->row[lp_cell_site(&o->cell[i])];
    int at = p->func == LP_FUNC_NONE ? (int)lp_cell_site(&o->cell[i])
                                     : row((int)p->line);
    if (at != site)
      continue;
    h.n += sum(f.n[n], f.part[n]);
    h.bytes += sum(f.n[bytes], f.part[bytes]);
  }
  return h;
}

static uint64_t rounded(Sum s)
{
  return (uint64_t)((s + 0x80000000u) >> 32);
}

/* Two sums are the same, modulo 2^64. */
static void same(Sum a, Sum b)
{
  ck_assert_uint_eq((uint64_t)(a >> 32), (uint64_t)(b >> 32));
  ck_assert_uint_eq((uint32_t)a, (uint32_t)b);
}

/* Peak and temporary, of TIMES streams that are all as this. */
static void compare_rows(Model *m, Run *r, uint64_t times)
{
  const LpWanted *w = &r->prof->wanted;
  uint64_t base = model_run(m, w, UINT64_MAX);
  Sum all = 0, high = m->high.bytes;
  int i;
  for (i = 0; i < NLIVE; i++) {
    Held peak = counted(r, i, LP_PEAK, LP_PEAK_BYTES);
    Held soon = counted(r, i, LP_TEMPORARY, LP_TEMPORARY_BYTES);
    if (i == OLDER && !m->sample)
      peak.bytes -= sum(base * times, 0);
    same(peak.n, m->peak[i].n * times);
    same(peak.bytes, m->peak[i].bytes * times);
    same(soon.n, m->soon[i].n * times);
    same(soon.bytes, m->soon[i].bytes * times);
    all += peak.bytes;
  }
  same(all, high * times);
  ck_assert_uint_eq(r->prof->peak_ns, m->peak_ns);
  ck_assert_uint_eq(
      r->prof->peak_bytes,
      rounded(high + (m->sample ? -m->peak[OLDER].bytes : sum(base, 0))));
}

/* The youngest of what is live. */
static void compare_young(Model *m, Run *r, uint64_t times)
{
  Held young[sizeof(m->live) / sizeof(Held)] = {{0, 0}};
  uint64_t all, old;
  int i;
  model_run(m, &r->prof->wanted, UINT64_MAX);
  all = (uint64_t)(m->come.n >> 32);
  old = all - (uint64_t)((double)all * r->prof->wanted.young / 100);
  for (i = 0; i < NOBJ; i++)
    if (m->obj[i].site > 0 && (uint64_t)(m->obj[i].birth >> 32) > old)
      add(&young[row(m->obj[i].site)], weigh(m, m->obj[i].size), 1);
  for (i = 0; i < NLIVE; i++) {
    Held is = counted(r, i, LP_YOUNG, LP_YOUNG_BYTES);
    same(is.n, young[i].n * times);
    same(is.bytes, young[i].bytes * times);
  }
}

/* A table. */
static LpTable table(Run *r, const char *view)
{
  const LpReport *report = lp_report_find("text", view, LP_OF_MEMORY);
  const LpSubject subject = {.prof = r->prof};
  LpTable t = {.name = view};
  report->table(&t, &subject, &run_plain);
  return t;
}

/* A place must have this number. */
static void place(const LpTable *t, size_t i, unsigned col, uint64_t n)
{
  ck_assert_int_eq(lp_table_at(t, i, col)->known, 1);
  ck_assert_uint_eq(lp_table_at(t, i, col)->n, n);
}

/* Does an event count? */
static int inside(const Event *e, const LpWanted *w)
{
  return e->ns >= w->from && e->ns < w->to;
}

/* Sizes: every row has those events whose size is in it; all are in some. */
static void compare_sizes(Model *m, Run *r, uint64_t times)
{
  LpTable t = table(r, "sizes");
  uint64_t rows = 0, next = 0;
  Held all = {0, 0};
  size_t i;
  int k;
  for (i = 0; i < t.n; i++) {
    uint64_t from = lp_table_at(&t, i, 0)->n, to = lp_table_at(&t, i, 1)->n;
    Held come = {0, 0}, gone = {0, 0};
    ck_assert_uint_le(next, from);
    ck_assert_uint_le(from, to);
    ck_assert_uint_le(to - from, from < 64 ? 15 : from / 4);
    next = to + 1;
    for (k = 0; k < m->n; k++) {
      const Event *e = &m->ev[k];
      if (e->nsize >= from && e->nsize <= to && e->nsize &&
          inside(e, &r->prof->wanted))
        add(&come, weigh(m, e->nsize), 1);
      if (e->osize >= from && e->osize <= to && e->osize &&
          inside(e, &r->prof->wanted))
        add(&gone, weigh(m, e->osize), 1);
    }
    place(&t, i, 2, rounded(come.n * times));
    place(&t, i, 3, rounded(come.bytes * times));
    place(&t, i, 4, rounded(gone.n * times));
    place(&t, i, 5, rounded(gone.bytes * times));
    add(&all, come, 1);
    rows += lp_table_at(&t, i, 7)->n;
  }
  model_run(m, &r->prof->wanted, UINT64_MAX);
  same(all.n, m->come.n);
  same(all.bytes, m->come.bytes);
  add(&m->all, m->live[OLDER], -1);
  ck_assert_int_le(llabs((long long)(rows - rounded(m->all.bytes * times))),
                   m->sample ? (long long)t.n : 0);
  lp_table_close(&t);
}

/* Time: every row has those events that were told in it. */
static void compare_time(Model *m, Run *r, uint64_t times)
{
  const LpWanted *w = &r->prof->wanted;
  LpTable t = table(r, "time");
  uint64_t width = r->prof->timeseries.width, last = 0;
  size_t i;
  int k;
  ck_assert_uint_le(r->prof->timeseries.n, TIMESERIES_MAX);
  for (i = 0; i < t.n; i++) {
    uint64_t to = lp_table_at(&t, i, 0)->n, from = to - width;
    Held come, gone;
    Sum base, high;
    model_run(m, w, from);
    come = m->come;
    gone = m->gone;
    high = m->all.bytes;
    for (k = 0; k < m->n; k++) {
      const Event *e = &m->ev[k];
      if (e->ns >= from && e->ns < to && inside(e, w)) {
        model_event(m, e, 0);
        if ((__int128)m->all.bytes > (__int128)high)
          high = m->all.bytes;
      }
    }
    add(&come, m->come, -1);
    add(&gone, m->gone, -1);
    base = sum(model_run(m, w, to), 0);
    base = m->sample || to <= w->from ? 0 : base;
    place(&t, i, 1, rounded((m->all.bytes + base) * times));
    place(&t, i, 2, rounded((high + base) * times));
    place(&t, i, 3, rounded(-come.n * times));
    place(&t, i, 4, rounded(-come.bytes * times));
    place(&t, i, 5, rounded(-gone.n * times));
    place(&t, i, 6, rounded(-gone.bytes * times));
    ck_assert_uint_eq(to, last ? last + width : to);
    last = to;
  }
  ck_assert_uint_gt(t.n, 5);
  lp_table_close(&t);
}

/* Snapshots: every one has what was told before its time. */
static void compare_snaps(Model *m, Run *r, uint64_t times)
{
  const LpWanted *w = &r->prof->wanted;
  LpTable t = table(r, "snapshots");
  uint64_t end = m->mark[m->nmark - 1] < w->to ? m->mark[m->nmark - 1] : w->to;
  uint64_t at = (w->from / w->snap + 1) * w->snap;
  size_t i = 0;
  int k;
  for (; at <= end; at += w->snap) {
    uint64_t base = model_run(m, w, at), before = UINT64_MAX;
    for (; i < t.n && lp_table_at(&t, i, 0)->n == at; i++) {
      const char *label = lp_table_at(&t, i, 1)->s;
      uint64_t bytes = lp_table_at(&t, i, 4)->n;
      int old = strcmp(label, "(before start)") == 0;
      int site = old ? OLDER : row(label[strlen(label) - 1] - '0');
      Held *live = &m->live[site];
      live->bytes += old ? sum(base, 0) : 0;
      ck_assert_uint_eq(bytes, rounded(live->bytes) * times);
      if (!old)
        place(&t, i, 3, rounded(live->n) * times);
      live->bytes = 0;
      ck_assert_uint_le(bytes, before);
      before = bytes;
    }
    for (k = LP_SITE_FIRST; k < NLIVE; k++) /* All that hold are shown. */
      ck_assert_int_le((int64_t)rounded(m->live[k].bytes), 0);
  }
  ck_assert_uint_eq(i, t.n);
  lp_table_close(&t);
}

/* The time marks of the stream that is read. */
static void (*stream_time)(void *ctx, uint64_t ns);

/* At every one a report could be made, and reading goes on. */
static void settled_time(void *ctx, uint64_t ns)
{
  lp_stream_finalize(ctx);
  stream_time(ctx, ns);
}

/* As run_add, with that. */
static void add_settled(Run *r, LpInput *in)
{
  LpSink sink = lp_stream_open(&r->st, r->prof);
  stream_time = sink.time;
  sink.time = settled_time;
  lp_reader_run(in, &sink);
  lp_stream_close(&r->st, lp_input_offset(in));
  lp_input_close(in);
}

/* A profile of that stream, TIMES times. */
static void compare(Model *m, const Craft *c, const LpWanted *w, uint64_t times)
{
  Run r = {.prof = run_profile()};
  uint64_t i;
  r.prof->wanted = *w;
  r.prof->wanted.what = LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_YOUNG |
                        LP_WANT_SIZES | LP_WANT_TIME | LP_WANT_SNAPS;
  for (i = 0; i < times; i++) {
    LpInput in;
    lp_input_memory(&in, c->out.s, c->out.n);
    if (i)
      add_settled(&r, &in);
    else
      run_add(&r, &in);
    ck_assert_str_eq(r.st.damage.what, "");
  }
  if (times == 1)
    run_books(&r);
  compare_rows(m, &r, times);
  compare_young(m, &r, times);
  compare_sizes(m, &r, times);
  compare_time(m, &r, times);
  compare_snaps(m, &r, times);
  run_reports(&r);
  run_close(&r);
}

/* Everything, of whole streams and samples, all of them and a part. */
START_TEST(test_model)
{
  static const LpWanted wanted[] = {
      {.temporary = 20, .young = 5, .to = UINT64_MAX, .snap = 100000000},
      {.temporary = 0, .young = 0.5, .to = 1000000000, .snap = 30000000},
      {.temporary = 1,
       .young = 100,
       .from = 300000000,
       .to = UINT64_MAX,
       .snap = 1000000000},
      {.temporary = 150,
       .young = 30,
       .from = 200000000,
       .to = 900000000,
       .snap = 70000000},
  };
  Model *m = lp_alloc(sizeof(Model));
  uint64_t sample;
  size_t i;
  for (sample = 0; sample <= 4000; sample += 400 + 3 * sample / 2) {
    for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
      Craft c;
      make(m, &c, sample);
      compare(m, &c, &wanted[i], 1);
      compare(m, &c, &wanted[i], 2);
      craft_close(&c);
    }
  }
  free(m);
}
END_TEST

Suite *suite_wanted(void)
{
  const TTest *tests[] = {test_model, NULL};
  return suite_of("wanted", tests);
}

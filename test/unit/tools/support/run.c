/*
** From bytes in memory to a report, for tests.
*/

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "label.h"
#include "reader.h"
#include "part.h"
#include "run.h"

const LpReportOptions run_plain = {.metric = LP_METRIC_BYTES};

/* Read all of an input into the profile, and close it. */
void run_add(Run *r, LpInput *in)
{
  LpSink sink = lp_stream_open(&r->st, r->prof);
  lp_reader_run(in, &sink);
  lp_stream_close(&r->st, lp_input_offset(in));
  lp_input_close(in);
  r->status = lp_stream_status(&r->st);
  r->events = r->st.sums.allocs + r->st.sums.reallocs + r->st.sums.frees +
              r->st.samples;
}

LpProfile *run_profile(void)
{
  LpProfile *prof = lp_profile_new();
  prof->wanted.native = 1;
  return prof;
}

/* Read all of an input, and close it. */
Run run_input(LpInput *in)
{
  Run r = {.prof = run_profile()};
  run_add(&r, in);
  return r;
}

/* A report. */
const char *run_report(Run *r, const char *format, const char *view,
                       const LpReportOptions *opt)
{
  const LpSubject subject = {.prof = r->prof};
  LpOut out;
  lp_buf_free(&r->text);
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, opt);
  r->text = out.buf;
  return r->text.s ? r->text.s : "";
}

/* So many nodes of a hostile stream may be thousands deep, and are gigabytes in
** formats that tell each stack in whole: folded is enough of these then.
*/
#define RUN_NODES 20000

/* All reports can be made. */
void run_reports(Run *r)
{
  static const char *const memory[] = {"sites",     "types", "tree",  "callers",
                                       "functions", "lines", "sizes", "time",
                                       "snapshots", NULL};
  static const char *const cpu[] = {"functions", "lines", "tree", "callers",
                                    "threads",   "time",  NULL};
  static const char *const format[] = {"json",   "html",  "csv",
                                       "folded", "pprof", "speedscope"};
  size_t i, n = r->prof->origins.calls.n < RUN_NODES ? 6 : 4;
  const char *const *view = r->prof->of == LP_OF_CPU ? cpu : memory;
  int *native = &r->prof->wanted.native; /* Changes reports of samples. */
  int from = r->prof->of == LP_OF_MEMORY;
  LpReportOptions summary = run_plain;
  summary.summary = 1;
  run_report(r, "text", NULL, &summary);
  for (; *view; view++)
    for (*native = from; *native < 2; ++*native)
      run_report(r, "text", *view, &run_plain);
  if (r->prof->of == LP_OF_MEMORY)
    run_report(r, "tarantool", NULL, &run_plain);
  for (i = 0; i < n; i++)
    for (*native = from; *native < 2; ++*native)
      run_report(r, format[i], NULL, &run_plain);
  *native = 1;
}

/* The RFC's report. */
const char *run_text(Run *r, const LpReportOptions *opt)
{
  return run_report(r, "text", NULL, opt);
}

/* All of a file in golden/: its name without .txt. */
LpBuf run_golden(const char *fmt, ...)
{
  LpBuf path = {0}, b = {0};
  char buf[4096];
  va_list ap;
  size_t n;
  FILE *f;
  va_start(ap, fmt);
  vsnprintf(buf, sizeof(buf), fmt, ap);
  va_end(ap);
  lp_buf_printf(&path, GOLDEN "/%s.txt", buf);
  f = fopen(path.s, "r");
  if (!f)
    ck_abort_msg("%s: cannot be read", path.s);
  while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
    lp_buf_add(&b, buf, n);
  fclose(f);
  lp_buf_free(&path);
  return b;
}

/* The first row of that label, or NULL. */
const LpRow *run_row(const Run *r, const char *label)
{
  uint32_t i;
  for (i = 0; i < r->prof->sitekeys.n; i++) {
    LpBuf b = {0};
    int same;
    lp_label_site(&b, r->prof, i);
    same = strcmp(b.s, label) == 0;
    lp_buf_free(&b);
    if (same)
      return &r->prof->row[i];
  }
  return NULL;
}

/* All that is counted is in the tree: under its root, and in its nodes. */
static void run_tree(const Run *r, const LpFigures *all)
{
  static const LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_BYTES) |
                                  LP_METRIC_BIT(LP_METRIC_ALLOCATIONS) |
                                  LP_METRIC_BIT(LP_METRIC_LIVE),
                              LP_MERGE_LINES, NULL, 0, 0};
  LpTree t;
  uint64_t live = 0;
  uint32_t i;
  lp_tree_open(&t, r->prof, &of);
  lp_tree_total(&t);
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_BYTES),
                    lp_figure_bytes(all));
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_ALLOCATIONS),
                    lp_figure_births(all));
  if (!r->prof->nobefore)
    ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_LIVE),
                      lp_figure_live_bytes(all) + r->prof->base);
  lp_tree_whole(&t);
  for (i = 0; i < t.n; i++)
    live += lp_tree_self(&t, i, LP_METRIC_LIVE);
  ck_assert_uint_eq(live, lp_tree_totals(&t, 0, LP_METRIC_LIVE));
  lp_tree_close(&t);
}

/* What was live at the peak is what it was made of. */
static void run_peak(const Run *r, const LpFigures *all)
{
  uint64_t base;
  if (!(r->prof->wanted.what & LP_WANT_PEAK) || r->prof->of == LP_OF_CPU)
    return;
  if (!lp_stream_base(&r->st, &base)) {
    LpValue v = {0, 0};
    uint32_t i;
    for (i = LP_ORIGIN_BEFORE + 1; i < r->prof->origins.n; i++)
      lp_value_add(&v, lp_metric_of(r->prof, LP_NOW, i, LP_METRIC_PEAK));
    ck_assert_uint_eq(r->prof->peak_bytes, lp_value_round(v));
  } else {
    ck_assert_uint_eq(lp_figure(all, LP_PEAK_BYTES), r->prof->peak_bytes);
  }
}

/* Each object has one size and came in one step. */
static void run_tables(const Run *r, const LpFigures *all)
{
  LpWeight sizes = {0, 0, 0, 0}, steps = sizes;
  size_t i;
  for (i = 0; r->prof->size && i < LP_NSIZES; i++) {
    lp_weight_add(&sizes, &r->prof->size[i].come);
    lp_weight_sub(&sizes, &r->prof->size[i].gone);
  }
  for (i = 0; i < r->prof->timeseries.n; i++) {
    lp_weight_add(&steps, &r->prof->timeseries.step[i].come);
    lp_weight_sub(&steps, &r->prof->timeseries.step[i].gone);
  }
  if (r->prof->size && r->prof->of == LP_OF_MEMORY) {
    ck_assert_uint_eq(lp_round(sizes.bytes, sizes.bytespart),
                      lp_figure_live_bytes(all));
    ck_assert_uint_eq(lp_round(sizes.n, sizes.npart), run_figure_live(all));
  }
  if (r->prof->timeseries.n && r->prof->of == LP_OF_MEMORY) {
    ck_assert_uint_eq(lp_round(steps.bytes, steps.bytespart),
                      lp_figure_live_bytes(all));
    ck_assert_uint_eq(lp_round(steps.n, steps.npart), run_figure_live(all));
  }
}

/* All samples are in a tree; each is one of the parts, where there
** are parts.
*/
static void run_samples(const Run *r, LpMerge merge)
{
  LpTreeOf of = {LP_METRIC_CPU, merge, NULL, 0, 0};
  int luafirst = lp_luafirst(r->prof);
  uint32_t i;
  LpTree t;
  lp_tree_open(&t, r->prof, &of);
  for (i = 0; luafirst && i < t.n; i++) {
    uint64_t sum = 0;
    LpMetric m;
    for (m = 0; m < LP_NMETRIC; m++)
      if (LP_METRIC_PARTS & LP_METRIC_BIT(m))
        sum += lp_tree_self(&t, i, m);
    ck_assert_uint_eq(sum, lp_tree_self(&t, i, LP_METRIC_SAMPLES));
    ck_assert(i == LP_NODE_ROOT || t.node[i].site < LP_SITE_FIRST ||
              lp_profile_lua(r->prof, t.node[i].site) ||
              t.node[i].parent == LP_NODE_ROOT);
  }
  lp_tree_total(&t);
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_SAMPLES),
                    r->prof->cpu.samples);
  lp_tree_close(&t);
}

/* Every sample is of one stack and of one thread. */
static void run_cpu(const Run *r)
{
  int *native = &r->prof->wanted.native, was = *native;
  const LpSampled *s = &r->prof->sampled;
  const LpCpu *cpu = &r->prof->cpu;
  uint64_t stacks = 0, threads = 0;
  size_t i;
  for (i = 0; i < s->n && i < s->nsamples; i++)
    stacks += s->samples[i];
  for (i = 0; i < cpu->threads.n; i++)
    threads += cpu->thread[i];
  ck_assert_uint_eq(stacks, cpu->samples);
  ck_assert_uint_eq(threads, cpu->samples);
  ck_assert_uint_eq(r->st.delivered, cpu->samples + cpu->outside);
  ck_assert_uint_le(cpu->cut, cpu->samples);
  for (*native = 0; *native < 2; ++*native) {
    run_samples(r, LP_MERGE_NONE);
    run_samples(r, LP_MERGE_LINES);
    run_samples(r, LP_MERGE_FUNCTIONS);
    run_samples(r, LP_MERGE_CALLERS);
  }
  *native = was;
}

/* Events that count: not those outside of what is wanted. */
static LpSums run_told(const LpStream *st)
{
  const LpSums *all = &st->sums, *out = &st->outside;
  return (LpSums){all->allocs - out->allocs, all->reallocs - out->reallocs,
                  all->frees - out->frees, all->in - out->in,
                  all->out - out->out};
}

/* What must hold of any profile of one stream, however damaged. */
void run_books(const Run *r)
{
  LpSums told = run_told(&r->st);
  uint64_t base;
  int known = lp_stream_base(&r->st, &base) != NULL;
  LpFigures all = {0};
  LpRow sum = {0};
  uint64_t taken = 0;
  size_t i;
  for (i = 0; i < r->prof->origins.n; i++) {
    LpFigures f = lp_origins_figures(&r->prof->origins, (uint32_t)i);
    lp_figures_add(&all, &f);
  }
  run_tree(r, &all);
  run_cpu(r);
  run_rows(r, "functions", LP_METRIC_BYTES);
  run_rows(r, "functions", LP_METRIC_SAMPLES);
  run_peak(r, &all);
  run_tables(r, &all);
  if (r->st.sample)
    return;
  for (i = 0; i < r->prof->sitekeys.n; i++) {
    const LpRow *row = &r->prof->row[i];
    sum.allocs += row->allocs;
    sum.reallocs += row->reallocs;
    sum.frees += row->frees;
    sum.alloc_bytes += row->alloc_bytes + row->realloc_in;
    sum.free_bytes += row->free_bytes + row->realloc_out;
    sum.live += row->live;
    sum.arrived += row->arrived;
    sum.left += row->left;
  }
  for (i = 0; i < r->prof->overrides.n; i++)
    taken += r->prof->overrides.entry[i].w.n;
  ck_assert_uint_eq(sum.allocs, told.allocs);
  ck_assert_uint_eq(sum.reallocs, told.reallocs);
  ck_assert_uint_eq(sum.frees, told.frees);
  ck_assert_uint_eq(taken, told.reallocs + told.frees);
  ck_assert_uint_eq(sum.alloc_bytes, told.in);
  ck_assert_uint_eq(sum.free_bytes, told.out);
  ck_assert_uint_eq(sum.arrived, told.allocs + told.reallocs);
  ck_assert_uint_eq(sum.left, told.frees + told.reallocs + r->st.twice);
  ck_assert_uint_eq(sum.live, (known ? base : 0) + told.in - told.out);
  ck_assert_uint_eq(lp_figure_bytes(&all), told.in);
  ck_assert_uint_eq(lp_figure(&all, LP_LEFT_BYTES), told.out);
  ck_assert_uint_eq(lp_figure_births(&all), sum.arrived);
}

/* Read N bytes, wanting all there is: nothing that is counted anyway may differ
** from that.
*/
static void run_wanting(const Run *plain, const void *p, size_t n)
{
  Run r = {.prof = run_profile()};
  LpInput in;
  r.prof->wanted.what = LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_YOUNG |
                        LP_WANT_SIZES | LP_WANT_TIME | LP_WANT_SNAPS;
  r.prof->wanted.young = 10;
  r.prof->wanted.snap = 1000000;
  lp_input_memory(&in, p, n);
  run_add(&r, &in);
  run_books(&r);
  ck_assert_int_eq(r.status, plain->status);
  ck_assert_uint_eq(r.prof->sitekeys.n, plain->prof->sitekeys.n);
  ck_assert_int_eq(
      memcmp(r.prof->row, plain->prof->row, r.prof->sitekeys.n * sizeof(LpRow)),
      0);
  run_close(&r);
}

/* Read N bytes. */
Run run_memory(const void *p, size_t n)
{
  LpInput in;
  Run r;
  lp_input_memory(&in, p, n);
  r = run_input(&in);
  run_wanting(&r, p, n);
  return r;
}

/* Read what was crafted so far. */
Run run_craft(Craft *c)
{
  return run_memory(c->out.s, c->out.n);
}

/* Give the memory back. */
void run_close(Run *r)
{
  lp_profile_free(r->prof);
  lp_buf_free(&r->text);
}

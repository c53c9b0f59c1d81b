/*
** From bytes in memory to a report, for tests.
*/

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "label.h"
#include "reader.h"
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
  r->events = r->st.allocs + r->st.reallocs + r->st.frees + r->st.samples;
}

/* Read all of an input, and close it. */
Run run_input(LpInput *in)
{
  Run r = {.prof = lp_profile_new()};
  run_add(&r, in);
  return r;
}

/* Read N bytes. */
Run run_memory(const void *p, size_t n)
{
  LpInput in;
  lp_input_memory(&in, p, n);
  return run_input(&in);
}

/* Read what was crafted so far. */
Run run_craft(Craft *c)
{
  return run_memory(c->out.s, c->out.n);
}

/* A report. */
const char *run_report(Run *r, const char *format, const char *view,
                       const LpReportOptions *opt)
{
  LpOut out;
  lp_buf_free(&r->text);
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, r->prof, opt);
  r->text = out.buf;
  return r->text.s ? r->text.s : "";
}

/* All reports can be made. */
void run_reports(Run *r)
{
  static const char *const memory[] = {"sites",     "types", "tree", "callers",
                                       "functions", "lines", NULL};
  static const char *const cpu[] = {"functions", "lines",   "tree",
                                    "callers",   "threads", NULL};
  static const char *const format[] = {"folded", "json", "pprof", "speedscope",
                                       "html"};
  size_t i;
  const char *const *view = r->prof->of == LP_OF_CPU ? cpu : memory;
  for (; *view; view++)
    run_report(r, "text", *view, &run_plain);
  for (i = 0; i < sizeof(format) / sizeof(format[0]); i++)
    run_report(r, format[i], NULL, &run_plain);
  if (r->prof->of != LP_OF_CPU)
    run_report(r, "csv", NULL, &run_plain);
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
                              LP_MERGE_LINES, NULL};
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

/* Every sample is of one node and of one thread. */
static void run_cpu(const Run *r)
{
  const LpOrigins *o = &r->prof->origins;
  const LpCpu *cpu = &r->prof->cpu;
  uint64_t nodes = 0, threads = 0;
  size_t i;
  LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_SAMPLES), LP_MERGE_LINES, NULL};
  LpTree t;
  for (i = 0; i < o->nnode && i < o->nsamples; i++)
    nodes += o->samples[i];
  for (i = 0; i < cpu->threads.n; i++)
    threads += cpu->thread[i];
  ck_assert_uint_eq(nodes, cpu->samples);
  ck_assert_uint_eq(threads, cpu->samples);
  ck_assert_uint_eq(r->st.delivered, cpu->samples);
  ck_assert_uint_le(cpu->cut, cpu->samples);
  lp_tree_open(&t, r->prof, &of);
  lp_tree_total(&t);
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_SAMPLES), cpu->samples);
  lp_tree_close(&t);
}

/* What must hold of any profile of one stream, however damaged. */
void run_books(const Run *r)
{
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
  run_rows(r);
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
  for (i = 0; i < r->prof->taken.size; i++)
    taken += r->prof->taken.entry[i].w.n;
  ck_assert_uint_eq(sum.allocs, r->st.allocs);
  ck_assert_uint_eq(sum.reallocs, r->st.reallocs);
  ck_assert_uint_eq(sum.frees, r->st.frees);
  ck_assert_uint_eq(taken, r->st.reallocs + r->st.frees);
  ck_assert_uint_eq(sum.alloc_bytes, r->st.in);
  ck_assert_uint_eq(sum.free_bytes, r->st.out);
  ck_assert_uint_eq(sum.arrived, r->st.allocs + r->st.reallocs);
  ck_assert_uint_eq(sum.left, r->st.frees + r->st.reallocs + r->st.twice);
  ck_assert_uint_eq(sum.live, r->st.base + r->st.in - r->st.out);
  ck_assert_uint_eq(lp_figure_bytes(&all), r->st.in);
  ck_assert_uint_eq(lp_figure(&all, LP_LEFT_BYTES), r->st.out);
  ck_assert_uint_eq(lp_figure_births(&all), sum.arrived);
}

/* Give the memory back. */
void run_close(Run *r)
{
  lp_profile_free(r->prof);
  lp_buf_free(&r->text);
}

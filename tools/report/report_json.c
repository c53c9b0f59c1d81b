/*
** --format=json: all of a profile as one document, or a view as a table.
**
** The page of --format=html has the same document inside.
*/

#include <string.h>

#include "foreign.h"
#include "json_calls.h"
#include "json_parts.h"
#include "part.h"
#include "summary/summary_report.h"
#include "text.h"

#define JSON_FORMAT 1 /* Changes when a reader would have to. */

/* A page is not larger than a few megabytes, whatever the recording: so many
** nodes of the call tree and of that with native functions (and as many behind
** which smaller ones are), and bytes of steps
** in time.
*/
#define JSON_NODES  40000
#define JSON_NATIVE 20000
#define JSON_STEPS  1200000

static const char *const json_units[] = {
    [LP_UNIT_COUNT] = "count",     [LP_UNIT_BYTES] = "bytes",
    [LP_UNIT_SAMPLES] = "samples", [LP_UNIT_NS] = "ns",
    [LP_UNIT_PERCENT] = "percent", [LP_UNIT_TEXT] = "text"};

/* Views that the document has as tables, where they can be made. */
static const LpReport *const json_views[] = {
    &lp_report_types, &lp_report_sizes, &lp_report_time, &lp_report_threads,
    &lp_report_snapshots};

/* -- What it is ----------------------------------------------------------- */

/* The names of files. */
static void json_files(LpJson *j, const char *key, const LpFiles *f,
                       uint32_t from, uint32_t to)
{
  lp_json_array(j, key);
  for (; from < to; from++)
    lp_json_text(j, lp_files_name(f, from));
  lp_json_end(j);
}

/* A text of the command line, if it was given. */
static void json_given(LpJson *j, const char *key, const char *s)
{
  if (s)
    lp_json_keytext(j, key, s);
}

/* The same of a number: none is 0. */
static void json_number(LpJson *j, const char *key, uint64_t n)
{
  if (n)
    lp_json_keynumber(j, key, n);
}

/* The same of a percentage. */
static void json_percent(LpJson *j, const char *key, double percent)
{
  if (!(percent > 0))
    return;
  lp_json_key(j, key);
  lp_json_real(j, percent);
}

/* The options that restrict or change the document. */
static void json_options(LpJson *j, const LpProfile *prof,
                         const LpReportOptions *opt)
{
  const LpWanted *w = &prof->wanted;
  lp_json_object(j, "options");
  json_given(j, "focus", opt->focus);
  json_given(j, "ignore", opt->ignore);
  json_number(j, "from_ns", w->from);
  json_number(j, "to_ns", w->to == UINT64_MAX ? 0 : w->to);
  json_number(j, "temporary", w->temporary);
  json_percent(j, "ignore_youngest", w->young);
  json_number(j, "snapshot_ns", w->snap);
  json_given(j, "sort", opt->sort);
  json_number(j, "top", opt->top);
  json_number(j, "min", opt->least);
  json_percent(j, "min_percent", opt->min);
  lp_json_end(j);
}

void lp_json_head(LpJson *j, const LpProfile *prof, const LpReportOptions *opt)
{
  const LpFiles *f = &prof->files;
  lp_json_object(j, NULL);
  lp_json_keytext(j, "generator", "lj-parse-memprof " LP_VERSION);
  lp_json_keynumber(j, "format", JSON_FORMAT);
  lp_json_array(j, "of");
  if (prof->of & LP_OF_MEMORY)
    lp_json_text(j, "memory");
  if (prof->of & LP_OF_CPU)
    lp_json_text(j, "cpu");
  if (prof->of & (LP_OF_HEAP | LP_OF_LADDER))
    lp_json_text(j, "heap");
  lp_json_end(j);
  json_files(j, "files", f, f->nbase, f->n);
  if (prof->baseline.present)
    json_files(j, "base", f, 0, f->nbase);
  json_options(j, prof, opt);
}

void lp_json_column(LpJson *j, const char *key, const char *title, LpUnit unit)
{
  lp_json_object(j, NULL);
  lp_json_keytext(j, "key", key);
  lp_json_keytext(j, "title", title);
  lp_json_keytext(j, "unit", json_units[unit]);
  lp_json_end(j);
}

/* All metrics of a set. */
static void json_metrics(LpJson *j, unsigned metrics)
{
  LpMetric m;
  lp_json_array(j, "metrics");
  for (m = 0; m < LP_NMETRIC; m++)
    if (metrics & LP_METRIC_BIT(m))
      lp_json_column(j, lp_metrics[m].key, lp_metrics[m].title,
                     lp_metrics[m].unit);
  lp_json_end(j);
}

/* -- Summary -------------------------------------------------------------- */

/* The distances between samples. */
static void json_sampled(LpJson *j, const LpProfile *prof)
{
  if (!prof->sparse) {
    lp_json_keytext(j, "sampled", NULL);
    return;
  }
  lp_json_object(j, "sampled");
  lp_json_keynumber(j, "dense", prof->dense);
  lp_json_keynumber(j, "sparse", prof->sparse);
  lp_json_end(j);
}

/* The sum of a column. */
static uint64_t json_sum(const LpTree *t, LpSide side, LpMetric m)
{
  LpValue sum = {0, 0};
  uint32_t i;
  for (i = 0; i < t->n; i++)
    lp_value_add(&sum, t->col[side][m].self[i]);
  return lp_value_round(sum);
}

/* The sums of all columns. */
static void json_totals(LpJson *j, const LpProfile *prof, const LpTree *t)
{
  LpMetric m;
  lp_json_object(j, "totals");
  for (m = 0; m < LP_NMETRIC; m++) {
    if (!(t->metrics & LP_METRIC_BIT(m)))
      continue;
    if (m == LP_METRIC_ALLOC_GC && !lp_allocgc_known(prof)) {
      lp_json_keytext(j, lp_metrics[m].key, NULL);
      continue;
    }
    lp_json_object(j, lp_metrics[m].key);
    lp_json_keynumber(j, "now", json_sum(t, LP_NOW, m));
    if (prof->baseline.present)
      lp_json_keynumber(j, "base", json_sum(t, LP_BASE, m));
    lp_json_end(j);
  }
  lp_json_end(j);
}

/* Statistics whose keys begin with BEFORE, by the rest of the key. */
static void json_reasons(LpJson *j, const LpCpu *cpu, const char *key,
                         const char *before)
{
  size_t skip = strlen(before), n;
  uint32_t i;
  lp_json_object(j, key);
  for (i = 0; i < cpu->keys.n; i++) {
    const char *s = lp_intern_get(&cpu->keys, i, &n);
    if (n < skip || memcmp(s, before, skip) != 0)
      continue;
    lp_json_name(j, (LpStr){s + skip, n - skip});
    lp_json_number(j, cpu->stat[i]);
  }
  lp_json_end(j);
}

/* The statistics of the samplers. */
static void json_statistics(LpJson *j, const LpProfile *prof)
{
  const LpCpu *cpu = &prof->cpu;
  if (!(prof->of & LP_OF_CPU)) {
    lp_json_keytext(j, "books", NULL);
    return;
  }
  lp_json_object(j, "books");
  lp_json_key(j, "event");
  lp_json_string(j, (LpStr){cpu->event.s, cpu->event.n});
  lp_json_keynumber(j, "samples", cpu->samples);
  lp_json_keynumber(j, "hz", cpu->fast);
  lp_json_keynumber(j, "hz_least", cpu->slow);
  lp_json_keynumber(j, "expected", cpu->expected);
  lp_json_keynumber(j, "not_whole", lp_cpu_truncated(cpu));
  lp_json_keynumber(j, "unsure", lp_text_marked(prof, LJM_SITE_UNSURE));
  lp_json_keynumber(j, "approximate", lp_text_marked(prof, LJM_SITE_APPROX));
  lp_json_keynumber(j, "lost", cpu->lost);
  lp_json_keynumber(j, "missing", cpu->streams - cpu->with_stats);
  json_reasons(j, cpu, "counts", "");
  json_reasons(j, cpu, "dropped", "dropped_");
  json_reasons(j, cpu, "truncated", "truncated_");
  lp_json_end(j);
}

void lp_json_damage(LpJson *j, const LpFiles *f)
{
  uint32_t i;
  lp_json_array(j, "damage");
  for (i = 0; i < f->nharm; i++) {
    const LpDamage *d = &f->harm[i].damage;
    lp_json_object(j, NULL);
    lp_json_keytext(j, "file", lp_files_name(f, f->harm[i].file));
    lp_json_keynumber(j, "offset", d->offset);
    lp_json_keytext(j, "what", d->what);
    lp_json_keynumber(j, "bytes", d->bytes);
    lp_json_keynumber(j, "events", d->events);
    lp_json_end(j);
  }
  lp_json_end(j);
  lp_json_keynumber(j, "more_damage", f->more);
}

/* The highest peak of a stream, if peaks were counted. */
static void json_peak(LpJson *j, const LpProfile *prof)
{
  if (!(prof->of & LP_OF_MEMORY) || !(prof->wanted.what & LP_WANT_PEAK)) {
    lp_json_keytext(j, "peak", NULL);
    return;
  }
  lp_json_object(j, "peak");
  lp_json_keynumber(j, "bytes", prof->peak_bytes);
  lp_json_keynumber(j, "ns", prof->peak_ns);
  lp_json_end(j);
}

/* When memory and CPU were recorded, if at the same time. */
static void json_timeline(LpJson *j, const LpProfile *prof)
{
  const char *const of[] = {"memory", "cpu"};
  const LpTimeline *t = &prof->timeline;
  int i;
  if (!lp_profile_joint(prof) || !lp_timeline_shared(t)) {
    lp_json_keytext(j, "timeline", NULL);
    return;
  }
  lp_json_object(j, "timeline");
  for (i = 0; i < 2; i++) {
    lp_json_object(j, of[i]);
    lp_json_keynumber(j, "from_ns", t->span[i].from);
    lp_json_keynumber(j, "to_ns", t->span[i].to);
    lp_json_end(j);
  }
  lp_json_end(j);
}

/* Memory outside of the VM's count, if there is any. */
static void json_foreign(LpJson *j, const LpProfile *prof)
{
  LpForeign sum = lp_foreign_sum(prof, NULL);
  if (!sum.arrived && !prof->elder.n) {
    lp_json_keytext(j, "outside", NULL);
    return;
  }
  lp_json_object(j, "outside");
  lp_json_keynumber(j, "live_bytes", sum.live);
  lp_json_keynumber(j, "bytes", sum.bytes);
  lp_json_keynumber(j, "allocations", sum.arrived);
  lp_json_keynumber(j, "deallocations", sum.left);
  lp_json_keynumber(j, "older_bytes", prof->elder.bytes);
  lp_json_keynumber(j, "older_deallocations", prof->elder.n);
  lp_json_end(j);
}

/* The summary. */
static void json_summary(LpJson *j, const LpProfile *prof, const LpTree *t,
                         const LpShape *shape)
{
  lp_json_object(j, "summary");
  json_sampled(j, prof);
  lp_json_keytext(j, "approximate", prof->guess.n ? prof->guess.s : NULL);
  lp_json_key(j, "duration_ns");
  if (prof->ns)
    lp_json_number(j, prof->ns);
  else
    lp_json_null(j);
  json_timeline(j, prof);
  json_peak(j, prof);
  json_totals(j, prof, t);
  json_foreign(j, prof);
  json_statistics(j, prof);
  lp_summary_json(j, prof, shape);
  lp_json_damage(j, &prof->files);
  lp_json_end(j);
}

/* -- Tables --------------------------------------------------------------- */

/* The value of a cell. */
static void json_place(LpJson *j, const LpPlace *p, LpUnit unit)
{
  if (!p->known)
    lp_json_null(j);
  else if (unit == LP_UNIT_TEXT)
    lp_json_text(j, p->s);
  else if (unit == LP_UNIT_PERCENT)
    lp_json_real(j, p->percent);
  else
    lp_json_number(j, p->n);
}

void lp_json_members(LpJson *j, const LpTable *t)
{
  unsigned col;
  size_t row;
  lp_json_array(j, "columns");
  for (col = 0; col < t->ncol; col++)
    lp_json_column(j, t->col[col].key, t->col[col].title, t->col[col].unit);
  lp_json_end(j);
  lp_json_array(j, "rows");
  for (row = 0; row < t->n; row++) {
    lp_json_array(j, NULL);
    for (col = 0; col < t->ncol; col++)
      json_place(j, lp_table_at(t, row, col), t->col[col].unit);
    lp_json_end(j);
  }
  lp_json_end(j);
}

/* The time series of the baseline, if it has one. */
static void json_time_base(LpJson *j, const LpProfile *prof)
{
  LpTable t = {.name = "time_base"};
  if (!prof->baseline.timeseries.n)
    return;
  lp_time_base(&t, prof);
  lp_json_object(j, "time_base");
  lp_json_members(j, &t);
  lp_json_end(j);
  lp_table_close(&t);
}

/* All views that are tables, as far as their data was counted. */
static void json_tables(LpJson *j, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  size_t i;
  lp_json_object(j, "tables");
  for (i = 0; i < sizeof(json_views) / sizeof(json_views[0]); i++) {
    const LpReport *r = json_views[i];
    LpTable t = {.name = r->view};
    if (!(r->of & prof->of) || (r->wants & ~prof->wanted.what))
      continue;
    r->table(&t, subject, opt);
    lp_json_object(j, r->view);
    lp_json_members(j, &t);
    lp_json_end(j);
    lp_table_close(&t);
  }
  json_time_base(j, prof);
  lp_json_end(j);
}

/* -- Both documents ------------------------------------------------------- */

void lp_json_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                   const LpReportOptions *opt)
{
  LpJson j;
  lp_json_open(&j, out);
  lp_json_head(&j, prof, opt);
  lp_json_keytext(&j, "view", t->name);
  lp_json_members(&j, t);
  lp_json_end(&j);
}

/* Bytes of steps, of which a diff has none. */
static size_t json_steps(const LpProfile *prof, size_t most)
{
  return prof->baseline.present ? 0 : most;
}

/* The call tree with native functions: members as those of the document. */
static void json_native(LpJson *j, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  LpTreeOf of = {lp_metric_counted(prof) &
                     (~LP_METRIC_PARTS | LP_METRIC_BIT(LP_METRIC_ALLOC_GC)),
                 LP_MERGE_NONE, opt->shape, 1, 1};
  LpCallsOf calls = {JSON_NATIVE, opt->shape, json_steps(prof, JSON_STEPS / 2),
                     NULL};
  LpTree t;
  lp_tree_open(&t, prof, &of);
  lp_tree_whole(&t);
  lp_json_object(j, "native");
  json_metrics(j, of.metrics);
  json_totals(j, prof, &t);
  lp_json_calls(j, prof, &t, &calls);
  lp_json_end(j);
  lp_tree_close(&t);
}

void lp_json_document(LpOut *out, const LpSubject *subject,
                      const LpReportOptions *opt, int both)
{
  const LpProfile *prof = subject->prof;
  LpTreeOf of = {lp_metric_counted(prof), LP_MERGE_NONE, opt->shape, 0, both};
  LpCallsOf calls = {JSON_NODES, opt->shape, json_steps(prof, JSON_STEPS),
                     &opt->sources};
  LpTree t;
  LpJson j;
  lp_tree_open(&t, prof, &of);
  lp_tree_whole(&t);
  lp_json_open(&j, out);
  lp_json_head(&j, prof, opt);
  json_summary(&j, prof, &t, opt->shape);
  json_metrics(&j, of.metrics);
  lp_json_calls(&j, prof, &t, both ? &calls : NULL);
  json_tables(&j, subject, opt);
  if (both && lp_luafirst(prof))
    json_native(&j, prof, opt);
  lp_json_end(&j);
  lp_tree_close(&t);
}

/* --format=json. */
static void json_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  lp_json_document(out, subject, opt, 0);
}

const LpReport lp_report_json = {
    .format = "json",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_STACKS | LP_TAKES_DIFF | LP_TAKES_AGES,
    .wants = LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_SIZES | LP_WANT_TIME |
             LP_WANT_AGES,
    .write = json_write,
};

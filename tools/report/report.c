/*
** All reports there are.
*/

#include <stddef.h>
#include <string.h>

#include "foreign.h"
#include "growth/growth.h"
#include "heap/heap_report.h"
#include "summary/summary_report.h"
#include "suggest.h"
#include "text/table_fit.h"
#include "text.h"

/* The first one of a format has its default view, unless table_formats has
** another.
*/
static const LpReport *const reports[] = {
    &lp_report_sites,         &lp_report_json,
    &lp_report_pprof,         &lp_report_speedscope,
    &lp_report_html,          &lp_report_functions,
    &lp_report_lines,         &lp_report_types,
    &lp_report_sizes,         &lp_report_tree,
    &lp_report_callers,       &lp_report_time,
    &lp_report_snapshots,     &lp_report_threads,
    &lp_report_processes,     &lp_report_folded,
    &lp_report_heap,          &lp_report_heap_types,
    &lp_report_heap_shapes,   &lp_report_heap_retained,
    &lp_report_heap_shared,   &lp_report_heap_weak,
    &lp_report_heap_rss,      &lp_report_heap_sparse,
    &lp_report_heap_threads,  &lp_report_heap_tree,
    &lp_report_heap_paths,    &lp_report_heap_owners,
    &lp_report_heap_list,     &lp_report_heap_objects,
    &lp_report_heap_keepers,  &lp_report_heap_makers,
    &lp_report_heap_stacks,   &lp_report_heap_snapshot,
    &lp_report_heap_html,     &lp_report_heap_pprof,
    &lp_report_growth,        &lp_report_growth_paths,
    &lp_report_growth_shared, &lp_report_growth_shapes,
    &lp_report_growth_makers, &lp_report_growth_html,
    &lp_report_tarantool};

/* A table as text, with the notes before it. */
static void report_table_text(LpOut *out, const LpTable *t,
                              const LpProfile *prof, const LpReportOptions *opt)
{
  LpBuf b = {0};
  lp_text_head(out, prof);
  if (prof->guess.n)
    lp_out_printf(out, "Live figures are approximate: %s\n\n", prof->guess.s);
  lp_foreign_text(&b, prof);
  if (b.n)
    lp_out_printf(out, "Outside of the VM's count: %s\n\n", b.s);
  lp_buf_free(&b);
  lp_table_text(out, t, opt);
}

/* Formats that print tables. */
static const struct TableFormat {
  const char *name;
  const char *view; /* The default view, if it exists. */
  void (*write)(LpOut *out, const LpTable *t, const LpProfile *prof,
                const LpReportOptions *opt);
} table_formats[] = {{"text", NULL, report_table_text},
                     {"json", NULL, lp_json_table},
                     {"csv", "lines", lp_csv_table}};

/* How a format prints tables, or NULL if it does not. */
static const struct TableFormat *report_table(const char *format)
{
  size_t i;
  for (i = 0; i < sizeof(table_formats) / sizeof(table_formats[0]); i++)
    if (strcmp(table_formats[i].name, format) == 0)
      return &table_formats[i];
  return NULL;
}

/* Does a report have that format, and that view, NULL for any? */
static int report_is(const LpReport *r, const char *format, const char *view)
{
  if (r->format ? strcmp(r->format, format) != 0 : !report_table(format))
    return 0;
  return !view || (r->view && strcmp(r->view, view) == 0);
}

/* The first report of a format and view (NULL: any) for a profile of LP_OF_*,
** or NULL. A report of all kinds precedes one of a single kind.
*/
static const LpReport *report_first(const char *format, const char *view,
                                    unsigned of)
{
  const LpReport *part = NULL;
  size_t i;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const LpReport *r = reports[i];
    if (!(r->of & of) || !report_is(r, format, view))
      continue;
    if (!(of & ~r->of))
      return r;
    if (!part)
      part = r;
  }
  return part;
}

/* The report of a format and a view, NULL for the default, of a profile of one
** kind, LP_OF_*; or NULL.
*/
const LpReport *lp_report_find(const char *format, const char *view,
                               unsigned of)
{
  const struct TableFormat *t = report_table(format);
  const LpReport *r = NULL;
  if (!view && t && t->view)
    r = report_first(format, t->view, of);
  return r ? r : report_first(format, view, of);
}

/* The column that rows are sorted by, or -1. Self may be called as the metric
** is.
*/
static int report_column(const LpTable *t, const LpProfile *prof,
                         const LpReportOptions *opt)
{
  int col = lp_table_find(t, opt->sort);
  const char *metric = lp_metrics[lp_report_metric(prof, opt)].key;
  return col < 0 && strcmp(metric, opt->sort) == 0 ? lp_table_find(t, "self")
                                                   : col;
}

/* The sentences before a report as text. The summary of a heap dump begins with
** them.
*/
static void report_summary(LpOut *out, const LpReport *r,
                           const LpSubject *subject, const LpReportOptions *opt)
{
  if (subject->ladder && r != &lp_report_growth)
    lp_growth_sentences(&out->buf, subject->ladder);
  else if (!(subject->prof->of & (LP_OF_HEAP | LP_OF_LADDER)))
    lp_summary_text(out, subject->prof, opt);
  else if (r != &lp_report_heap && subject->heap)
    lp_heap_sentences(out, subject);
}

void lp_report_write(const char *format, const char *view, LpOut *out,
                     const LpSubject *subject, const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  unsigned of = prof->of ? prof->of : LP_OF_MEMORY | LP_OF_CPU;
  const LpReport *r = lp_report_find(format, view, of);
  LpTable t = {.name = r->view};
  LpBuf key = {0};
  int col;
  if (opt->summary)
    report_summary(out, r, subject, opt);
  if (!r->table) {
    r->write(out, subject, opt);
    return;
  }
  r->table(&t, subject, opt);
  col = opt->sort ? report_column(&t, prof, opt) : -1;
  if (col >= 0) {
    lp_table_sort(&t, (unsigned)col);
    if (strcmp(t.col[col].key, "self") != 0 || lp_profile_joint(prof))
      lp_buf_printf(&t.note, ", sorted by %s", opt->sort);
  }
  if (opt->top && !t.topped)
    lp_table_top(&t, opt->top);
  if (opt->columns)
    lp_table_choose(&t, opt->columns, &key);
  lp_buf_free(&key);
  lp_report_left(&t.note, opt, r->takes, lp_report_metric(prof, opt));
  report_table(format)->write(out, &t, prof, opt);
  lp_table_close(&t);
}

/* The column of a table that --min is about: totals, or the first number. */
static unsigned report_main(const LpTable *t)
{
  int total = lp_table_find(t, "total");
  unsigned col = 0;
  while (total < 0 && col + 1 < t->ncol && t->col[col].unit == LP_UNIT_TEXT)
    col++;
  return total < 0 ? col : (unsigned)total;
}

int lp_report_largest(LpBuf *b, const LpReport *r, const LpSubject *subject,
                      const LpReportOptions *opt)
{
  LpReportOptions all = *opt;
  LpTable t = {.name = r->view};
  size_t n;
  r->table(&t, subject, opt);
  n = t.n - t.foot;
  lp_table_close(&t);
  if (n)
    return 0;
  all.min = 0;
  all.least = 0;
  t = (LpTable){.name = r->view};
  r->table(&t, subject, &all);
  n = t.n - t.foot;
  if (n) {
    unsigned col = report_main(&t);
    lp_table_sort(&t, col);
    lp_table_cell(b, lp_table_at(&t, 0, col), &t.col[col], 1);
  }
  lp_table_close(&t);
  return n > 0;
}

/* Add the names of all formats, and try them for a suggestion. */
static void report_formats(LpBuf *b, ClNearest *s)
{
  size_t i, k;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const char *name = reports[i]->format;
    for (k = 0; name && k < i; k++)
      if (reports[k]->format && strcmp(reports[k]->format, name) == 0)
        break;
    if (!name || k < i)
      continue;
    lp_buf_printf(b, "%s, ", name);
    cl_nearest_try(s, name);
  }
  lp_buf_puts(b, "csv");
  cl_nearest_try(s, "csv");
}

/* Add the names of all views that a format has, and try them. */
static void report_views(LpBuf *b, ClNearest *s, const char *format,
                         unsigned of)
{
  int any = 0;
  size_t i;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const LpReport *r = reports[i];
    size_t k = 0;
    while (k < i && (!reports[k]->view || !r->view || !(reports[k]->of & of) ||
                     strcmp(reports[k]->view, r->view) != 0))
      k++;
    if (k < i || !r->view || !lp_report_find(format, r->view, r->of & of))
      continue;
    lp_buf_printf(b, "%s%s", any++ ? ", " : "", r->view);
    cl_nearest_try(s, r->view);
  }
}

/* Say why a format has no such view of profiles of one kind. One that other
** kinds have is not mistyped.
*/
static void report_no_view(LpBuf *why, const char *format, const char *view,
                           unsigned of)
{
  int other = lp_report_find(format, view, ~0u) != NULL;
  ClNearest s = cl_nearest(view && !other ? view : "");
  LpBuf views = {0};
  report_views(&views, &s, format, other ? of : ~0u);
  if (views.n)
    lp_buf_printf(why, "expected a VIEW of --format=%s (%s), not %s", format,
                  views.s, view ? view : "none");
  else
    lp_buf_printf(why, "--view is not for --format=%s", format);
  lp_suggest_add(why, &s, "");
  lp_buf_free(&views);
}

/* The names of options that some reports take. */
static const struct Taken {
  const char *name;
  unsigned bit; /* LP_TAKES_* */
} taken[] = {{"human-readable", LP_TAKES_HUMAN},
             {"leak-only", LP_TAKES_LEAKONLY},
             {"min", LP_TAKES_MIN},
             {"metric", LP_TAKES_METRIC},
             {"sort", LP_TAKES_SORT},
             {"top", LP_TAKES_TOP},
             {"focus", LP_TAKES_FOCUS},
             {"ignore", LP_TAKES_IGNORE},
             {"diff", LP_TAKES_DIFF},
             {"diff-from", LP_TAKES_DIFF},
             {"temporary", LP_TAKES_TEMPORARY},
             {"ignore-youngest", LP_TAKES_YOUNG},
             {"heap-snap-interval", LP_TAKES_SNAP},
             {"path", LP_TAKES_PATH},
             {"all", LP_TAKES_ALL},
             {"group", LP_TAKES_GROUP},
             {"source", LP_TAKES_SOURCE}};
#define NTAKEN (sizeof(taken) / sizeof(taken[0]))

unsigned lp_report_takes(const char *name)
{
  size_t i;
  for (i = 0; i < NTAKEN; i++)
    if (strcmp(taken[i].name, name) == 0)
      return taken[i].bit;
  return 0;
}

/* The same, if it takes all options that were given, LP_TAKES_*. If there is
** none, the reason is appended to WHY.
*/
const LpReport *lp_report_choose(const char *format, const char *view,
                                 unsigned given, unsigned of, LpBuf *why)
{
  const LpReport *r = lp_report_find(format, view, of);
  unsigned i;
  why->n = 0;
  if (!r && !lp_report_find(format, NULL, LP_OF_MEMORY | LP_OF_CPU)) {
    ClNearest s = cl_nearest(format);
    if (lp_report_find(format, NULL, ~0u)) {
      lp_buf_printf(why, "there is no --format=%s", format);
      return NULL;
    }
    lp_buf_puts(why, "expected a FORMAT (");
    report_formats(why, &s);
    lp_buf_printf(why, "), not %s", format);
    lp_suggest_add(why, &s, "");
  } else if (!r && !view && !lp_report_find(format, NULL, of)) {
    lp_buf_printf(why, "there is no --format=%s", format);
  } else if (!r) {
    report_no_view(why, format, view, of);
  }
  for (i = 0; r && i < NTAKEN; i++) {
    if (given & ~r->takes & taken[i].bit) {
      lp_buf_printf(why, "--%s is not for --%s=%s", taken[i].name,
                    r->view ? "view" : "format", r->view ? r->view : r->format);
      if (r == &lp_report_sites && (lp_report_functions.takes & taken[i].bit))
        lp_buf_puts(why, "; did you mean --view=functions?");
      return NULL;
    }
  }
  return r;
}

/* Say that WHAT of a view is one of its columns, not WORD. */
static void report_keys(LpBuf *why, const LpTable *t, const char *what,
                        const char *word)
{
  ClNearest s = cl_nearest(word);
  unsigned i;
  if (lp_table_find(t, word) >= 0) {
    lp_buf_printf(why, "expected %s of --view=%s, each once, not %s again",
                  what, t->name, word);
    return;
  }
  lp_buf_printf(why, "expected %s of --view=%s (", what, t->name);
  for (i = 0; i < t->ncol; i++) {
    lp_buf_printf(why, "%s%s", i ? ", " : "", t->col[i].key);
    cl_nearest_try(&s, t->col[i].key);
  }
  lp_buf_printf(why, "), not %s", word);
  lp_suggest_add(why, &s, "");
}

/* Does a table of nothing, which has all columns, have those that are asked
** for? If not, the possible keys are appended to WHY.
*/
static int report_has_columns(const LpReport *r, unsigned of,
                              const LpReportOptions *opt, LpBuf *why)
{
  LpTable t = {.name = r->view};
  LpProfile *none = lp_profile_new();
  const LpSubject subject = {.prof = none};
  LpBuf key = {0};
  int found = 1;
  none->of = of;
  none->wanted.what = r->wants | lp_metric_wants(LP_METRIC_BIT(opt->metric) |
                                                 lp_report_columns(opt));
  none->baseline.present = opt->base != NULL;
  r->table(&t, &subject, opt);
  if (opt->sort && report_column(&t, none, opt) < 0) {
    report_keys(why, &t, "a KEY", opt->sort);
    found = 0;
  } else if (opt->columns && !lp_table_choose(&t, opt->columns, &key)) {
    report_keys(why, &t, "COLUMNS", key.s);
    found = 0;
  }
  lp_buf_free(&key);
  lp_table_close(&t);
  lp_profile_free(none);
  return found;
}

/* The same of a report that is no table: its rows can be sorted only. */
static int report_sorts(const LpReport *r, const LpReportOptions *opt,
                        LpBuf *why)
{
  static const char *const keys[] = {"total", "self", "name"};
  ClNearest s = cl_nearest(opt->sort);
  size_t i;
  for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    if (strcmp(keys[i], opt->sort) == 0)
      return 1;
    cl_nearest_try(&s, keys[i]);
  }
  lp_buf_printf(why, "expected a KEY of --view=%s (total, self, name), not %s",
                r->view, opt->sort);
  lp_suggest_add(why, &s, "");
  return 0;
}

/* Are the options' values good for a report of profiles of one kind? If not,
** the reason is appended to WHY.
*/
int lp_report_check(const LpReport *r, unsigned of, const LpReportOptions *opt,
                    LpBuf *why)
{
  why->n = 0;
  if (opt->chosen && !(lp_metrics[opt->metric].of & of)) {
    lp_buf_printf(why, "there is no --metric=%s", lp_metrics[opt->metric].key);
    return 0;
  }
  if (opt->columns && !r->table) {
    lp_buf_printf(why, "--columns is for tables, and --%s=%s is none",
                  r->view ? "view" : "format", r->view ? r->view : r->format);
    return 0;
  }
  if (r->table
          ? (opt->sort || opt->columns) && !report_has_columns(r, of, opt, why)
          : opt->sort && !report_sorts(r, opt, why))
    return 0;
  why->n = 0;
  return 1;
}

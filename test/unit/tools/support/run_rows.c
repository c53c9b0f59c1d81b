/*
** What must hold of reports of rows, of callers, and of what has changed.
*/

#include <check.h>
#include <stdlib.h>

#include "callers.h"
#include "run.h"

/* The table of a view, with all its rows. */
static LpTable rows_table(const Run *r, const char *view, LpMetric m)
{
  LpReportOptions opt = {.metric = m, .chosen = 1};
  const LpSubject subject = {.prof = r->prof};
  LpTable t = {.name = view};
  lp_report_find("text", view, r->prof->of)->table(&t, &subject, &opt);
  return t;
}

/* A number of a row. */
static uint64_t rows_number(const LpTable *t, size_t row, const char *key)
{
  int col = lp_table_find(t, key);
  if (col < 0)
    ck_abort_msg("%s has no column %s", t->name, key);
  return lp_table_at(t, row, (unsigned)col)->n;
}

/* What all have together. */
static uint64_t rows_all(const Run *r, LpMetric m)
{
  LpValue sum = {0, 0};
  uint32_t i;
  if (m == LP_METRIC_SAMPLES)
    return r->prof->cpu.samples;
  for (i = 0; i < r->prof->origins.n; i++)
    lp_value_add(&sum, lp_metric_of(r->prof, LP_NOW, i, m));
  return lp_value_round(sum);
}

/* What rows have themselves is what all have; of samples, each is rounded. What
** they have in total is that and more, where nothing is below 0.
*/
void run_rows(const Run *r, const char *view, LpMetric m)
{
  LpTable t;
  uint64_t sum = 0, all = rows_all(r, m);
  size_t i;
  if (!(lp_metrics[m].of & r->prof->of))
    return;
  t = rows_table(r, view, m);
  for (i = 0; i < t.n; i++) {
    uint64_t self = rows_number(&t, i, "self");
    sum += self;
    if (m != LP_METRIC_LIVE && rows_number(&t, i, "total") < self)
      ck_abort_msg("%s: less in total than itself", view);
  }
  if (r->prof->sparse)
    ck_assert_uint_le(lp_size(sum - all), t.n);
  else
    ck_assert_uint_eq(sum, all);
  lp_table_close(&t);
}

/* All that is something is kept. */
static int callers_keep(uint64_t n, void *ctx)
{
  (void)ctx;
  return n != 0;
}

/* The first line of a stack of callers has what its site has itself; callers
** share what they called, but for what nobody called.
*/
static void callers_check(const LpTree *t, const LpTree *flat, LpMetric m)
{
  uint64_t *rest = lp_alloc(t->n * sizeof(uint64_t));
  uint32_t i, k, n = 0;
  for (i = 0; i < t->n; i++) {
    rest[i] = lp_tree_totals(t, i, m);
    if (i == LP_NODE_ROOT)
      continue;
    ck_assert_uint_lt(t->node[i].parent, i);
    ck_assert_uint_le(rest[i], rest[t->node[i].parent]);
    rest[t->node[i].parent] -= rest[i];
    if (t->node[i].parent != LP_NODE_ROOT)
      continue;
    for (k = 1; flat->node[k].site != t->node[i].site;)
      ck_assert_uint_lt(++k, flat->n);
    ck_assert_uint_eq(lp_tree_totals(t, i, m), lp_tree_self(flat, k, m));
  }
  ck_assert_uint_eq(rest[LP_NODE_ROOT], 0);
  for (k = 1; k < flat->n; k++)
    n += lp_tree_self(flat, k, m) != 0;
  for (i = 1; i < t->n; i++)
    n -= t->node[i].parent == LP_NODE_ROOT;
  ck_assert_uint_eq(n, 0);
  free(rest);
}

/* The tree of callers, against what sites have themselves. Whole recordings
** only: there is nothing to be rounded.
*/
void run_callers(const Run *r)
{
  LpMetric m =
      r->prof->of == LP_OF_CPU ? LP_METRIC_SAMPLES : LP_METRIC_ALLOCATIONS;
  LpTreeOf of = {LP_METRIC_BIT(m), LP_MERGE_NONE, NULL, 0, 0};
  LpTree whole, t, flat;
  lp_tree_open(&whole, r->prof, &of);
  lp_callers_open(&t, &whole, m, callers_keep, NULL);
  of.merge = LP_MERGE_CALLERS;
  lp_tree_open(&flat, r->prof, &of);
  callers_check(&t, &flat, m);
  lp_tree_close(&flat);
  lp_tree_close(&t);
  lp_tree_close(&whole);
}

/* A column of changes is what is less what was; nothing, of the SAME. */
static void change_check(const LpTable *t, const char *now, const char *base,
                         const char *change, int same)
{
  size_t i;
  for (i = 0; i < t->n; i++) {
    uint64_t n = rows_number(t, i, now), was = rows_number(t, i, base);
    ck_assert_uint_eq(rows_number(t, i, change), n - was);
    if (same)
      ck_assert_uint_eq(n, was);
  }
}

/* All tables of a diff. */
void run_change(const Run *r, int same)
{
  LpMetric m =
      r->prof->of == LP_OF_CPU ? LP_METRIC_SAMPLES : LP_METRIC_ALLOCATIONS;
  static const char *const view[] = {"functions", "lines"};
  LpTable t;
  int i;
  for (i = 0; i < 2; i++) {
    t = rows_table(r, view[i], m);
    ck_assert_uint_gt(t.n, 0);
    change_check(&t, "self", "self-base", "self-change", same);
    change_check(&t, "total", "total-base", "total-change", same);
    lp_table_close(&t);
  }
  if (r->prof->of == LP_OF_CPU)
    return;
  t = rows_table(r, "types", m);
  change_check(&t, lp_metrics[m].key, "allocations-base", "change", same);
  lp_table_close(&t);
}

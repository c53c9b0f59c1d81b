/*
** --view=functions and --view=lines: what each has itself, and with all that it
** called.
**
** The total of a row has every stack once, however often the row is in it.
*/

#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "part.h"
#include "report.h"

typedef struct Row {
  LpValue self[LP_NSIDE][LP_NMETRIC];
  LpValue total[LP_NSIDE]; /* Of the metric that the report is of. */
  uint32_t site;           /* Of those that are this row, one. */
  uint32_t last;           /* The last path that it was in, counted from 1. */
  int unsure;              /* Some of it may belong to another function. */
  char *label;
} Row;

typedef struct Rows {
  const LpProfile *prof;
  const LpReportOptions *opt;
  int lines;        /* A row is a line, not a function. */
  unsigned sides;   /* How many there are: the base may not be. */
  unsigned metrics; /* Bits of LpMetric: of what there is self. */
  LpMetric metric;
  int allocgc;             /* It is known what is allocation and collection. */
  LpValue all[LP_NSIDE];   /* Of that metric. */
  LpValue own[LP_NMETRIC]; /* Of any, now. */
  Row *row;                /* By site; many are of nothing. */
  uint32_t *as;            /* The site that stands for each site. */
  uint32_t paths;          /* So many were counted. */
} Rows;

/* -- Figures -------------------------------------------------------------- */

/* Count V for the innermost of N sites of a path, as a metric of its own. */
static void rows_self(Rows *r, const LpStackView *p, uint32_t n, LpMetric m,
                      const LpValue v[LP_NSIDE])
{
  uint32_t site = p->site[n - 1];
  Row *row = &r->row[r->as[site]];
  unsigned side;
  row->unsure |= m == r->metric &&
                 (r->prof->row[site].marks & LJM_SITE_UNSURE) &&
                 lp_value_round(v[LP_NOW]);
  for (side = 0; side < r->sides; side++)
    lp_value_add(&row->self[side][m], v[side]);
  lp_value_add(&r->own[m], v[LP_NOW]);
}

/* Count V, of the metric that the report is of, for N sites of a path. Rows of
** all of them are known.
*/
static void rows_total(Rows *r, const LpStackView *p, uint32_t n,
                       const LpValue v[LP_NSIDE])
{
  unsigned side;
  uint32_t i;
  r->paths++;
  for (i = 0; i < p->n; i++) {
    Row *row = &r->row[r->as[p->site[i]]];
    row->site = p->site[i];
    if (row->last == r->paths || i >= n)
      continue;
    row->last = r->paths;
    for (side = 0; side < r->sides; side++)
      lp_value_add(&row->total[side], v[side]);
  }
  for (side = 0; side < r->sides && n; side++)
    lp_value_add(&r->all[side], v[side]);
}

/* Count a sampled stack. */
static void rows_stack(Rows *r, LpStackView *p, uint32_t i)
{
  LpValue v[LP_NSIDE] = {{0, 0}};
  unsigned side;
  LpMetric m;
  lp_stackview_stack(p, i);
  for (side = 0; side < r->sides; side++)
    v[side].n = lp_metric_samples(r->prof, side, i);
  for (m = 0; m < LP_NMETRIC; m++) {
    uint32_t n = lp_stackview_counts(p, i, m);
    if (n && (r->metrics & LP_METRIC_BIT(m)))
      rows_self(r, p, n, m, v);
  }
  rows_total(r, p, lp_stackview_counts(p, i, r->metric), v);
}

/* Count an origin. */
static void rows_origin(Rows *r, LpStackView *p, uint32_t i)
{
  static const LpValue none[LP_NSIDE];
  LpValue v[LP_NSIDE];
  unsigned side;
  LpMetric m;
  lp_stackview_origin(p, i);
  for (m = 0; m < LP_NMETRIC; m++) {
    if (!(r->metrics & ~LP_METRIC_CPU & LP_METRIC_BIT(m)))
      continue;
    for (side = 0; side < r->sides; side++)
      v[side] = lp_metric_of(r->prof, side, i, m);
    rows_self(r, p, p->n, m, v);
    if (m == r->metric)
      rows_total(r, p, p->n, v);
  }
  if (LP_METRIC_CPU & LP_METRIC_BIT(r->metric))
    rows_total(r, p, 0, none);
}

/* Count everything. */
static void rows_count(Rows *r)
{
  LpStackView p;
  uint32_t i;
  lp_stackview_open(&p, r->prof, LP_MERGE_NONE, 0, r->metrics);
  for (i = 0; i < r->prof->sampled.n; i++)
    if (lp_shape_stack(r->opt->shape, i))
      rows_stack(r, &p, i);
  for (i = 0; i < r->prof->origins.n; i++)
    if (lp_shape_origin(r->opt->shape, i))
      rows_origin(r, &p, i);
  lp_stackview_close(&p);
}

/* -- Order ---------------------------------------------------------------- */

/* Of a metric: what there is, or how that changed. */
static uint64_t rows_value(LpValue now, LpValue base, int change)
{
  return lp_value_round(now) - (change ? lp_value_round(base) : 0);
}

/* Of the metric: what a row has itself. */
static uint64_t rows_own(const Rows *r, const Row *row, int change)
{
  return rows_value(row->self[LP_NOW][r->metric], row->self[LP_BASE][r->metric],
                    change);
}

/* The total, or its change. */
static uint64_t rows_all(const Row *row, int change)
{
  return rows_value(row->total[LP_NOW], row->total[LP_BASE], change);
}

/* Largest first; changes by their size. */
static int rows_compare(uint64_t a, uint64_t b, int change)
{
  int cmp = change ? lp_most_first(lp_size(a), lp_size(b)) : 0;
  return cmp ? cmp : lp_most_first(a, b);
}

/* Largest first, then by name. */
static int rows_before(const void *a, const void *b, void *ctx)
{
  const Row *x = a, *y = b;
  const Rows *r = ctx;
  int diff = r->sides > 1;
  int cmp = rows_compare(rows_own(r, x, diff), rows_own(r, y, diff), diff);
  if (!cmp)
    cmp = rows_compare(rows_all(x, diff), rows_all(y, diff), diff);
  return cmp ? cmp : strcmp(x->label, y->label);
}

/* The name of a row. */
static char *rows_label(const Rows *r, const Row *row)
{
  LpBuf b = {0};
  if (row->unsure && !r->lines)
    lp_buf_puts(&b, "~");
  (r->lines ? lp_label_whole : lp_label_func)(&b, r->prof, row->site);
  return b.s;
}

/* Is a row empty? */
static int rows_empty(const Row *row)
{
  static const LpValue none[LP_NSIDE][LP_NMETRIC];
  return memcmp(row->self, none, sizeof(none)) == 0 &&
         memcmp(row->total, none[0], sizeof(row->total)) == 0;
}

/* Parts of samples that there are. */
static unsigned rows_parts(const Rows *r)
{
  unsigned parts = 0;
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if ((LP_METRIC_PARTS & LP_METRIC_BIT(m)) &&
        (lp_value_round(r->own[m]) || (m == LP_METRIC_ALLOC_GC && !r->allocgc)))
      parts |= LP_METRIC_BIT(m);
  return parts;
}

/* Metrics shown as text besides the main one; of both kinds if both are in the
** report.
*/
static unsigned rows_near(const Rows *r)
{
  unsigned near = LP_METRIC_BIT(LP_METRIC_ALLOCATIONS) |
                  LP_METRIC_BIT(LP_METRIC_BYTES) |
                  LP_METRIC_BIT(LP_METRIC_LIVE);
  if (lp_profile_joint(r->prof))
    near |= LP_METRIC_BIT(LP_METRIC_PEAK) | LP_METRIC_BIT(LP_METRIC_SAMPLES) |
            LP_METRIC_BIT(LP_METRIC_ALLOC_GC);
  if (lp_luafirst(r->prof))
    near |= rows_parts(r);
  return r->sides == 1 ? near & r->metrics & ~LP_METRIC_BIT(r->metric) : 0;
}

/* Is a row's self value of any metric shown large enough? */
static int rows_near_enough(const Rows *r, const Row *row)
{
  unsigned near = rows_near(r);
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if ((near & LP_METRIC_BIT(m)) &&
        lp_report_enough(r->opt, lp_value_round(row->self[LP_NOW][m]),
                         lp_value_round(r->own[m])))
      return 1;
  return 0;
}

/* Is a row shown? Rows with a small total are left out; in a diff, those with a
** small change.
*/
static int rows_shown(const Rows *r, const Row *row)
{
  uint64_t all = lp_value_round(r->all[LP_NOW]);
  uint64_t base = lp_value_round(r->all[LP_BASE]);
  uint64_t most = (int64_t)all > (int64_t)base ? all : base;
  if (!(r->opt->min > 0) && !r->opt->least)
    return !rows_empty(row);
  if (r->sides == 1)
    return lp_report_enough(r->opt, rows_all(row, 0), all) ||
           (lp_profile_joint(r->prof) && rows_near_enough(r, row));
  return lp_report_enough(r->opt, lp_size(rows_all(row, 1)), most) ||
         lp_report_enough(r->opt, lp_size(rows_own(r, row, 1)), most);
}

/* Move the rows that are shown to the front and sort them. Returns their
** number.
*/
static size_t rows_sort(Rows *r)
{
  size_t i, n = 0;
  for (i = 0; i < r->prof->sitekeys.n; i++) {
    Row row = r->row[i];
    if (!rows_shown(r, &row))
      continue;
    row.label = rows_label(r, &row);
    r->row[n++] = row;
  }
  qsort_r(r->row, n, sizeof(Row), rows_before, r);
  return n;
}

/* -- The table ------------------------------------------------------------ */

/* Add a column of totals, which must not be added up. */
static LpColumn *rows_alone(LpTable *t, const char *key, const char *title,
                            LpUnit unit, int width)
{
  LpColumn *c = lp_table_column(t, key, title, unit);
  c->width = width;
  c->alone = 1;
  return c;
}

/* The columns of the metric that the report is of. */
static void rows_columns(const Rows *r, LpTable *t)
{
  LpUnit unit = lp_metrics[r->metric].unit;
  LpColumn *c;
  lp_table_column(t, "self", "self", unit)->width = 12;
  if (r->sides == 1) {
    lp_table_column(t, "self-percent", "%", LP_UNIT_PERCENT)->width = 6;
    rows_alone(t, "total", "total", unit, 11);
    rows_alone(t, "total-percent", "%", LP_UNIT_PERCENT, 6);
    return;
  }
  lp_table_column(t, "self-base", "base", unit)->width = 11;
  c = lp_table_column(t, "self-change", "change", unit);
  c->width = 11;
  c->change = 1;
  rows_alone(t, "total", "total", unit, 11);
  rows_alone(t, "total-base", "base", unit, 11);
  rows_alone(t, "total-change", "change", unit, 11)->change = 1;
}

/* All columns: the main metric, other metrics in text, the name, the rest. */
static void rows_head(const Rows *r, LpTable *t)
{
  unsigned near = rows_near(r);
  LpMetric m;
  rows_columns(r, t);
  for (m = 0; m < LP_NMETRIC; m++)
    if (near & LP_METRIC_BIT(m))
      lp_table_metric(t, m);
  lp_table_column(t, "name", r->lines ? "LINE" : "FUNCTION", LP_UNIT_TEXT);
  for (m = 0; m < LP_NMETRIC; m++) {
    if (m == r->metric || !(r->metrics & LP_METRIC_BIT(m)))
      continue;
    if (!(near & LP_METRIC_BIT(m)))
      lp_table_metric(t, m)->extra = 1;
    if (r->sides > 1)
      lp_table_base(t, m);
  }
  if (r->metric != LP_METRIC_SAMPLES || lp_profile_joint(r->prof))
    lp_buf_printf(&t->note, " by %s", lp_metrics[r->metric].title);
}

/* A row's self value of a metric, if it is known. */
static void rows_number(const Rows *r, LpTable *t, unsigned col, const Row *row,
                        LpSide side, LpMetric m)
{
  if (m == LP_METRIC_ALLOC_GC && !r->allocgc)
    t->col[col].asked = 1;
  else if (row->site != LP_SITE_BEFORE || lp_metric_known(r->prof, side, m))
    lp_table_number(t, col, lp_value_round(row->self[side][m]));
}

/* Add the numbers of the metric that the report is of. Returns the next column.
 */
static unsigned rows_numbers(const Rows *r, LpTable *t, const Row *row)
{
  rows_number(r, t, 0, row, LP_NOW, r->metric);
  if (r->sides == 1) {
    uint64_t all = lp_value_round(r->all[LP_NOW]);
    lp_table_percent(t, 1, rows_own(r, row, 0), all);
    lp_table_number(t, 2, rows_all(row, 0));
    lp_table_percent(t, 3, rows_all(row, 0), all);
    return 4;
  }
  rows_number(r, t, 1, row, LP_BASE, r->metric);
  lp_table_number(t, 2, rows_own(r, row, 1));
  lp_table_number(t, 3, rows_all(row, 0));
  lp_table_number(t, 4, lp_value_round(row->total[LP_BASE]));
  lp_table_number(t, 5, rows_all(row, 1));
  return 6;
}

/* Add a row to the table; its columns are as those of the head. */
static void rows_add(const Rows *r, LpTable *t, const Row *row)
{
  unsigned near = rows_near(r), col;
  LpMetric m;
  lp_table_row(t);
  col = rows_numbers(r, t, row);
  for (m = 0; m < LP_NMETRIC; m++)
    if (near & LP_METRIC_BIT(m))
      rows_number(r, t, col++, row, LP_NOW, m);
  lp_table_string(t, col++, row->label);
  for (m = 0; m < LP_NMETRIC; m++) {
    if (m == r->metric || !(r->metrics & LP_METRIC_BIT(m)))
      continue;
    if (!(near & LP_METRIC_BIT(m)))
      rows_number(r, t, col++, row, LP_NOW, m);
    if (r->sides > 1)
      rows_number(r, t, col++, row, LP_BASE, m);
  }
}

/* All of it. */
static void rows_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  Rows r = {.prof = prof, .opt = opt, .lines = strcmp(t->name, "lines") == 0};
  size_t i, n;
  r.sides = prof->baseline.present ? LP_NSIDE : 1;
  r.metric = lp_report_metric(prof, opt);
  r.metrics = lp_metric_columns(prof) | LP_METRIC_BIT(r.metric);
  r.allocgc = lp_allocgc_known(prof);
  r.row = lp_zalloc(prof->sitekeys.n, sizeof(Row));
  r.as = lp_stackview_sites(prof, r.lines ? LP_MERGE_NONE : LP_MERGE_FUNCTIONS);
  rows_count(&r);
  n = rows_sort(&r);
  rows_head(&r, t);
  for (i = 0; i < n; i++)
    rows_add(&r, t, &r.row[i]);
  free(r.row);
  free(r.as);
}

const LpReport lp_report_functions = {
    .view = "functions",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_SHAPE | LP_TAKES_FIGURES,
    .table = rows_table,
};
const LpReport lp_report_lines = {
    .view = "lines",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_SHAPE | LP_TAKES_FIGURES,
    .table = rows_table,
};

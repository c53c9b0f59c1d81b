/*
** --view=types: a table of what was allocated, by type of object.
*/

#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "report.h"

/* Rows behind those of LJM_TYPE_*. */
enum {
  TYPES_INTERNAL = LJM_TYPE_FOREIGN + 1, /* Unknown, of the VM itself. */
  TYPES_BEFORE,                          /* Older than the recording. */
  TYPES_TOTAL,
  TYPES_ROWS
};

static const char *const types_name[TYPES_ROWS] = {
    "unknown",  "array",    "hash",     "other",          "string", "upvalue",
    "thread",   "proto",    "function", "trace",          "cdata",  "table",
    "userdata", LP_FOREIGN, "internal", "(before start)", "total"};

typedef struct TypesRow {
  const char *name; /* One of types_name. */
  LpValue v[LP_NSIDE][LP_NMETRIC];
} TypesRow;

typedef struct Types {
  const LpProfile *prof;
  unsigned sides;   /* How many there are: the base may not be. */
  unsigned metrics; /* Bits of LpMetric. */
  LpMetric metric;  /* What is compared, */
  int chosen;       /* and sorted by. */
  LpMetric
      col[LP_NMETRIC]; /* In the order of columns: of a diff, that first. */
  unsigned ncol;
  TypesRow row[TYPES_ROWS];
} Types;

/* The row of an origin. */
static unsigned types_row(const LpCell *c)
{
  if (lp_cell_site(c) == LP_SITE_BEFORE)
    return TYPES_BEFORE;
  if (lp_cell_site(c) == LP_SITE_INTERNAL &&
      lp_cell_type(c) == LJM_TYPE_UNKNOWN)
    return TYPES_INTERNAL;
  return lp_cell_type(c) < TYPES_INTERNAL ? lp_cell_type(c) : LJM_TYPE_UNKNOWN;
}

/* Add up an origin. */
static void types_add(Types *t, uint32_t origin)
{
  TypesRow *r = &t->row[types_row(&t->prof->origins.cell[origin])];
  LpSide side;
  LpMetric m;
  for (side = LP_NOW; side < t->sides; side++) {
    for (m = 0; m < LP_NMETRIC; m++) {
      LpValue v = {0, 0};
      if (t->metrics & LP_METRIC_BIT(m))
        v = lp_metric_of(t->prof, side, origin, m);
      lp_value_add(&r->v[side][m], v);
      lp_value_add(&t->row[TYPES_TOTAL].v[side][m], v);
    }
  }
}

/* All rows. The number of objects older than the recording is not recorded, and
** their bytes only sometimes: the total has what is known of both.
*/
static void types_sum(Types *t, const LpShape *shape)
{
  uint32_t i;
  for (i = 0; i < TYPES_ROWS; i++)
    t->row[i].name = types_name[i];
  for (i = 0; i < t->prof->origins.n; i++)
    if (lp_shape_origin(shape, i))
      types_add(t, i);
}

/* How much a metric of a row has changed. */
static uint64_t types_change(const TypesRow *r, LpMetric m)
{
  return lp_value_round(r->v[LP_NOW][m]) - lp_value_round(r->v[LP_BASE][m]);
}

/* By the main metric, live bytes, bytes, then by name. In a diff, by the size
** of the change.
*/
static int types_before(const void *a, const void *b, void *ctx)
{
  const TypesRow *x = a, *y = b;
  const Types *t = ctx;
  const LpMetric by[] = {t->metric, LP_METRIC_LIVE, LP_METRIC_BYTES};
  int i, cmp = 0;
  if (t->sides > 1)
    cmp = lp_most_first(lp_size(types_change(x, t->metric)),
                        lp_size(types_change(y, t->metric)));
  for (i = !t->chosen; i < 3 && !cmp; i++)
    cmp = lp_most_first(lp_value_round(x->v[LP_NOW][by[i]]),
                        lp_value_round(y->v[LP_NOW][by[i]]));
  return cmp ? cmp : strcmp(x->name, y->name);
}

/* Is a row empty? */
static int types_empty(const TypesRow *r)
{
  static const LpValue none[LP_NSIDE][LP_NMETRIC];
  return r->name != types_name[TYPES_TOTAL] &&
         memcmp(r->v, none, sizeof(none)) == 0;
}

/* The columns. In a diff: the metric, its baseline, its change; the rest is not
** shown in text.
*/
static void types_head(Types *t, LpTable *table)
{
  int diff = t->sides > 1;
  unsigned i;
  LpMetric m;
  if (diff)
    t->col[t->ncol++] = t->metric;
  for (m = 0; m < LP_NMETRIC; m++)
    if ((t->metrics & LP_METRIC_BIT(m)) && !(diff && m == t->metric))
      t->col[t->ncol++] = m;
  lp_table_column(table, "type", "type", LP_UNIT_TEXT);
  for (i = 0; i < t->ncol; i++) {
    lp_table_metric(table, t->col[i])->extra = diff && i;
    if (diff)
      lp_table_base(table, t->col[i])->extra = i != 0;
    if (diff && !i)
      lp_table_column(table, "change", "change", lp_metrics[t->metric].unit)
          ->change = 1;
  }
}

/* A number of a row, if it is known. */
static void types_number(const Types *t, LpTable *table, unsigned col,
                         const TypesRow *r, LpSide side, LpMetric m)
{
  if (r->name != types_name[TYPES_BEFORE] || lp_metric_known(t->prof, side, m))
    lp_table_number(table, col, lp_value_round(r->v[side][m]));
}

/* Add a row to the table; its columns are as those of the head. */
static void types_line(const Types *t, LpTable *table, const TypesRow *r)
{
  unsigned col = 1, i;
  lp_table_row(table);
  lp_table_string(table, 0, lp_strdup(r->name));
  for (i = 0; i < t->ncol; i++) {
    types_number(t, table, col++, r, LP_NOW, t->col[i]);
    if (t->sides > 1)
      types_number(t, table, col++, r, LP_BASE, t->col[i]);
    if (t->sides > 1 && !i)
      lp_table_number(table, col++, types_change(r, t->metric));
  }
}

/* All of it. */
static void types_table(LpTable *table, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  Types t = {.prof = prof, .chosen = opt->chosen};
  int i;
  t.sides = prof->baseline.present ? LP_NSIDE : 1;
  t.metric = lp_report_metric(prof, opt);
  t.metrics =
      (lp_metric_columns(prof) & ~LP_METRIC_CPU) | LP_METRIC_BIT(t.metric);
  types_sum(&t, opt->shape);
  qsort_r(t.row, TYPES_TOTAL, sizeof(TypesRow), types_before, &t);
  types_head(&t, table);
  for (i = 0; i < TYPES_ROWS; i++)
    if (!types_empty(&t.row[i]))
      types_line(&t, table, &t.row[i]);
  table->foot = 1;
}

const LpReport lp_report_types = {
    .view = "types",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_STACKS | LP_TAKES_ROWS | LP_TAKES_FIGURES,
    .table = types_table,
};

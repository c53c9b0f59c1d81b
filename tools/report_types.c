/*
** --view=types: a table of what was allocated, by type of object.
*/

#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Rows behind those of LJM_TYPE_*. */
enum {
  TYPES_INTERNAL = LJM_TYPE_USERDATA + 1, /* Unknown, of the VM itself. */
  TYPES_BEFORE,                           /* Older than the recording. */
  TYPES_TOTAL,
  TYPES_ROWS
};

static const char *const types_name[TYPES_ROWS] = {
    "unknown",  "array",    "hash",           "other", "string", "upvalue",
    "thread",   "proto",    "function",       "trace", "cdata",  "table",
    "userdata", "internal", "(before start)", "total"};

typedef struct TypesRow {
  const char *name; /* One of types_name. */
  LpValue v[LP_NMETRIC];
} TypesRow;

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

/* All rows. How many objects are older than the recording is not told, how many
** bytes they hold only sometimes: of both, the total has what is known.
*/
static void types_sum(TypesRow *row, const LpProfile *prof,
                      const LpShape *shape, unsigned metrics)
{
  uint32_t i;
  LpMetric m;
  for (i = 0; i < TYPES_ROWS; i++)
    row[i].name = types_name[i];
  for (i = 0; i < prof->origins.n; i++) {
    TypesRow *r = &row[types_row(&prof->origins.cell[i])];
    if (!lp_shape_origin(shape, i))
      continue;
    for (m = 0; m < LP_NMETRIC; m++) {
      LpValue v = {0, 0};
      if (metrics & LP_METRIC_BIT(m))
        v = lp_metric_of(prof, LP_NOW, i, m);
      lp_value_add(&r->v[m], v);
      lp_value_add(&row[TYPES_TOTAL].v[m], v);
    }
  }
}

/* Most live bytes first, then most bytes, then by name. */
static int types_before(const void *a, const void *b)
{
  static const LpMetric by[] = {LP_METRIC_LIVE, LP_METRIC_BYTES};
  const TypesRow *x = a, *y = b;
  int i;
  for (i = 0; i < 2; i++) {
    int64_t n = (int64_t)lp_value_round(x->v[by[i]]);
    int64_t other = (int64_t)lp_value_round(y->v[by[i]]);
    if (n != other)
      return n > other ? -1 : 1;
  }
  return strcmp(x->name, y->name);
}

/* Is there nothing in a row? */
static int types_empty(const TypesRow *r)
{
  static const LpValue none[LP_NMETRIC];
  return r->name != types_name[TYPES_TOTAL] &&
         memcmp(r->v, none, sizeof(none)) == 0;
}

/* Add a row to the table. */
static void types_add(LpTable *t, const TypesRow *r, const LpProfile *prof,
                      unsigned metrics)
{
  unsigned col = 1;
  LpMetric m;
  lp_table_row(t);
  lp_table_string(t, 0, lp_strdup(r->name));
  for (m = 0; m < LP_NMETRIC; m++) {
    if (!(metrics & LP_METRIC_BIT(m)))
      continue;
    if (r->name != types_name[TYPES_BEFORE] || lp_metric_known(prof, m))
      lp_table_number(t, col, lp_value_round(r->v[m]));
    col++;
  }
}

/* All of it. */
static void types_table(LpTable *t, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  unsigned metrics =
      lp_metric_counted(prof) & ~LP_METRIC_BIT(LP_METRIC_SAMPLES);
  TypesRow row[TYPES_ROWS];
  LpMetric m;
  int i;
  if (!(prof->wanted.young > 0)) /* All that is live is leaked. */
    metrics &= ~(LP_METRIC_BIT(LP_METRIC_LEAKED_OBJECTS) |
                 LP_METRIC_BIT(LP_METRIC_LEAKED));
  memset(row, 0, sizeof(row));
  types_sum(row, prof, opt->shape, metrics);
  qsort(row, TYPES_TOTAL, sizeof(TypesRow), types_before);
  lp_table_column(t, "type", "type", LP_UNIT_TEXT);
  for (m = 0; m < LP_NMETRIC; m++)
    if (metrics & LP_METRIC_BIT(m))
      lp_table_metric(t, m);
  for (i = 0; i < TYPES_ROWS; i++)
    if (!types_empty(&row[i]))
      types_add(t, &row[i], prof, metrics);
}

const LpReport lp_report_types = {
    .view = "types",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_TEMPORARY | LP_TAKES_YOUNG,
    .table = types_table,
};

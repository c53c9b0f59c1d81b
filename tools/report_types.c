/*
** --view=types: a table of what was allocated, by type of object.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

/* Rows behind those of LJM_TYPE_*. */
enum {
  TYPES_INTERNAL = LJM_TYPE_USERDATA + 1, /* Unknown, of the VM itself. */
  TYPES_BEFORE,                           /* Older than the recording. */
  TYPES_TOTAL,
  TYPES_ROWS
};

enum {
  COL_ALLOCS,
  COL_BYTES,
  COL_REALLOCS,
  COL_FREES,
  COL_FREED,
  COL_LIVE,
  COL_HELD,
  COL_END
};

static const char *const types_name[TYPES_ROWS] = {
    "unknown",  "array",    "hash",           "other", "string", "upvalue",
    "thread",   "proto",    "function",       "trace", "cdata",  "table",
    "userdata", "internal", "(before start)", "total"};

static const char *const types_head[COL_END] = {
    "allocations", "bytes allocated", "reallocations", "deallocations",
    "bytes freed", "live objects",    "live bytes"};

typedef struct TypesRow {
  const char *name; /* One of types_name. */
  uint64_t n[COL_END];
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

/* The figures of a row. */
static void types_set(TypesRow *r, const LpFigures *f)
{
  r->n[COL_ALLOCS] = lp_figure(f, LP_ALLOCS);
  r->n[COL_BYTES] = lp_figure_bytes(f);
  r->n[COL_REALLOCS] = lp_figure(f, LP_REALLOCS);
  r->n[COL_FREES] = lp_figure(f, LP_FREES);
  r->n[COL_FREED] = lp_figure(f, LP_LEFT_BYTES);
  r->n[COL_LIVE] = lp_figure_live(f);
  r->n[COL_HELD] = lp_figure_live_bytes(f);
}

/* All rows. How many objects are older than the recording is not told, how many
** bytes they hold only sometimes: of both, the total has what is known.
*/
static void types_sum(const LpProfile *prof, TypesRow *row)
{
  LpFigures sum[TYPES_ROWS], all;
  uint64_t held = 0;
  uint32_t i;
  memset(sum, 0, sizeof(sum));
  for (i = 0; i < prof->origins.n; i++) {
    LpFigures f = lp_origins_figures(&prof->origins, i);
    lp_figures_add(&sum[types_row(&prof->origins.cell[i])], &f);
  }
  for (i = 0; i < TYPES_BEFORE; i++)
    lp_figures_add(&sum[TYPES_TOTAL], &sum[i]);
  all = sum[TYPES_TOTAL];
  lp_figures_add(&all, &sum[TYPES_BEFORE]);
  for (i = 0; i < TYPES_ROWS; i++) {
    row[i].name = types_name[i];
    types_set(&row[i], i == TYPES_TOTAL ? &all : &sum[i]);
  }
  if (!prof->nobefore)
    held = row[TYPES_BEFORE].n[COL_HELD] += prof->base;
  row[TYPES_TOTAL].n[COL_LIVE] = lp_figure_live(&sum[TYPES_TOTAL]);
  row[TYPES_TOTAL].n[COL_HELD] = lp_figure_live_bytes(&sum[TYPES_TOTAL]) + held;
}

/* Most live bytes first, then most bytes, then by name. */
static int types_before(const void *a, const void *b)
{
  const TypesRow *x = a, *y = b;
  int64_t held = (int64_t)x->n[COL_HELD], other = (int64_t)y->n[COL_HELD];
  if (held != other)
    return held > other ? -1 : 1;
  if (x->n[COL_BYTES] != y->n[COL_BYTES])
    return x->n[COL_BYTES] > y->n[COL_BYTES] ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* What stands in a place of the table. */
static void types_place(LpBuf *b, const TypesRow *r, int col,
                        const LpProfile *prof, int human)
{
  int before = r->name == types_name[TYPES_BEFORE];
  int size = col == COL_BYTES || col == COL_FREED || col == COL_HELD;
  b->n = 0;
  if (before && (col == COL_LIVE || (col == COL_HELD && prof->nobefore)))
    lp_buf_puts(b, "-");
  else
    lp_text_size(b, r->n[col], human && size);
}

/* Is there nothing in a row? */
static int types_empty(const TypesRow *r)
{
  static const uint64_t none[COL_END];
  return r->name != types_name[TYPES_TOTAL] &&
         memcmp(r->n, none, sizeof(none)) == 0;
}

/* The whole report. */
static void types_write(LpOut *out, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  TypesRow row[TYPES_ROWS];
  int width[COL_END], col;
  LpBuf b = {0};
  unsigned i;
  types_sum(prof, row);
  qsort(row, TYPES_TOTAL, sizeof(TypesRow), types_before);
  lp_text_samples(out, prof);
  lp_out_printf(out, "%-14s", "type");
  for (col = 0; col < COL_END; col++) { /* As wide as the longest. */
    width[col] = (int)strlen(types_head[col]);
    for (i = 0; i < TYPES_ROWS; i++) {
      types_place(&b, &row[i], col, prof, opt->human);
      if ((int)b.n > width[col])
        width[col] = (int)b.n;
    }
    lp_out_printf(out, "  %*s", width[col], types_head[col]);
  }
  lp_text_guess(out, prof);
  lp_out_puts(out, "\n");
  for (i = 0; i < TYPES_ROWS; i++) {
    if (types_empty(&row[i]))
      continue;
    lp_out_printf(out, "%-14s", row[i].name);
    for (col = 0; col < COL_END; col++) {
      types_place(&b, &row[i], col, prof, opt->human);
      lp_out_printf(out, "  %*s", width[col], b.s);
    }
    lp_out_puts(out, "\n");
  }
  lp_buf_free(&b);
}

const LpReport lp_report_types = {"text", "types", LP_OF_MEMORY, LP_TAKES_HUMAN,
                                  types_write};

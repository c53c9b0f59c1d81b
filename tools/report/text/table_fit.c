/*
** Which columns of a table are shown as text, and how wide they are.
*/

#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "table_fit.h"
#include "text.h"

#define FIT_BAR   8  /* Columns of a bar. */
#define FIT_OTHER 16 /* A text that is not the last one has at least these. */
#define FIT_LEAST 8  /* So narrow a text may become if nothing else helps. */

/* What is left out first. Then the column furthest to the right is. */
static const char *const fit_minor[] = {
    "reallocations", "deallocations",  "temporary-objects",
    "peak-objects",  "leaked-objects", "live-objects",
    "freed",         "allocations",    "temporary",
    "peak",          "total-percent"};

/* After these, of what samples were doing, the part with least. */
static const char *const fit_parts[] = {
    "interpreted", "compiled", "c", "alloc-gc", "jit", "kernel", "unnamed"};

/* -- Widths --------------------------------------------------------------- */

void lp_table_cell(LpBuf *b, const LpPlace *p, const LpColumn *c, int human)
{
  if (!p->known) {
    lp_buf_puts(b, c->asked ? "?" : "-");
  } else if (c->unit == LP_UNIT_TEXT) {
    lp_buf_puts(b, p->s);
  } else if (c->unit == LP_UNIT_PERCENT) {
    lp_buf_printf(b, "%.1f%%", p->percent);
  } else if (c->unit == LP_UNIT_NS) {
    lp_buf_printf(b, "%.3f", (double)p->n / 1e9);
  } else {
    if (c->change && (int64_t)p->n > 0)
      lp_buf_puts(b, "+");
    lp_text_size(b, p->n, human && c->unit == LP_UNIT_BYTES);
  }
}

const char *lp_table_title(const LpColumn *c, int width)
{
  return (int)strlen(c->title) > width ? c->key : c->title;
}

/* The width of a column: that of its longest cell. */
static int fit_width(const LpTable *t, unsigned col, int human, int screen)
{
  int width = 0;
  LpBuf b = {0};
  size_t row;
  for (row = 0; row < t->n; row++) {
    int n;
    b.n = 0;
    lp_table_cell(&b, lp_table_at(t, row, col), &t->col[col], human);
    n = (int)(screen ? lp_fit_width(b.s) : b.n);
    width = n > width ? n : width;
  }
  lp_buf_free(&b);
  return width;
}

/* The same with its title, which is the shorter one on a terminal. */
static int fit_natural(const LpTable *t, unsigned col,
                       const LpReportOptions *opt)
{
  const LpColumn *c = &t->col[col];
  int screen = opt->screen.columns > 0;
  int width = fit_width(t, col, opt->human, screen);
  int title = (int)strlen(c->title), key = (int)strlen(c->key);
  if (screen && key < title && title > width && c->unit != LP_UNIT_NS)
    title = key;
  width = title > width ? title : width;
  return !screen && c->width > width ? c->width : width;
}

/* Columns between a column and the one before it. */
static int fit_gap(const LpColumn *c)
{
  return c->unit == LP_UNIT_PERCENT ? 1 : 2;
}

/* The width of a line in which texts are at least readable. */
static int fit_needs(const LpTableFit *f, const LpTable *t, int columns)
{
  int sum = f->bar ? f->bar + 1 : 0, any = 0;
  unsigned col;
  for (col = 0; col < t->ncol; col++) {
    int w = f->width[col], least = FIT_OTHER;
    if (w == LP_TABLE_HIDDEN)
      continue;
    if (col == f->last)
      least = columns * 2 / 5;
    if (t->col[col].unit == LP_UNIT_TEXT && w > least)
      w = least;
    sum += w + (any++ ? fit_gap(&t->col[col]) : 0);
  }
  return sum;
}

/* -- Choosing columns ----------------------------------------------------- */

/* Must it be shown? Texts, the first column, and what rows are sorted by. */
static int fit_kept(const LpTable *t, unsigned col, const LpReportOptions *opt)
{
  return col == 0 || t->col[col].unit == LP_UNIT_TEXT ||
         (opt->sort && strcmp(t->col[col].key, opt->sort) == 0);
}

/* Does a column have nothing but zeros and unknown values? */
static int fit_zero(const LpTable *t, unsigned col)
{
  size_t row;
  for (row = 0; row < t->n; row++) {
    const LpPlace *p = lp_table_at(t, row, col);
    if (p->known &&
        (t->col[col].unit == LP_UNIT_PERCENT ? p->percent > 0 : p->n != 0))
      return 0;
  }
  return 1;
}

/* Hide a column; a percentage goes with its number. */
static void fit_hide(LpTableFit *f, const LpTable *t, unsigned col)
{
  f->width[col] = LP_TABLE_HIDDEN;
  if (t->col[col].unit != LP_UNIT_PERCENT && col + 1 < t->ncol &&
      t->col[col + 1].unit == LP_UNIT_PERCENT)
    f->width[col + 1] = LP_TABLE_HIDDEN;
}

/* Is column AT one that may be left out? */
static int fit_leaves(const LpTableFit *f, const LpTable *t, int at,
                      const LpReportOptions *opt)
{
  return at > 0 && f->width[at] != LP_TABLE_HIDDEN &&
         !fit_kept(t, (unsigned)at, opt);
}

/* The sum of a column's numbers. */
static uint64_t fit_sum(const LpTable *t, unsigned col)
{
  uint64_t sum = 0;
  size_t row;
  for (row = 0; row < t->n; row++)
    sum += lp_table_at(t, row, col)->known ? lp_table_at(t, row, col)->n : 0;
  return sum;
}

/* The part of CPU time that has least, or 0. */
static unsigned fit_part(const LpTableFit *f, const LpTable *t,
                         const LpReportOptions *opt)
{
  unsigned least = 0;
  size_t i;
  for (i = 0; i < sizeof(fit_parts) / sizeof(fit_parts[0]); i++) {
    int at = lp_table_find(t, fit_parts[i]);
    if (fit_leaves(f, t, at, opt) &&
        (!least || fit_sum(t, (unsigned)at) < fit_sum(t, least)))
      least = (unsigned)at;
  }
  return least;
}

/* The column that matters least, or 0. */
static unsigned fit_least(const LpTableFit *f, const LpTable *t,
                          const LpReportOptions *opt)
{
  unsigned col;
  size_t i;
  for (i = 0; i < sizeof(fit_minor) / sizeof(fit_minor[0]); i++) {
    int at = lp_table_find(t, fit_minor[i]);
    if (fit_leaves(f, t, at, opt))
      return (unsigned)at;
  }
  col = fit_part(f, t, opt);
  if (col)
    return col;
  for (col = t->ncol - 1; col > 0; col--)
    if (f->width[col] != LP_TABLE_HIDDEN && !fit_kept(t, col, opt) &&
        t->col[col].unit != LP_UNIT_PERCENT)
      break;
  return col;
}

/* Leave out columns until the rest fits. Those that the user has chosen stay.
 */
static void fit_choose(LpTableFit *f, const LpTable *t,
                       const LpReportOptions *opt)
{
  int columns = (int)opt->screen.columns;
  unsigned col;
  for (col = 1; col < t->ncol && t->n; col++)
    if (!fit_kept(t, col, opt) && fit_zero(t, col))
      f->width[col] = LP_TABLE_HIDDEN;
  while (fit_needs(f, t, columns) > columns &&
         (col = fit_least(f, t, opt)) > 0) {
    lp_buf_printf(&f->left, "%s%s", f->left.n ? ", " : "", t->col[col].key);
    fit_hide(f, t, col);
  }
}

/* The widest text, or -1. */
static int fit_widest(const LpTableFit *f, const LpTable *t)
{
  int widest = -1;
  unsigned col;
  for (col = 0; col < t->ncol; col++)
    if (t->col[col].unit == LP_UNIT_TEXT &&
        (widest < 0 || f->width[col] > f->width[widest]))
      widest = (int)col;
  return widest;
}

/* Narrow the widest texts until the line fits. */
static void fit_narrow(LpTableFit *f, const LpTable *t, int columns)
{
  int sum = f->bar ? f->bar + 1 : 0, any = 0, widest;
  unsigned col;
  for (col = 0; col < t->ncol; col++)
    if (f->width[col] != LP_TABLE_HIDDEN)
      sum += f->width[col] + (any++ ? fit_gap(&t->col[col]) : 0);
  for (; sum > columns; sum--) {
    widest = fit_widest(f, t);
    if (widest < 0 || f->width[widest] <= FIT_LEAST)
      break;
    f->width[widest]--;
  }
}

/* Has the table shares of which there is a bar? */
static int fit_shares(const LpTableFit *f, const LpTable *t)
{
  unsigned col;
  for (col = 0; col < t->ncol; col++)
    if (f->width[col] != LP_TABLE_HIDDEN && t->col[col].unit == LP_UNIT_PERCENT)
      return 1;
  return 0;
}

void lp_table_fit(LpTableFit *f, const LpTable *t, const LpReportOptions *opt)
{
  int columns = (int)opt->screen.columns;
  unsigned col;
  memset(f, 0, sizeof(*f));
  f->width = lp_alloc(t->ncol * sizeof(int));
  for (col = 0; col < t->ncol; col++) {
    f->width[col] =
        t->col[col].extra ? LP_TABLE_HIDDEN : fit_natural(t, col, opt);
    if (!t->col[col].extra)
      f->last = col;
  }
  if (!columns)
    return;
  if (!opt->columns)
    fit_choose(f, t, opt);
  for (col = 0; col < t->ncol; col++)
    if (f->width[col] != LP_TABLE_HIDDEN)
      f->last = col;
  f->bar = fit_shares(f, t) ? FIT_BAR : 0;
  if (fit_needs(f, t, columns) > columns)
    f->bar = 0;
  fit_narrow(f, t, columns);
}

void lp_table_fit_close(LpTableFit *f)
{
  free(f->width);
  lp_buf_free(&f->left);
}

/*
** Tables, independent of the format that prints them.
*/

#include <stdlib.h>
#include <string.h>

#include "table.h"

/* Add a column; only while there are no rows. Returns it, until the next. */
LpColumn *lp_table_column(LpTable *t, const char *key, const char *title,
                          LpUnit unit)
{
  LpColumn *c;
  t->col = lp_grow(t->col, &t->cols, t->ncol + 1u, sizeof(LpColumn));
  c = &t->col[t->ncol++];
  *c = (LpColumn){.key = key, .title = title, .unit = unit};
  return c;
}

/* Add a column that text does not show. */
void lp_table_extra(LpTable *t, const char *key, const char *title, LpUnit unit)
{
  lp_table_column(t, key, title, unit)->extra = 1;
}

/* Add the column of a metric. */
void lp_table_metric(LpTable *t, LpMetric metric)
{
  const LpMetricInfo *m = &lp_metrics[metric];
  lp_table_column(t, m->key, m->title, m->unit);
}

/* Pass a text's ownership to the table. */
static const char *table_own(LpTable *t, LpBuf b)
{
  t->own = lp_grow(t->own, &t->owns, t->nown + 1, sizeof(t->own[0]));
  return t->own[t->nown++] = b.s;
}

/* Add the column of a metric's baseline, which text does not show. */
LpColumn *lp_table_base(LpTable *t, LpMetric metric)
{
  const LpMetricInfo *m = &lp_metrics[metric];
  LpBuf key = {0}, title = {0};
  LpColumn *c;
  lp_buf_printf(&key, "%s-base", m->key);
  lp_buf_printf(&title, "%s, base", m->title);
  c = lp_table_column(t, table_own(t, key), table_own(t, title), m->unit);
  c->extra = 1;
  return c;
}

/* Begin a row; nothing in it is known yet. */
void lp_table_row(LpTable *t)
{
  t->n++;
  t->place = lp_grow(t->place, &t->places, t->n * t->ncol, sizeof(LpPlace));
}

/* A place of the table. */
LpPlace *lp_table_at(const LpTable *t, size_t row, unsigned col)
{
  return &t->place[row * t->ncol + col];
}

/* A number, in the last row. */
void lp_table_number(LpTable *t, unsigned col, uint64_t n)
{
  *lp_table_at(t, t->n - 1, col) = (LpPlace){.known = 1, .n = n};
}

/* N as a share of ALL, in the last row. */
void lp_table_percent(LpTable *t, unsigned col, uint64_t n, uint64_t all)
{
  double percent =
      (int64_t)all > 0 ? 100.0 * (double)(int64_t)n / (double)all : 0;
  *lp_table_at(t, t->n - 1, col) = (LpPlace){.known = 1, .percent = percent};
}

/* A text, in the last row; the table owns it. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is freed there. */
void lp_table_string(LpTable *t, unsigned col, char *s)
{
  *lp_table_at(t, t->n - 1, col) = (LpPlace){.known = 1, .s = s};
}

/* Free it. */
void lp_table_close(LpTable *t)
{
  size_t i;
  for (i = 0; i < t->n * t->ncol; i++)
    if (t->col[i % t->ncol].unit == LP_UNIT_TEXT && t->place[i].known)
      free(t->place[i].s);
  for (i = 0; i < t->nown; i++)
    free(t->own[i]);
  free(t->own);
  lp_buf_free(&t->note);
  free(t->col);
  free(t->place);
  memset(t, 0, sizeof(*t));
}

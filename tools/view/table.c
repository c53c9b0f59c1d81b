/*
** Tables, independent of the format that prints them.
*/

#include <stdlib.h>
#include <string.h>

#include "table.h"

LpColumn *lp_table_column(LpTable *t, const char *key, const char *title,
                          LpUnit unit)
{
  LpColumn *c;
  t->col = lp_grow(t->col, &t->cols, t->ncol + 1u, sizeof(LpColumn));
  c = &t->col[t->ncol++];
  *c = (LpColumn){.key = key, .title = title, .unit = unit};
  return c;
}

LpColumn *lp_table_metric(LpTable *t, LpMetric metric)
{
  const LpMetricInfo *m = &lp_metrics[metric];
  return lp_table_column(t, m->key, m->title, m->unit);
}

LpColumn *lp_table_base(LpTable *t, LpMetric metric)
{
  const LpMetricInfo *m = &lp_metrics[metric];
  LpColumn *c = lp_table_column(t, m->base_key, m->base_title, m->unit);
  c->extra = 1;
  return c;
}

void lp_table_row(LpTable *t)
{
  t->n++;
  t->place = lp_grow(t->place, &t->places, t->n * t->ncol, sizeof(LpPlace));
}

LpPlace *lp_table_at(const LpTable *t, size_t row, unsigned col)
{
  return &t->place[row * t->ncol + col];
}

void lp_table_number(LpTable *t, unsigned col, uint64_t n)
{
  *lp_table_at(t, t->n - 1, col) = (LpPlace){.known = 1, .n = n};
}

void lp_table_percent(LpTable *t, unsigned col, uint64_t n, uint64_t all)
{
  double percent =
      (int64_t)all > 0 ? 100.0 * (double)(int64_t)n / (double)all : 0;
  *lp_table_at(t, t->n - 1, col) = (LpPlace){.known = 1, .percent = percent};
}

void lp_table_string(LpTable *t, unsigned col, char *s)
{
  LpPlace *place = lp_table_at(t, t->n - 1, col);
  *place = (LpPlace){.known = 1};
  place->s = s;
}

void lp_table_close(LpTable *t)
{
  size_t i;
  for (i = 0; i < t->n * t->ncol; i++)
    if (t->col[i % t->ncol].unit == LP_UNIT_TEXT && t->place[i].known)
      free(t->place[i].s);
  lp_buf_free(&t->note);
  free(t->col);
  free(t->place);
  memset(t, 0, sizeof(*t));
}

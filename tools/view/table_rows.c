/*
** Sorting and cutting the rows of any table.
*/

#include <stdlib.h>
#include <string.h>

#include "table.h"

int lp_table_find(const LpTable *t, const char *key)
{
  unsigned col;
  for (col = 0; col < t->ncol; col++)
    if (strcmp(t->col[col].key, key) == 0)
      return (int)col;
  return -1;
}

typedef struct Sorting {
  const LpTable *t;
  unsigned col;
} Sorting;

/* Numbers: most first; texts: by name. What is not known is last. */
static int rows_compare(const LpColumn *c, const LpPlace *a, const LpPlace *b)
{
  if (!a->known || !b->known)
    return b->known - a->known;
  if (c->unit == LP_UNIT_TEXT)
    return strcmp(a->s, b->s);
  if (c->unit == LP_UNIT_PERCENT)
    return (a->percent < b->percent) - (a->percent > b->percent);
  return c->change ? lp_most_first(lp_size(a->n), lp_size(b->n))
                   : lp_most_first(a->n, b->n);
}

/* The same, of numbers of rows. Equal ones are in the order they were. */
static int rows_before(const void *a, const void *b, void *ctx)
{
  const Sorting *s = ctx;
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  int cmp = rows_compare(&s->t->col[s->col], lp_table_at(s->t, x, s->col),
                         lp_table_at(s->t, y, s->col));
  return cmp ? cmp : x < y ? -1 : x > y;
}

void lp_table_sort(LpTable *t, unsigned col)
{
  Sorting s = {t, col};
  size_t n = t->n - t->foot, i, size = t->ncol * sizeof(LpPlace);
  size_t *list = lp_alloc(t->n * sizeof(size_t));
  LpPlace *place = lp_alloc(t->n * size);
  for (i = 0; i < t->n; i++)
    list[i] = i;
  qsort_r(list, n, sizeof(size_t), rows_before, &s);
  for (i = 0; i < t->n; i++)
    memcpy(&place[i * t->ncol], lp_table_at(t, list[i], 0), size);
  free(list);
  free(t->place);
  t->place = place;
  t->places = t->n * t->ncol;
}

/* The sum of a column in N rows from FROM on, if it can be added up. */
static LpPlace rows_sum(const LpTable *t, unsigned col, size_t from, size_t n)
{
  const LpColumn *c = &t->col[col];
  LpPlace sum = {0};
  size_t i;
  if (c->alone || c->unit == LP_UNIT_NS || c->unit == LP_UNIT_TEXT)
    return sum;
  for (i = from; i < from + n; i++) {
    const LpPlace *p = lp_table_at(t, i, col);
    if (!p->known)
      continue;
    sum.known = 1;
    if (c->unit == LP_UNIT_PERCENT)
      sum.percent += p->percent;
    else
      sum.n += p->n;
  }
  return sum;
}

/* Replace N rows from FROM on by their sum, in the first of them. */
static void rows_others(LpTable *t, size_t from, size_t n)
{
  int named = 0;
  unsigned col;
  for (col = 0; col < t->ncol; col++) {
    LpPlace sum = rows_sum(t, col, from, n);
    size_t i;
    if (t->col[col].unit == LP_UNIT_TEXT) {
      for (i = from; i < from + n; i++)
        if (lp_table_at(t, i, col)->known)
          free(lp_table_at(t, i, col)->s);
      if (!named++) {
        LpBuf b = {0};
        lp_buf_printf(&b, "(%zu others)", n);
        sum = (LpPlace){.known = 1, .s = b.s};
      }
    }
    *lp_table_at(t, from, col) = sum;
  }
}

/* Keep the first rows, one with the sum of the others, and the rows at the
** foot.
*/
void lp_table_top(LpTable *t, size_t top)
{
  size_t n = t->n - t->foot;
  if (n <= top + 1)
    return;
  rows_others(t, top, n - top);
  memmove(lp_table_at(t, top + 1, 0), lp_table_at(t, n, 0),
          t->foot * t->ncol * sizeof(LpPlace));
  t->n = top + 1 + t->foot;
}

/*
** Chooses the columns of any table.
*/

#include <stdlib.h>
#include <string.h>

#include "table.h"

/* The columns that KEYS names, in the list of *N, which the caller frees. NULL
** if a key does not exist or comes twice; it is appended to KEY.
*/
static unsigned *choose_find(const LpTable *t, const char *keys, unsigned *n,
                             LpBuf *key)
{
  unsigned *list = lp_alloc(t->ncol * sizeof(unsigned)), i;
  const char *end;
  for (*n = 0;; keys = end + 1) {
    int col;
    end = strchrnul(keys, ',');
    key->n = 0;
    lp_buf_add(key, keys, (size_t)(end - keys));
    col = lp_table_find(t, key->s);
    for (i = 0; i < *n && col >= 0; i++)
      if (list[i] == (unsigned)col)
        col = -1;
    if (col < 0) {
      free(list);
      return NULL;
    }
    list[(*n)++] = (unsigned)col;
    if (!*end)
      return list;
  }
}

/* Free the texts of columns that are not in the list. */
static void choose_drop(LpTable *t, const unsigned *list, unsigned n)
{
  unsigned col, i;
  size_t row;
  for (col = 0; col < t->ncol; col++) {
    for (i = 0; i < n && list[i] != col; i++)
      ;
    if (i < n || t->col[col].unit != LP_UNIT_TEXT)
      continue;
    for (row = 0; row < t->n; row++)
      if (lp_table_at(t, row, col)->known)
        free(lp_table_at(t, row, col)->s);
  }
}

int lp_table_choose(LpTable *t, const char *keys, LpBuf *key)
{
  unsigned n, i, *list = choose_find(t, keys, &n, key);
  LpPlace *place;
  LpColumn *col;
  size_t row;
  if (!list)
    return 0;
  choose_drop(t, list, n);
  place = lp_zalloc(t->n * n, sizeof(LpPlace));
  col = lp_alloc(n * sizeof(LpColumn));
  for (i = 0; i < n; i++) {
    col[i] = t->col[list[i]];
    col[i].extra = 0;
    for (row = 0; row < t->n; row++)
      place[row * n + i] = *lp_table_at(t, row, list[i]);
  }
  free(t->place);
  free(t->col);
  free(list);
  t->place = place;
  t->places = t->n * n;
  t->col = col;
  t->cols = t->ncol = n;
  return 1;
}

/*
** What has a name in several heap dumps: its bytes in each of them.
*/

#include <stdlib.h>

#include "growths.h"

uint32_t lp_growths_row(LpGrowths *g, const LpBuf *name)
{
  uint32_t n = g->names.n, at = lp_intern(&g->names, name->s, name->n);
  size_t i;
  if (at != n)
    return at;
  g->row = lp_grow(g->row, &g->cap, n + 1, sizeof(*g->row));
  g->bytes = lp_grow(g->bytes, &g->capbytes, (n + 1) * g->n, sizeof(*g->bytes));
  g->row[at] = (LpGrowth){.together = LP_NONE,
                          .what = LP_NONE,
                          .now = LP_NONE,
                          .base = LP_NONE,
                          .above = LP_NONE};
  for (i = 0; i < g->n; i++)
    g->bytes[at * g->n + i] = i > g->at && !g->exact ? LP_LADDER_UNKNOWN : 0;
  return at;
}

int64_t lp_growths_change(const LpGrowths *g, uint32_t row)
{
  const uint64_t *bytes = lp_growths_bytes(g, row);
  return (int64_t)(bytes[g->n - 1] - bytes[0]);
}

void lp_growths_free(LpGrowths *g)
{
  lp_intern_free(&g->names);
  free(g->row);
  free(g->bytes);
}

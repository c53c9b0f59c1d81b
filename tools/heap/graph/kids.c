/*
** The dominator tree from the root down.
*/

#include <stdlib.h>
#include <string.h>

#include "kids.h"

void lp_kids_open(LpKids *k, const LpDominators *d, size_t n)
{
  size_t i;
  k->first = lp_alloc(n * sizeof(uint32_t));
  k->next = lp_alloc(n * sizeof(uint32_t));
  memset(k->first, 0xff, n * sizeof(uint32_t));
  for (i = n; i-- > 1;) {
    uint32_t parent = d->parent[i];
    if (parent == LP_NONE)
      continue;
    k->next[i] = k->first[parent];
    k->first[parent] = (uint32_t)i;
  }
  k->next[LP_GRAPH_ROOT] = LP_NONE;
}

void lp_kids_free(LpKids *k)
{
  free(k->first);
  free(k->next);
  *k = (LpKids){0};
}

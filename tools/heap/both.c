/*
** Strings in tables whose keys and values are both weak.
**
** Strings refer to nothing: which keys are reached does not depend on them, so
** one walk is enough. A reference that keeps nothing leads to its own table.
*/

#include <stdlib.h>

#include "both.h"
#include "mem.h"

void lp_both_resolve(LpGraph *g, const LpBoth *both, size_t n)
{
  const uint32_t root = LP_GRAPH_ROOT;
  uint8_t *reached;
  size_t i;
  if (!n)
    return;
  reached = lp_zalloc(g->n, 1);
  lp_graph_reach(g, &root, 1, reached);
  for (i = 0; i < n; i++) {
    LpEdge *e = &g->edge[both[i].edge];
    if (both[i].edge < g->nedge && !reached[both[i].key])
      e->to = both[i].table | (e->to & LP_EDGE_LAST);
  }
  free(reached);
}

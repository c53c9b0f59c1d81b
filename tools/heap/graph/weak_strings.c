/*
** Strings in tables whose keys and values are both weak.
**
** Strings refer to nothing: which keys are reached does not depend on them, so
** one walk is enough. A reference that keeps nothing leads to its own table.
*/

#include <stdlib.h>

#include "weak_strings.h"
#include "mem.h"

void lp_weak_strings(LpGraph *g, const LpWeakString *weak, size_t n)
{
  const uint32_t root = LP_GRAPH_ROOT;
  uint8_t *reached;
  size_t i;
  if (!n)
    return;
  reached = lp_zalloc(g->n, 1);
  lp_graph_reach(g, &root, 1, reached);
  for (i = 0; i < n; i++) {
    LpEdge *e = &g->edge[weak[i].edge];
    if (weak[i].edge < g->nedge && !reached[weak[i].key])
      e->to = weak[i].table | (e->to & LP_EDGE_LAST);
  }
  free(reached);
}

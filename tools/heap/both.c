/*
** Strings in tables whose keys and values are both weak.
**
** Strings refer to nothing: which keys are reached does not depend on them, so
** one walk is enough. A reference that keeps nothing leads to its own table.
*/

#include <stdlib.h>

#include "both.h"
#include "mem.h"

static size_t both_push(uint8_t *reached, uint32_t *todo, size_t n, uint32_t id)
{
  if (!reached[id])
    todo[n++] = id;
  reached[id] = 1;
  return n;
}

/* By number of the object: is it reached? The caller frees it. */
static uint8_t *both_reached(const LpGraph *g)
{
  uint8_t *reached = lp_zalloc(g->n, 1);
  uint32_t *todo = lp_alloc(g->n * sizeof(*todo));
  size_t n = both_push(reached, todo, 0, LP_GRAPH_ROOT);
  while (n) {
    const LpEdge *e = lp_graph_first(g, todo[--n]);
    for (; e; e = lp_graph_next(e))
      n = both_push(reached, todo, n, lp_edge_to(e));
  }
  free(todo);
  return reached;
}

void lp_both_resolve(LpGraph *g, const LpBoth *both, size_t n)
{
  uint8_t *reached;
  size_t i;
  if (!n)
    return;
  reached = both_reached(g);
  for (i = 0; i < n; i++) {
    LpEdge *e = &g->edge[both[i].edge];
    if (both[i].edge < g->nedge && !reached[both[i].key])
      e->to = both[i].table | (e->to & LP_EDGE_LAST);
  }
  free(reached);
}

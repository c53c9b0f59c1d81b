/*
** Small random heaps and brute force.
*/

#include <check.h>
#include <string.h>

#include "random_heap.h"

static uint64_t state;

static unsigned random_below(unsigned n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return n ? (unsigned)(state >> 33) % n : 0;
}

#define FIRST 0x7f0000001000 /* Address of the first object. */

static uint64_t addr_of(unsigned object)
{
  return object ? FIRST + object * 32ull : 0;
}

uint64_t random_size(unsigned object)
{
  return object ? 24 + (object * 37ull) % 1000 : 0;
}

/* Forms differ: a list, a tree, or few, many or no references. */
void random_heap(RandomHeap *h, uint64_t number)
{
  unsigned i, n, refs, list;
  state = number;
  memset(h, 0, sizeof(*h));
  h->n = 2 + random_below(RANDOM_OBJECTS - 2);
  refs = random_below(3 * h->n);
  list = random_below(3);
  for (i = 0; i + 1 < h->n; i++) {
    if (list == 1)
      h->ref[i][i + 1] = 1;
    else if (list == 2)
      h->ref[i / 2][i + 1] = 1;
  }
  for (n = 0; n < refs; n++)
    h->ref[random_below(h->n)][1 + random_below(h->n - 1)]++;
}

void random_graph(const RandomHeap *h, LpGraph *g)
{
  LpEdge root[RANDOM_OBJECTS * 3 * RANDOM_OBJECTS];
  size_t nroot = 0;
  unsigned i, to, n;
  lp_graph_open(g);
  for (i = h->n; i-- > 1;) { /* Mentioned before they are defined. */
    ck_assert(lp_graph_object(g, addr_of(i), LJM_TYPE_TABLE, random_size(i),
                              0) != LP_NONE);
    for (to = 1; to < h->n; to++)
      for (n = 0; n < h->ref[i][to]; n++)
        lp_graph_edge(g, LP_EDGE_ITEM, to, addr_of(to));
  }
  for (to = 1; to < h->n; to++)
    for (n = 0; n < h->ref[0][to]; n++)
      root[nroot++] = (LpEdge){lp_graph_id(g, addr_of(to)), 0};
  lp_graph_seal(g, root, nroot);
}

unsigned random_object(const LpGraph *g, uint32_t id)
{
  return id == LP_GRAPH_ROOT ? 0 : (unsigned)(g->node[id].addr - FIRST) / 32;
}

uint32_t random_id(LpGraph *g, unsigned object)
{
  return object ? lp_graph_id(g, addr_of(object)) : LP_GRAPH_ROOT;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are few objects. */
void random_reach(const RandomHeap *h, unsigned from, const RandomCut *cut,
                  unsigned char seen[RANDOM_OBJECTS])
{
  unsigned i;
  if (seen[from] || (cut && cut->object[from]))
    return;
  seen[from] = 1;
  for (i = 0; i < h->n; i++)
    if (h->ref[from][i] > (cut ? cut->ref[from][i] : 0))
      random_reach(h, i, cut, seen);
}

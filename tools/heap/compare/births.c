/*
** Objects that one of two heaps has and the other one has not.
*/

#include <stdlib.h>

#include "births.h"
#include "live.h"

/* Does an object count in a shape? */
static int births_has(const LpHeap *h, uint32_t id)
{
  return h->shapes.of[id] != LP_NONE && lp_shape_counts(h, id);
}

/* The number of the name of an object's shape. */
static uint32_t births_name(const LpPairing *g, LpSide side, uint32_t id)
{
  return g->name[side][g->h[side]->shapes.of[id]];
}

/* Counts the objects of THIS heap that the other one has not. */
static uint64_t *births_count(const LpPairing *g, LpSide this, LpSide other)
{
  const LpHeap *h = g->h[this], *o = g->h[other];
  uint64_t *count = lp_zalloc(h->shapes.keys.n + 1, sizeof(*count));
  LpLive ids = {0};
  uint32_t id;
  for (id = 1; id < o->dump.graph.n; id++)
    if (births_has(o, id))
      lp_live_put(&ids, o->dump.graph.node[id].addr, id);
  for (id = 1; id < h->dump.graph.n; id++) {
    uint32_t was;
    if (!births_has(h, id))
      continue;
    was = lp_live_get(&ids, h->dump.graph.node[id].addr);
    if (was == LP_NONE ||
        births_name(g, this, id) != births_name(g, other, was))
      count[h->shapes.of[id]]++;
  }
  lp_live_free(&ids);
  return count;
}

LpBirths lp_births(const LpPairing *g)
{
  LpBirths b = {.known = g->same && lp_heap_keeps(g->h[LP_NOW]) &&
                         lp_heap_keeps(g->h[LP_BASE])};
  if (!b.known)
    return b;
  b.one[LP_NOW] = births_count(g, LP_NOW, LP_BASE);
  b.one[LP_BASE] = births_count(g, LP_BASE, LP_NOW);
  return b;
}

void lp_births_close(LpBirths *b)
{
  free(b->one[LP_NOW]);
  free(b->one[LP_BASE]);
  *b = (LpBirths){0};
}

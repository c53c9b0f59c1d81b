/*
** All that is known of a heap dump: its objects, who keeps them, their shapes.
*/

#include <stdlib.h>

#include "analysis.h"
#include "mem.h"

LpHeap *lp_heap_new(void)
{
  LpHeap *h = lp_zalloc(1, sizeof(*h));
  lp_dump_open(&h->dump, &h->sink);
  return h;
}

/* Finds memory that several objects keep together, where that is known. */
static void heap_sharing(LpHeap *h)
{
  LpDomTree tree = lp_heap_tree(h);
  if (lp_heap_keeps(h))
    lp_sharing_open(&h->sharing, &tree,
                    lp_heap_reached(h) / 100 * LP_SHARED_PERCENT + 1);
}

int lp_heap_isunknown(const LpHeap *h, uint32_t id)
{
  unsigned flags = h->dump.graph.flags[id];
  if (lp_dominators_has(&h->dom, id) || (flags & LP_NODE_GARBAGE))
    return 0;
  return h->doubt == LP_DOUBT_MADE ? (flags & LP_NODE_MADE) != 0
                                   : h->doubt != LP_DOUBT_NONE;
}

/* Could it be garbage, but for what the VM was making? */
static int heap_isunreached(const LpHeap *h, uint32_t id)
{
  unsigned flags = h->dump.graph.flags[id];
  return !lp_dominators_has(&h->dom, id) &&
         (flags & (LP_NODE_DEFINED | LP_NODE_GARBAGE)) == LP_NODE_DEFINED;
}

/* Finds what the VM may have been making and no root reaches yet. */
static void heap_made(LpHeap *h)
{
  LpGraph *g = &h->dump.graph;
  uint8_t *reached;
  uint32_t id;
  if (!h->dump.nmade)
    return;
  reached = lp_alloc(g->n);
  for (id = 0; id < g->n; id++)
    reached[id] = !heap_isunreached(h, id);
  lp_graph_reach(g, h->dump.made, h->dump.nmade, reached);
  for (id = 0; id < g->n; id++) {
    if (!reached[id] || !heap_isunreached(h, id))
      continue;
    g->flags[id] |= LP_NODE_MADE;
    if (h->doubt == LP_DOUBT_NONE)
      h->doubt = LP_DOUBT_MADE;
  }
  free(reached);
}

/* Finds what only the values of weak keys keep, where that is known. */
static void heap_weak(LpHeap *h)
{
  const LpDump *d = &h->dump;
  uint32_t *table = lp_alloc((d->nweaktable + 1) * sizeof(*table));
  size_t i, n = 0;
  for (i = 0; i < d->nweaktable; i++)
    if (d->weaktable[i].mode == LJM_TABLE_WEAKKEY)
      table[n++] = d->weaktable[i].id;
  if (lp_heap_keeps(h))
    lp_ephemerons(&d->graph, table, n, d->made, d->nmade, &h->ephemerons);
  free(table);
}

/* Adds up what is not reached. */
static void heap_unreached(LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  uint32_t id;
  for (id = 1; id < g->n; id++) {
    LpUnreached *u = lp_heap_isunknown(h, id) ? &h->unknown : &h->garbage;
    uint64_t bytes = lp_graph_size(g, id);
    if (!(g->flags[id] & LP_NODE_DEFINED) || lp_dominators_has(&h->dom, id))
      continue;
    u->type[g->type[id]].objects++;
    u->type[g->type[id]].bytes += bytes;
    u->all.objects++;
    u->all.bytes += bytes;
  }
}

void lp_heap_analyse(LpHeap *h)
{
  const LpGraph *g = &h->dump.graph;
  if (lp_dump_ispart(&h->dump))
    h->doubt = LP_DOUBT_LOST;
  else if (h->dump.end.flags & LJM_HEAP_REGISTERS)
    h->doubt = LP_DOUBT_REGISTERS;
  lp_dump_seal(&h->dump);
  lp_identifiers_open(&h->dump.names, &h->dump);
  lp_graph_forget(&h->dump.graph);
  heap_weak(h); /* First: what it needs for a while is much. */
  lp_dominators(g, &h->dom);
  lp_kids_open(&h->kids, &h->dom, g->n);
  heap_sharing(h);
  lp_paths(g, NULL, &h->paths);
  heap_made(h);
  heap_unreached(h);
  lp_finalizers_find(&h->finalizers, &h->dump);
  lp_shapes_open(&h->shapes, h);
  h->ready = 1;
}

void lp_heap_free(LpHeap *h)
{
  if (!h)
    return;
  if (h->ready) {
    lp_shapes_close(&h->shapes);
    lp_idmap_free(&h->finalizers);
    lp_ephemerons_free(&h->ephemerons);
    lp_paths_free(&h->paths);
    lp_sharing_close(&h->sharing);
    lp_kids_free(&h->kids);
    lp_dominators_free(&h->dom);
    lp_identifiers_close(&h->dump.names);
  }
  lp_dump_close(&h->dump);
  free(h);
}

uint64_t lp_heap_bytes(const LpHeap *h)
{
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < sizeof(h->dump.type) / sizeof(h->dump.type[0]); i++)
    sum += h->dump.type[i].bytes;
  return sum;
}

uint64_t lp_heap_objects(const LpHeap *h)
{
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < sizeof(h->dump.type) / sizeof(h->dump.type[0]); i++)
    sum += h->dump.type[i].objects;
  return sum;
}

/*
** Dominators by semidominators and nearest common ancestors (Georgiadis,
** Tarjan, Werneck: "Finding dominators in practice", 2006): objects are
** numbered in the order of a depth-first search, and all arrays are by these
** numbers. Measured beside it: iteration to a fixed point takes many rounds on
** long lists, which heaps are full of.
*/

#include <stdlib.h>
#include <string.h>

#include "dominators.h"
#include "mem.h"

/* By number in the search. */
typedef struct Search {
  const LpGraph *g;
  uint32_t n;
  uint32_t *number;   /* By object: its number in the search, or LP_NONE; until
                      ** all references are turned round. */
  uint32_t *object;   /* The object. */
  uint32_t *ancestor; /* Where the search came from; shortened later. */
  uint32_t *label;    /* The number of least semidominator on that path. */
  uint32_t *semi;     /* The semidominator. */
  uint32_t *idom;     /* The dominator. */
  uint32_t *first;    /* Who refers to it: a part of from, */
  uint32_t *from;     /* by numbers. */
} Search;

/* Memory for a number by object. */
static uint32_t *search_array(size_t n)
{
  return lp_alloc((n ? n : 1) * sizeof(uint32_t));
}

/* -- The search ------------------------------------------------------------ */

/* Numbers an object that was reached from another one. */
static void search_visit(Search *s, uint32_t object, uint32_t parent)
{
  s->number[object] = s->n;
  s->object[s->n] = object;
  s->ancestor[s->n] = parent;
  s->n++;
}

/* Depth first, with the reference to go on with kept for each object on the
** path: label serves for that, since it is not needed yet.
*/
static void search_run(Search *s)
{
  const LpGraph *g = s->g;
  uint32_t at = 0;
  memset(s->number, 0xff, g->n * sizeof(*s->number));
  search_visit(s, LP_GRAPH_ROOT, 0);
  s->label[0] = g->node[LP_GRAPH_ROOT].first;
  for (;;) {
    uint32_t e = s->label[at], to;
    if (e == LP_NONE) {
      if (at == 0)
        return;
      at = s->ancestor[at];
      continue;
    }
    s->label[at] = g->edge[e].to & LP_EDGE_LAST ? LP_NONE : e + 1;
    to = lp_edge_to(&g->edge[e]);
    if (s->number[to] != LP_NONE)
      continue;
    search_visit(s, to, at);
    at = s->n - 1;
    s->label[at] = lp_graph_first(g, to) ? g->node[to].first : LP_NONE;
  }
}

/* Turns the references round. */
static void search_reverse(Search *s)
{
  const LpGraph *g = s->g;
  const LpEdge *e;
  uint32_t i, sum = 0;
  memset(s->first, 0, ((size_t)s->n + 1) * sizeof(*s->first));
  for (i = 0; i < s->n; i++)
    for (e = lp_graph_first(g, s->object[i]); e; e = lp_graph_next(e))
      s->first[s->number[lp_edge_to(e)]]++;
  for (i = 0; i <= s->n; i++) {
    sum += i < s->n ? s->first[i] : 0;
    s->first[i] = sum; /* Its end: filled from there to its beginning. */
  }
  s->from = search_array(sum);
  for (i = s->n; i-- > 0;)
    for (e = lp_graph_first(g, s->object[i]); e; e = lp_graph_next(e))
      s->from[--s->first[s->number[lp_edge_to(e)]]] = i;
}

/* -- Dominators ------------------------------------------------------------ */

/* The number of least semidominator between V and those above LAST. The path
** is made short: each on it then leads to its top. Ancestors are turned round
** on the way up, so that the way back needs no stack.
*/
static uint32_t search_eval(Search *s, uint32_t v, uint32_t last)
{
  uint32_t below = v, at = s->ancestor[v], top;
  if (at < last)
    return s->label[v];
  while (s->ancestor[at] >= last) {
    uint32_t up = s->ancestor[at];
    s->ancestor[at] = below;
    below = at;
    at = up;
  }
  top = s->ancestor[at];
  while (at != v) {
    uint32_t down = below;
    below = s->ancestor[down];
    if (s->semi[s->label[at]] < s->semi[s->label[down]])
      s->label[down] = s->label[at];
    s->ancestor[down] = top;
    if (down == v)
      break;
    at = down;
  }
  return s->label[v];
}

/* Find the semidominators, from the last object that was met to the first. */
static void search_semidominators(Search *s)
{
  uint32_t v, i;
  for (v = 0; v < s->n; v++) {
    s->label[v] = s->semi[v] = v;
    s->idom[v] = s->ancestor[v];
  }
  for (v = s->n; v-- > 1;) {
    uint32_t semi = s->ancestor[v];
    for (i = s->first[v]; i < s->first[v + 1]; i++) {
      uint32_t u = s->from[i];
      if (u > v)
        u = s->semi[search_eval(s, u, v + 1)];
      if (u < semi)
        semi = u;
    }
    s->semi[v] = semi;
  }
}

/* The nearest ancestor in the dominator tree that is not behind the
** semidominator.
*/
static void search_dominators(Search *s)
{
  uint32_t v;
  for (v = 1; v < s->n; v++) {
    uint32_t d = s->idom[v];
    while (d > s->semi[v])
      d = s->idom[d];
    s->idom[v] = d;
  }
}

/* -- Results --------------------------------------------------------------- */

/* Adds up what each object keeps, from the last one to the root. */
static void dominators_sum(const Search *s, LpDominators *d)
{
  const LpGraph *g = s->g;
  uint32_t v;
  d->retained = lp_zalloc(g->n, sizeof(*d->retained));
  for (v = 0; v < s->n; v++)
    d->retained[s->object[v]] = lp_graph_size(g, s->object[v]);
  for (v = s->n; v-- > 1;)
    d->retained[s->object[s->idom[v]]] += d->retained[s->object[v]];
}

void lp_dominators(const LpGraph *g, LpDominators *d)
{
  Search s = {.g = g};
  uint32_t v;
  s.number = search_array(g->n);
  s.object = search_array(g->n);
  s.ancestor = search_array(g->n);
  s.label = search_array(g->n);
  search_run(&s);
  s.first = search_array((size_t)s.n + 1);
  search_reverse(&s);
  s.semi = s.number; /* Not needed any more. */
  s.idom = search_array(s.n);
  search_semidominators(&s);
  free(s.from);
  free(s.first);
  search_dominators(&s);
  free(s.semi);
  free(s.label);
  free(s.ancestor);
  dominators_sum(&s, d);
  d->parent = search_array(g->n);
  memset(d->parent, 0xff, g->n * sizeof(*d->parent));
  for (v = 1; v < s.n; v++)
    d->parent[s.object[v]] = s.object[s.idom[v]];
  free(s.idom);
  d->order = s.object;
  d->n = s.n;
}

void lp_dominators_free(LpDominators *d)
{
  free(d->order);
  free(d->parent);
  free(d->retained);
  memset(d, 0, sizeof(*d));
}

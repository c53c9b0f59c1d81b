/*
** What one object dominates directly, and which of these refer to which.
*/

#include <stdlib.h>

#include "siblings.h"

uint8_t *lp_siblings_direct(const LpDomTree *t)
{
  const LpGraph *g = t->g;
  uint8_t *direct = lp_zalloc(g->n, 1);
  uint32_t i;
  for (i = 0; i < t->dom->n; i++) {
    uint32_t from = t->dom->order[i];
    const LpEdge *e = lp_graph_first(g, from);
    for (; e; e = lp_graph_next(e))
      if (t->dom->parent[lp_edge_to(e)] == from)
        direct[lp_edge_to(e)] = 1;
  }
  return direct;
}

/* Numbers the kids, and what they dominate. */
static void siblings_number(LpSiblings *s, const LpDomTree *t,
                            const uint8_t *direct)
{
  const LpKids *k = t->kids;
  uint32_t kid = k->first[s->top], n = 0, at;
  for (; kid != LP_NONE; kid = k->next[kid])
    n++;
  s->kid = lp_alloc((n + 1) * sizeof(*s->kid));
  s->shared = lp_alloc(n + 1);
  for (kid = k->first[s->top]; kid != LP_NONE; kid = k->next[kid]) {
    for (at = kid; at != LP_NONE; at = lp_kids_walk(k, t->dom, kid, at)) {
      s->of[at] = s->n;
      s->below++;
    }
    s->shared[s->n] = !direct[kid];
    s->kid[s->n++] = kid;
  }
}

/* References between kids. Memory that is not used is not touched. */
typedef struct Edges {
  uint32_t *to;
  size_t n, cap;
} Edges;

static void edges_add(Edges *l, uint32_t to)
{
  if (l->n == l->cap) {
    l->cap = l->cap ? 2 * l->cap : 1024;
    l->to = lp_realloc(l->to, l->cap, sizeof(*l->to));
  }
  l->to[l->n++] = to;
}

/* Finds what shared kids refer to. */
static void siblings_refer(LpSiblings *s, const LpDomTree *t)
{
  uint32_t *last = lp_zalloc(s->n + 1, sizeof(*last)); /* Who, + 1. */
  Edges list = {0};
  uint32_t i;
  s->first = lp_alloc(((size_t)s->n + 1) * sizeof(*s->first));
  for (i = 0; i < s->n; i++) {
    uint32_t at = s->shared[i] ? s->kid[i] : LP_NONE;
    s->first[i] = (uint32_t)list.n;
    for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, s->kid[i], at)) {
      const LpEdge *e = lp_graph_first(t->g, at);
      for (; e; e = lp_graph_next(e)) {
        uint32_t to = lp_siblings_edge(s, t, at, e);
        if (to == LP_NONE || last[to] == i + 1)
          continue;
        last[to] = i + 1;
        edges_add(&list, to);
      }
    }
  }
  s->first[s->n] = (uint32_t)list.n;
  s->to = list.to;
  free(last);
}

void lp_siblings_open(LpSiblings *s, const LpDomTree *t, uint32_t top,
                      const uint8_t *direct, uint32_t *of)
{
  *s = (LpSiblings){.top = top};
  s->of = of;
  siblings_number(s, t, direct);
  siblings_refer(s, t);
}

void lp_siblings_close(LpSiblings *s, const LpDomTree *t)
{
  uint32_t at = t->kids->first[s->top];
  for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, s->top, at))
    s->of[at] = LP_NONE;
  free(s->kid);
  free(s->shared);
  free(s->first);
  free(s->to);
  *s = (LpSiblings){0};
}

/*
** What one object dominates directly.
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

void lp_siblings_open(LpSiblings *s, const LpDomTree *t, uint32_t top,
                      const uint8_t *direct, uint32_t *of)
{
  *s = (LpSiblings){.top = top};
  s->of = of;
  siblings_number(s, t, direct);
}

void lp_siblings_close(LpSiblings *s, const LpDomTree *t)
{
  uint32_t at = t->kids->first[s->top];
  for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, s->top, at))
    s->of[at] = LP_NONE;
  free(s->kid);
  free(s->shared);
  *s = (LpSiblings){0};
}

uint32_t lp_siblings_next(const LpSiblings *s, const LpDomTree *t,
                          uint32_t *kid, uint32_t at)
{
  if (at != LP_NONE) {
    at = lp_kids_walk(t->kids, t->dom, s->kid[*kid], at);
    if (at != LP_NONE)
      return at;
    ++*kid;
  }
  while (*kid < s->n && s->shared[*kid])
    ++*kid;
  return *kid < s->n ? s->kid[*kid] : LP_NONE;
}

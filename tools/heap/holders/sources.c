/*
** Objects whose references lead to a set of shared kids.
*/

#include <stdlib.h>

#include "sources.h"

#define WEIGHT_MOST (1ull << 60) /* References may lead to the same bytes. */

/* -- Where references lead ------------------------------------------------- */

void lp_leads_open(LpLeads *l)
{
  l->weight = lp_alloc(((size_t)l->c->n + 1) * sizeof(*l->weight));
}

void lp_leads_weigh(LpLeads *l, unsigned set)
{
  const LpRefs *r = &l->c->refs;
  uint64_t all = l->sets->bytes[set] + 1;
  uint32_t at, k;
  for (at = 0; at < l->c->n; at++) { /* They refer to those before them. */
    uint64_t sum = 0;
    if (l->sets->of[at] == set)
      sum = 1 + lp_cycles_bytes(l->c, l->t, l->s, at);
    for (k = r->first[at]; k < r->first[at + 1] && sum < all; k++)
      sum += l->weight[r->to[k]];
    l->weight[at] = sum < all ? sum : all;
  }
}

/* -- Sources --------------------------------------------------------------- */

/* Cycles that are in a set or lead to one. The caller frees the array. */
static uint8_t *sources_leads(const LpLeads *l)
{
  uint8_t *leads = lp_zalloc(l->c->n + 1, 1);
  uint32_t at;
  for (at = 0; at < l->c->n; at++)
    leads[at] = l->sets->of[at] != LP_NONE;
  lp_cycles_above(l->c, leads);
  return leads;
}

/* Does an object refer to one of some cycles? */
static int source_is(const LpLeads *l, uint32_t id, const uint8_t *leads)
{
  const LpEdge *e = lp_graph_first(l->t->g, id);
  for (; e; e = lp_graph_next(e)) {
    uint32_t cycle = lp_leads_edge(l, id, e);
    if (cycle != LP_NONE && leads[cycle])
      return 1;
  }
  return 0;
}

void lp_sources_find(LpSources *list, const LpLeads *l)
{
  const LpDomTree *t = l->t;
  uint8_t *leads = sources_leads(l);
  uint32_t kid = 0, at = lp_siblings_next(l->s, t, &kid, LP_NONE);
  *list = (LpSources){0};
  for (; at != LP_NONE; at = lp_siblings_next(l->s, t, &kid, at)) {
    if (!source_is(l, at, leads))
      continue;
    list->id = lp_grow(list->id, &list->cap, list->n + 1, sizeof(*list->id));
    list->id[list->n++] = at;
  }
  free(leads);
}

/* -- Marks ----------------------------------------------------------------- */

/* The mark of an object; *NEW says whether it had none. */
static uint32_t marks_add(LpMarks *m, uint32_t id, int *new)
{
  uint32_t at = lp_idmap_add(&m->at, id, (uint32_t)m->n);
  *new = at == m->n;
  if (*new) {
    m->mark = lp_grow(m->mark, &m->cap, m->n + 1, sizeof(*m->mark));
    m->mark[m->n++] =
        (LpMark){.id = id, .above = LP_NONE, .first = LP_NONE, .next = LP_NONE};
  }
  return at;
}

/* The weight of what an object refers to; 0: it is no source of this set. */
static uint64_t source_weight(const LpLeads *l, uint32_t id)
{
  const LpEdge *e = lp_graph_first(l->t->g, id);
  uint64_t sum = 0;
  for (; e; e = lp_graph_next(e)) {
    uint32_t cycle = lp_leads_edge(l, id, e);
    if (cycle != LP_NONE && sum < WEIGHT_MOST)
      sum += l->weight[cycle];
  }
  return sum;
}

/* Marks a source and what dominates it, up to a kid. */
static void marks_up(LpMarks *m, const LpLeads *l, uint32_t id)
{
  uint64_t weight = source_weight(l, id);
  uint32_t at, above;
  int new;
  if (!weight)
    return;
  at = marks_add(m, id, &new);
  m->mark[at].own_weight = m->mark[at].weight = weight;
  while (new && l->s->kid[l->s->of[id]] != id) {
    id = l->t->dom->parent[id];
    above = marks_add(m, id, &new);
    m->mark[at].above = above;
    m->mark[at].next = m->mark[above].first;
    m->mark[above].first = at;
    m->mark[above].below++;
    at = above;
  }
}

/* Adds up the weights, from those with nothing below to the kids. */
static void marks_sum(LpMarks *m)
{
  uint32_t *left = lp_alloc((m->n + 1) * sizeof(*left)), at, above;
  size_t i;
  for (i = 0; i < m->n; i++)
    left[i] = m->mark[i].below;
  for (i = 0; i < m->n; i++) {
    for (at = (uint32_t)i; left[at] == 0; at = above) {
      left[at] = LP_NONE; /* Done. */
      above = m->mark[at].above;
      if (above == LP_NONE)
        break;
      m->mark[above].weight += m->mark[at].weight;
      if (m->mark[above].weight > WEIGHT_MOST)
        m->mark[above].weight = WEIGHT_MOST;
      left[above]--;
    }
  }
  free(left);
}

void lp_marks_open(LpMarks *m, const LpLeads *l, const LpSources *list)
{
  size_t i;
  *m = (LpMarks){0};
  for (i = 0; i < list->n; i++)
    marks_up(m, l, list->id[i]);
  marks_sum(m);
}

void lp_marks_close(LpMarks *m)
{
  lp_idmap_free(&m->at);
  free(m->mark);
  *m = (LpMarks){0};
}

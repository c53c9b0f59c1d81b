/*
** What could be freed without the holders of a group: a search that goes not
** past them, of all groups at once, with one bit for each.
*/

#include <stdlib.h>

#include "freed.h"

/* Flags of objects. */
enum { FREED_CUT = 1, FREED_EDGES = 2, FREED_OPEN = 4 };

typedef struct Search {
  const LpDomTree *t;
  const LpSiblings *s;
  uint64_t *reached; /* By object: the groups without whose holders it is. */
  uint8_t *flags;    /* By object. */
  LpIdMap cuts;      /* Object, or reference + 2^32 -> number in cut. */
  uint64_t *cut;     /* The groups whose holder it is. */
  size_t ncut, capcut;
  uint32_t *open; /* Objects whose references are to be followed. */
  size_t nopen, capopen;
} Search;

/* The key of a reference in cuts. */
static uint64_t cut_edge(uint32_t edge)
{
  return 1ull << 32 | edge;
}

/* The groups whose holder has this key. */
static uint64_t cut_bits(const Search *f, uint64_t key)
{
  uint32_t at = f->ncut ? lp_idmap_get(&f->cuts, key) : LP_NONE;
  return at == LP_NONE ? 0 : f->cut[at];
}

/* What is a holder in which groups. */
static void search_cut(Search *f, const LpHolder *h, uint64_t bit)
{
  int one = h->edge == LP_NONE;
  uint64_t key = one ? h->id : cut_edge(h->edge);
  uint32_t at = lp_idmap_add(&f->cuts, key, (uint32_t)f->ncut);
  if (at == f->ncut) {
    f->cut = lp_grow(f->cut, &f->capcut, f->ncut + 1, sizeof(*f->cut));
    f->cut[f->ncut++] = 0;
  }
  f->cut[at] |= bit;
  f->flags[h->id] |= one ? FREED_CUT : FREED_EDGES;
}

/* An object is reached in the groups of some bits. */
static void search_reach(Search *f, uint32_t id, uint64_t bits)
{
  if (f->flags[id] & FREED_CUT)
    bits &= ~cut_bits(f, id);
  if (!(bits & ~f->reached[id]))
    return;
  f->reached[id] |= bits;
  if (f->flags[id] & FREED_OPEN)
    return;
  f->flags[id] |= FREED_OPEN;
  f->open = lp_grow(f->open, &f->capopen, f->nopen + 1, sizeof(*f->open));
  f->open[f->nopen++] = id;
}

/* Follow the references of an object to others that the same one dominates. */
static void search_follow(Search *f, uint32_t id)
{
  const LpGraph *g = f->t->g;
  const LpEdge *e = lp_graph_first(g, id);
  f->flags[id] &= (uint8_t)~FREED_OPEN;
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = lp_edge_to(e);
    uint64_t bits = f->reached[id];
    if (f->s->of[to] == LP_NONE)
      continue;
    if (f->flags[id] & FREED_EDGES)
      bits &= ~cut_bits(f, cut_edge((uint32_t)(e - g->edge)));
    search_reach(f, to, bits);
  }
}

/* Adds up what was not reached. */
static void search_sum(const Search *f, LpShared *group)
{
  const LpDomTree *t = f->t;
  uint64_t all = f->reached[f->s->top];
  uint32_t at = t->kids->first[f->s->top];
  for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, f->s->top, at)) {
    uint64_t bits = all & ~f->reached[at];
    for (; bits; bits &= bits - 1)
      group[__builtin_ctzll(bits)].freed += lp_graph_size(t->g, at);
  }
}

void lp_freed(const LpDomTree *t, const LpSiblings *s, LpShared *group,
              size_t n)
{
  Search f = {.t = t, .s = s};
  size_t i, k;
  f.reached = lp_zalloc(t->g->n, sizeof(*f.reached));
  f.flags = lp_zalloc(t->g->n, sizeof(*f.flags));
  for (i = 0; i < n; i++)
    for (k = 0; k < group[i].nholder; k++)
      search_cut(&f, &group[i].holder[k], 1ull << i);
  search_reach(&f, s->top, n < 64 ? (1ull << n) - 1 : UINT64_MAX);
  while (f.nopen)
    search_follow(&f, f.open[--f.nopen]);
  search_sum(&f, group);
  free(f.reached);
  free(f.flags);
  lp_idmap_free(&f.cuts);
  free(f.cut);
  free(f.open);
}

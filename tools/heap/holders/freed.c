/*
** What could be freed without the holders of a group: a search that goes not
** past them, of all groups at once, with one bit for each.
*/

#include <stdlib.h>

#include "freed.h"

/* Flags of objects. */
enum { FREED_CUT = 1, FREED_EDGES = 2, FREED_OPEN = 4 };

#define SEARCHES 64 /* At once. */

typedef struct Search {
  const LpDomTree *t;
  uint32_t top;       /* Where the search begins. */
  const uint32_t *of; /* By object: LP_NONE if TOP does not dominate it. NULL:
                      ** it dominates all. */
  uint64_t *reached;  /* By object: the searches that reach it. */
  uint8_t *flags;     /* By object. */
  LpIdMap cuts;       /* Object, or reference + 2^32 -> number in cut. */
  uint64_t *cut;      /* The searches that do not go past it. */
  size_t ncut, capcut;
  uint32_t *open; /* Objects whose references are to be followed. */
  size_t nopen, capopen;
  uint64_t but[SEARCHES]; /* What these do not reach, either, is not counted. */
  uint64_t sum[SEARCHES]; /* Bytes that a search does not reach. */
} Search;

/* The key of a reference in cuts. */
static uint64_t cut_edge(uint32_t edge)
{
  return 1ull << 32 | edge;
}

/* The searches that do not go past what has this key. */
static uint64_t cut_bits(const Search *f, uint64_t key)
{
  uint32_t at = f->ncut ? lp_idmap_get(&f->cuts, key) : LP_NONE;
  return at == LP_NONE ? 0 : f->cut[at];
}

/* Some searches do not go past a holder. */
static void search_cut(Search *f, const LpHolder *h, uint64_t bits)
{
  int one = h->edge == LP_NONE;
  uint64_t key = one ? h->id : cut_edge(h->edge);
  uint32_t at = lp_idmap_add(&f->cuts, key, (uint32_t)f->ncut);
  if (at == f->ncut) {
    f->cut = lp_grow(f->cut, &f->capcut, f->ncut + 1, sizeof(*f->cut));
    f->cut[f->ncut++] = 0;
  }
  f->cut[at] |= bits;
  f->flags[h->id] |= one ? FREED_CUT : FREED_EDGES;
}

/* Some searches reach an object. */
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
    if (f->of && f->of[to] == LP_NONE)
      continue;
    if (f->flags[id] & FREED_EDGES)
      bits &= ~cut_bits(f, cut_edge((uint32_t)(e - g->edge)));
    search_reach(f, to, bits);
  }
}

/* Adds up what was not reached. */
static void search_sum(Search *f)
{
  const LpDomTree *t = f->t;
  uint64_t all = f->reached[f->top];
  uint32_t at = t->kids->first[f->top];
  for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, f->top, at)) {
    uint64_t missed = all & ~f->reached[at], bits = missed;
    for (; bits; bits &= bits - 1) {
      int i = __builtin_ctzll(bits);
      if (!(missed & f->but[i]))
        f->sum[i] += lp_graph_size(t->g, at);
    }
  }
}

/* Begin with nothing cut. */
static void search_open(Search *f, const LpDomTree *t, uint32_t top,
                        const uint32_t *of)
{
  *f = (Search){.t = t, .top = top, .of = of};
  f->reached = lp_zalloc(t->g->n, sizeof(*f->reached));
  f->flags = lp_zalloc(t->g->n, sizeof(*f->flags));
}

/* All is cut: run N searches. */
static void search_run(Search *f, size_t n)
{
  search_reach(f, f->top, n < SEARCHES ? (1ull << n) - 1 : UINT64_MAX);
  while (f->nopen)
    search_follow(f, f->open[--f->nopen]);
  search_sum(f);
}

/* Free the memory. */
static void search_close(Search *f)
{
  free(f->reached);
  free(f->flags);
  lp_idmap_free(&f->cuts);
  free(f->cut);
  free(f->open);
}

void lp_freed(const LpDomTree *t, const LpSiblings *s, LpShared *group,
              size_t n)
{
  Search f;
  size_t i, k;
  search_open(&f, t, s->top, s->of);
  for (i = 0; i < n; i++)
    for (k = 0; k < group[i].nholder; k++)
      search_cut(&f, &group[i].holder[k], 1ull << i);
  search_run(&f, n);
  for (i = 0; i < n; i++)
    group[i].freed = f.sum[i];
  search_close(&f);
}

/* -- Exactly these holders ------------------------------------------------- */

/* One search passes none of the parts, the next ones all but one: each of these
** reaches what all parts hold.
*/
static void exactly_cut(Search *f, const LpHeldBy *h, unsigned first)
{
  uint64_t parts = ((1ull << h->parts) - 1) << (first + 1);
  size_t i;
  f->but[first] = parts;
  for (i = 0; i < h->n; i++) {
    uint64_t own = 1ull << (first + 1 + h->holder[i].part);
    search_cut(f, &h->holder[i].holder, 1ull << first | (parts & ~own));
  }
}

/* What a part leads to is reached, though it may be below other parts. */
static void exactly_begin(Search *f, const LpHeldBy *h, unsigned first)
{
  size_t i;
  for (i = 0; i < h->n; i++) {
    LpHolder at = h->holder[i].holder;
    uint32_t id =
        at.edge == LP_NONE ? at.id : lp_edge_to(&f->t->g->edge[at.edge]);
    search_reach(f, id, 1ull << (first + 1 + h->holder[i].part));
  }
}

/* The first of N whose searches are run at once. Returns how many these are. */
static size_t exactly_some(const LpDomTree *t, LpHeldBy *list, size_t n)
{
  Search f;
  unsigned first[SEARCHES], bits = 0;
  size_t i, some = 0;
  search_open(&f, t, LP_GRAPH_ROOT, NULL);
  for (; some < n && bits + 1 + list[some].parts <= SEARCHES; some++) {
    first[some] = bits;
    exactly_cut(&f, &list[some], bits);
    bits += 1 + list[some].parts;
  }
  for (i = 0; i < some; i++)
    exactly_begin(&f, &list[i], first[i]);
  search_run(&f, bits);
  for (i = 0; i < some; i++)
    list[i].bytes = f.sum[first[i]];
  search_close(&f);
  return some;
}

void lp_held_exactly(const LpDomTree *t, LpHeldBy *list, size_t n)
{
  size_t i = 0;
  while (i < n)
    i += exactly_some(t, list + i, n - i);
}

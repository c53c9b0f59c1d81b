/*
** Groups of objects that have the same holders.
*/

#include <stdlib.h>

#include "gather.h"
#include "narrow.h"

/* The holders of objects, and the bytes that these keep. */
typedef struct Total {
  uint64_t bits, bytes;
} Total;

/* For qsort: most bytes first. */
static int total_before(const void *a, const void *b)
{
  const Total *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->bits < y->bits ? -1 : x->bits > y->bits;
}

/* Is a cycle of the set held by just these? */
static int group_has(const LpNarrow *w, uint32_t cycle, uint64_t bits)
{
  return w->leads->sets->of[cycle] == w->set && w->bits[cycle] == bits;
}

/* Sums by holders. The caller frees them. */
static Total *group_totals(const LpNarrow *w, size_t *n)
{
  const LpLeads *l = w->leads;
  LpIdMap map = {0};
  Total *total = NULL;
  size_t cap = 0;
  uint32_t at, i;
  *n = 0;
  for (at = 0; at < l->c->n; at++) {
    if (l->sets->of[at] != w->set || w->bits[at] & LP_NARROW_OTHER)
      continue;
    i = lp_idmap_add(&map, w->bits[at], (uint32_t)*n);
    total = lp_grow(total, &cap, *n + 1, sizeof(*total));
    if (i == *n)
      total[(*n)++] = (Total){w->bits[at], 0};
    total[i].bytes += lp_cycles_bytes(l->c, l->t, l->s, at);
  }
  lp_idmap_free(&map);
  if (*n)
    qsort(total, *n, sizeof(*total), total_before);
  return total;
}

/* Puts the objects of some holders into a group, the largest first. */
static void group_objects(const LpNarrow *w, LpShared *g, uint64_t bits)
{
  const LpCycles *c = w->leads->c;
  const uint64_t *kept = w->leads->t->dom->retained;
  size_t cap = 0;
  uint32_t at, k;
  for (at = 0; at < c->n; at++) {
    if (!group_has(w, at, bits))
      continue;
    for (k = c->first[at]; k < c->first[at + 1]; k++) {
      uint32_t id = w->leads->s->kid[c->order[k]];
      g->id = lp_grow(g->id, &cap, g->n + 1, sizeof(*g->id));
      g->id[g->n] = id;
      if (kept[id] > kept[g->id[0]]) {
        g->id[g->n] = g->id[0];
        g->id[0] = id;
      }
      g->n++;
    }
  }
}

/* Cycles that lead to a group or are in it. The caller frees the array. */
static uint8_t *group_leads(const LpNarrow *w, uint64_t bits)
{
  const LpCycles *c = w->leads->c;
  uint8_t *leads = lp_zalloc(c->n + 1, 1);
  uint32_t at;
  for (at = 0; at < c->n; at++)
    leads[at] = (uint8_t)group_has(w, at, bits);
  lp_cycles_above(c, leads);
  return leads;
}

/* Adds a holder, or its references that lead to the group. */
static void group_holder(const LpNarrow *w, LpShared *g, size_t *cap,
                         const LpNarrowed *h, const uint8_t *leads)
{
  const LpLeads *l = w->leads;
  const LpEdge *e = lp_graph_first(l->t->g, h->id);
  if (!h->edges) {
    g->holder = lp_grow(g->holder, cap, g->nholder + 1, sizeof(*g->holder));
    g->holder[g->nholder++] = (LpHolder){h->id, LP_NONE};
    return;
  }
  for (; e; e = lp_graph_next(e)) {
    uint32_t cycle = lp_leads_edge(l, h->id, e);
    if (cycle == LP_NONE || !leads[cycle])
      continue;
    g->holder = lp_grow(g->holder, cap, g->nholder + 1, sizeof(*g->holder));
    g->holder[g->nholder++] = (LpHolder){h->id, (uint32_t)(e - l->t->g->edge)};
  }
}

/* Is it a slot of a stack that has no name? What is left there is overwritten
** some time.
*/
static int holder_passing(const LpDomTree *t, const LpHolder *h)
{
  LpEdgeKind kind;
  if (h->edge == LP_NONE)
    return 0;
  kind = lp_edge_kind(&t->g->edge[h->edge]);
  return kind == LP_EDGE_SLOT || kind == LP_EDGE_FRAME;
}

/* For qsort_r: the holder that keeps most comes first, slots of stacks last. */
static int holder_before(const void *a, const void *b, void *tree)
{
  const LpHolder *x = a, *y = b;
  uint64_t mine = lp_holder_keeps(tree, x), other = lp_holder_keeps(tree, y);
  if (mine != other)
    return mine > other ? -1 : 1;
  if (holder_passing(tree, x) != holder_passing(tree, y))
    return holder_passing(tree, x) ? 1 : -1;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Makes a group. */
static LpShared group_make(const LpNarrow *w, const Total *total)
{
  LpShared g = {.top = w->leads->s->top, .bytes = total->bytes};
  uint8_t *leads = group_leads(w, total->bits);
  LpDomTree tree = *w->leads->t;
  uint64_t bits = total->bits;
  size_t cap = 0;
  group_objects(w, &g, bits);
  for (; bits; bits &= bits - 1)
    group_holder(w, &g, &cap, &w->holder[__builtin_ctzll(bits)], leads);
  if (g.nholder)
    qsort_r(g.holder, g.nholder, sizeof(*g.holder), holder_before, &tree);
  free(leads);
  return g;
}

/* Adds the groups of the set. */
static void gather_set(const LpNarrow *w, LpSharing *out)
{
  size_t n, i;
  Total *total = group_totals(w, &n);
  for (i = 0; i < n && out->n < LP_SHARED_MOST; i++) {
    if (total[i].bytes < w->least)
      break;
    out->group = lp_grow(out->group, &out->cap, out->n + 1, sizeof(LpShared));
    out->group[out->n++] = group_make(w, &total[i]);
  }
  free(total);
}

void lp_gather(const LpDomTree *t, const LpSiblings *s, const LpCycles *c,
               const LpKidSets *sets, uint64_t least, LpSharing *out)
{
  LpLeads leads = {.t = t, .s = s, .c = c, .sets = sets};
  LpSources list;
  unsigned i;
  lp_leads_open(&leads);
  lp_sources_find(&list, &leads);
  for (i = 0; i < sets->n; i++) {
    LpNarrow w;
    lp_leads_weigh(&leads, i);
    lp_narrow_open(&w, &leads, i, &list, least);
    gather_set(&w, out);
    lp_narrow_close(&w);
  }
  free(list.id);
  free(leads.weight);
}

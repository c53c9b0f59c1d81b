/*
** Joins the objects of a heap dump with the sites that allocated their memory.
*/

#include <stdlib.h>
#include <string.h>

#include "new_keepers.h"
#include "suspects.h"

/* -- Keepers --------------------------------------------------------------- */

/* Those that are always there, and the caller's. */
static void join_keepers(LpJoin *j, const LpKeeper *keeper, size_t n)
{
  size_t i;
  j->nkeeper = LP_KEEPER_FIRST + n;
  j->keeper = lp_zalloc(j->nkeeper, sizeof(*j->keeper));
  for (i = 0; i < LP_KEEPER_FIRST; i++)
    j->keeper[i].id = LP_NONE;
  for (i = 0; i < n; i++) {
    LpKeeper *k = &j->keeper[LP_KEEPER_FIRST + i];
    k->shared = keeper[i].shared;
    k->id = keeper[i].shared ? LP_NONE : keeper[i].id;
  }
}

/* What is shared belongs to its keepers, unless it is one. */
static void join_share(LpJoin *j, uint32_t keeper)
{
  const LpShared *g = j->keeper[keeper].shared;
  size_t i;
  for (i = 0; g && i < g->n; i++)
    if (j->of[g->id[i]] < LP_KEEPER_FIRST)
      j->of[g->id[i]] = keeper;
}

/* An object belongs to the keeper that it is, or to that of its dominator. */
static void join_belong(LpJoin *j)
{
  const LpHeap *h = j->heap;
  const LpGraph *g = &h->dump.graph;
  uint32_t i;
  j->of = lp_alloc(g->n * sizeof(*j->of));
  for (i = 0; i < g->n; i++)
    j->of[i] = lp_heap_isunknown(h, i) ? LP_KEEPER_UNKNOWN : LP_KEEPER_GARBAGE;
  j->of[LP_GRAPH_ROOT] = LP_KEEPER_REST;
  for (i = LP_KEEPER_FIRST; i < j->nkeeper; i++)
    if (j->keeper[i].id != LP_NONE)
      j->of[j->keeper[i].id] = i;
  for (i = LP_KEEPER_FIRST; i < j->nkeeper; i++)
    join_share(j, i);
  for (i = 1; i < h->dom.n; i++) {
    uint32_t id = h->dom.order[i];
    if (j->of[id] < LP_KEEPER_FIRST)
      j->of[id] = j->of[h->dom.parent[id]];
  }
  for (i = 1; i < g->n; i++) {
    LpKeeper *k = &j->keeper[j->of[i]];
    if (!(g->flags[i] & LP_NODE_DEFINED))
      continue;
    k->objects++;
    k->bytes += lp_graph_size(g, i);
  }
}

/* -- Blocks ---------------------------------------------------------------- */

typedef struct Sums {
  LpJoin *j;
  LpReplay *r;
  LpIdMap origins; /* Keeper, origin -> number in made. */
  LpScale scale;
} Sums;

/* The sum for what a keeper keeps of an origin. */
static LpMade *sums_of(Sums *s, uint32_t keeper, uint32_t origin)
{
  LpJoin *j = s->j;
  const LpOrigins *o = &s->r->st.prof->origins;
  uint64_t key = (uint64_t)keeper << 32 | origin;
  uint32_t at = lp_idmap_add(&s->origins, key, (uint32_t)j->nmade);
  if (at != j->nmade)
    return &j->made[at];
  j->made = lp_grow(j->made, &j->capmade, j->nmade + 1, sizeof(*j->made));
  j->made[j->nmade] = (LpMade){.keeper = keeper,
                               .node = o->callers[origin],
                               .site = lp_cell_site(&o->cell[origin]),
                               .oldest = UINT64_MAX,
                               .newest = UINT64_MAX};
  return &j->made[j->nmade++];
}

/* Extend the span of ages by one. */
static void sums_age(LpMade *m, uint64_t age)
{
  if (m->oldest == UINT64_MAX || age > m->oldest)
    m->oldest = age;
  if (age < m->newest)
    m->newest = age;
}

/* Who made a coroutine is known of each one. */
static void sums_thread(Sums *s, const LpDumpBlock *b, const LpObjectAge *was)
{
  const LpOrigins *o = &s->r->st.prof->origins;
  if (b->own && s->j->heap->dump.graph.type[b->id] == LJM_TYPE_THREAD)
    lp_idmap_put(&s->j->threads, b->id, lp_cell_site(&o->cell[was->origin]));
}

/* Who made the parts of the VM, or changed their sizes last. */
static void sums_parts(Sums *s)
{
  const LpOrigins *o = &s->r->st.prof->origins;
  const LpDump *d = &s->j->heap->dump;
  size_t i;
  for (i = 0; i < d->npart; i++) {
    const LpObjectAge *was = lp_replay_find(s->r, d->part[i].addr);
    if (was)
      lp_idmap_put(&s->j->parts, i, lp_cell_site(&o->cell[was->origin]));
  }
}

/* In samples, objects that are not in the recording are in none of the sums. */
static void sums_block(Sums *s, const LpDumpBlock *b)
{
  LpJoin *j = s->j;
  const LpObjectAge *was = lp_replay_find(s->r, b->addr);
  LpWeight w = lp_weigh(&s->scale, b->size);
  LpMade *m;
  j->blocks++;
  if (!was && (j->sample || j->fresh))
    return;
  j->found += was != NULL;
  if (was)
    sums_thread(s, b, was);
  if (j->fresh && !lp_replay_isnew(s->r, was))
    return;
  j->differs += was && was->size != b->size;
  if (!b->own)
    w.n = w.npart = 0;
  m = sums_of(s, j->of[b->id],
              was       ? was->origin
              : j->lost ? LP_ORIGIN_LOST
                        : LP_ORIGIN_BEFORE);
  lp_weight_add(&m->live, &w);
  if (was)
    sums_age(m, lp_replay_age(s->r, was));
}

/* -- By site --------------------------------------------------------------- */

/* For qsort: by keeper, then the largest first, then always in one order. */
static int made_compare(const void *x, const void *y)
{
  const LpMade *a = x, *b = y;
  if (a->keeper != b->keeper)
    return a->keeper < b->keeper ? -1 : 1;
  if (a->live.bytes != b->live.bytes)
    return a->live.bytes > b->live.bytes ? -1 : 1;
  if (a->site != b->site)
    return a->site < b->site ? -1 : 1;
  return (a->node > b->node) - (a->node < b->node);
}

/* Of the same site and callers, but another type. */
static int made_byplace(const void *x, const void *y)
{
  const LpMade *a = x, *b = y;
  if (a->keeper != b->keeper)
    return a->keeper < b->keeper ? -1 : 1;
  if (a->site != b->site)
    return a->site < b->site ? -1 : 1;
  return (a->node > b->node) - (a->node < b->node);
}

void lp_made_merge(LpMade *to, const LpMade *from)
{
  lp_weight_add(&to->live, &from->live);
  if (from->oldest == UINT64_MAX)
    return;
  sums_age(to, from->oldest);
  sums_age(to, from->newest);
}

/* Adds up types, and sorts what is left. */
static void join_sort(LpJoin *j)
{
  size_t i, n = 0;
  if (!j->nmade)
    return;
  qsort(j->made, j->nmade, sizeof(*j->made), made_byplace);
  for (i = 1; i < j->nmade; i++) {
    if (made_byplace(&j->made[n], &j->made[i]) == 0)
      lp_made_merge(&j->made[n], &j->made[i]);
    else
      j->made[++n] = j->made[i];
  }
  j->nmade = n + 1;
  qsort(j->made, j->nmade, sizeof(*j->made), made_compare);
  for (i = j->nmade; i-- > 0;) {
    LpKeeper *k = &j->keeper[j->made[i].keeper];
    k->made = i;
    k->nmade++;
  }
}

LpJoin *lp_join_with(const LpHeap *h, LpReplay *r, const LpKeeper *keeper,
                     size_t n)
{
  LpJoin *j = lp_zalloc(1, sizeof(*j));
  Sums *s = lp_zalloc(1, sizeof(*s));
  size_t i;
  j->heap = h;
  j->sample = r->st.sample;
  j->lost = lp_replay_lost(r);
  j->fresh = r->base != NULL;
  s->j = j;
  s->r = r;
  lp_scale_open(&s->scale, j->sample);
  join_keepers(j, keeper, n);
  join_belong(j);
  for (i = 0; i < h->dump.nblock; i++)
    sums_block(s, &h->dump.block[i]);
  sums_parts(s);
  join_sort(j);
  lp_idmap_free(&s->origins);
  free(s);
  return j;
}

/* -- The whole ------------------------------------------------------------- */

/* The keepers are where leak suspects would be, if less made one. */
LpJoin *lp_join_new(const LpHeap *h, LpReplay *r)
{
  LpSuspect *s = lp_alloc(LP_JOIN_KEEPERS * sizeof(*s));
  LpKeeper *keeper =
      lp_zalloc(LP_JOIN_KEEPERS + LP_NEW_KEEPERS, sizeof(*keeper));
  size_t i, n = lp_suspects_above(h, LP_JOIN_PERCENT, s, LP_JOIN_KEEPERS);
  LpJoin *j;
  for (i = 0; i < n; i++) {
    keeper[i].shared = s[i].shared;
    keeper[i].id = s[i].id;
  }
  if (r->base && lp_heap_keeps(h))
    n = lp_new_keepers(h, r, keeper, n);
  j = lp_join_with(h, r, keeper, n);
  free(keeper);
  free(s);
  return j;
}

void lp_join_free(LpJoin *j)
{
  if (!j)
    return;
  free(j->keeper);
  free(j->of);
  free(j->made);
  lp_idmap_free(&j->threads);
  lp_idmap_free(&j->parts);
  free(j);
}

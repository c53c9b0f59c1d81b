/*
** The dominator tree in groups: objects of one shape with the same dominator
** are one group.
*/

#include <stdlib.h>

#include "groups.h"

#define GROUP_STEPS 12 /* Of a path in a name. */

/* -- One group ------------------------------------------------------------- */

/* Add an object to a group. */
static void group_add(LpGroup *g, const LpHeap *h, uint32_t id)
{
  g->id = lp_grow(g->id, &g->cap, g->n + 1, sizeof(*g->id));
  g->id[g->n++] = id;
  g->bytes += lp_graph_size(&h->dump.graph, id);
}

LpGroup lp_group_root(const LpHeap *h)
{
  LpGroup g = {.shape = LP_NONE, .apart = 1};
  g.retained = h->dom.retained[LP_GRAPH_ROOT];
  group_add(&g, h, LP_GRAPH_ROOT);
  return g;
}

void lp_group_free(LpGroup *g)
{
  free(g->id);
  *g = (LpGroup){.shape = LP_NONE};
}

/* Does a group take in KID, which PARENT keeps? Only one of the same shape; a
** shape that says little is only followed along a list. A trace always takes in
** its side traces: they are code of one function.
*/
static int group_takes(const LpGroup *g, const LpHeap *h, uint32_t kid,
                       uint32_t parent)
{
  uint32_t shape = h->shapes.of[kid];
  if (shape != h->shapes.of[parent])
    return 0;
  return !lp_shape_isplain(h, shape) ||
         h->dump.graph.type[kid] == LJM_TYPE_TRACE ||
         (!g->apart && h->dom.retained[kid] > h->dom.retained[parent] / 2);
}

void lp_group_absorb(LpGroup *g, const LpHeap *h)
{
  size_t at;
  for (at = 0; at < g->n; at++) {
    uint32_t parent = g->id[at], kid = h->kids.first[parent];
    for (; kid != LP_NONE; kid = h->kids.next[kid])
      if (group_takes(g, h, kid, parent))
        group_add(g, h, kid);
  }
}

/* -- Those below ----------------------------------------------------------- */

/* For qsort: the group that keeps most comes first. */
static int group_before(const void *a, const void *b)
{
  const LpGroup *x = a, *y = b;
  if (x->retained != y->retained)
    return x->retained > y->retained ? -1 : 1;
  return x->id[0] < y->id[0] ? -1 : x->id[0] > y->id[0];
}

/* Put an object into the group of its shape, or into one of its own. */
static void groups_sort_in(LpGroups *s, LpIdMap *byshape, const LpHeap *h,
                           uint32_t id, int apart)
{
  uint32_t shape = h->shapes.of[id];
  uint32_t new = (uint32_t)s->n;
  uint32_t at = apart ? new : lp_idmap_add(byshape, shape, new);
  s->g = lp_grow(s->g, &s->cap, s->n + 1, sizeof(*s->g));
  if (at == new)
    s->g[s->n++] = (LpGroup){.shape = shape, .apart = apart};
  group_add(&s->g[at], h, id);
  s->g[at].retained += h->dom.retained[id];
}

/* Leave out those that keep less. */
static void groups_cut(LpGroups *s, uint64_t least)
{
  size_t i, kept = 0;
  for (i = 0; i < s->n; i++) {
    if (s->g[i].retained >= least)
      s->g[kept++] = s->g[i];
    else
      lp_group_free(&s->g[i]);
  }
  s->n = kept;
}

LpGroups lp_groups_below(const LpHeap *h, const LpGroup *g, uint64_t least,
                         uint64_t apart, const LpIdMap *also)
{
  LpGroups s = {0};
  LpIdMap byshape = {0};
  size_t i;
  for (i = 0; i < g->n; i++) {
    uint32_t kid = h->kids.first[g->id[i]];
    for (; kid != LP_NONE; kid = h->kids.next[kid])
      if (!group_takes(g, h, kid, g->id[i]))
        groups_sort_in(&s, &byshape, h, kid,
                       (g->n == 1 && h->dom.retained[kid] >= apart) ||
                           (also && lp_idmap_get(also, kid) != LP_NONE));
  }
  lp_idmap_free(&byshape);
  groups_cut(&s, least);
  if (s.n)
    qsort(s.g, s.n, sizeof(*s.g), group_before);
  return s;
}

void lp_groups_free(LpGroups *s)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    free(s->g[i].id);
  free(s->g);
  *s = (LpGroups){0};
}

const LpShared *lp_group_shared(const LpHeap *h, const LpGroup *g,
                                const uint8_t *of)
{
  unsigned in = of[g->id[0]];
  const LpShared *shared = in ? &h->sharing.group[in - 1] : NULL;
  size_t i;
  for (i = 1; shared && i < g->n; i++) {
    uint32_t id = g->id[i];
    if (of[id] != in && h->dom.parent[id] == shared->top)
      return NULL; /* Others are in it through their dominators. */
  }
  return shared;
}

/* -- Names ----------------------------------------------------------------- */

void lp_group_step(LpBuf *b, const LpHeap *h, uint32_t id, unsigned most)
{
  uint32_t from = h->paths.from[id];
  if (from == h->dom.parent[id])
    lp_path_step(b, &h->dump, from, &h->dump.graph.edge[h->paths.edge[id]]);
  else
    lp_path_name(b, &h->dump, &h->paths, id, most);
}

/* The object of a group that keeps most. */
static uint32_t group_largest(const LpGroup *g, const LpHeap *h)
{
  uint32_t largest = g->id[0];
  size_t i;
  for (i = 1; i < g->n; i++)
    if (h->dom.retained[g->id[i]] > h->dom.retained[largest])
      largest = g->id[i];
  return largest;
}

void lp_group_name(LpBuf *b, const LpHeap *h, const LpGroup *g)
{
  int several = g->n > 1;
  if (!several || g->apart) {
    lp_group_step(b, h, g->id[0], GROUP_STEPS);
    lp_buf_puts(b, "  ");
  }
  if (several)
    lp_buf_printf(b, "%zu x ", g->n);
  if (g->shape != LP_NONE && several)
    lp_shape_name(b, h, g->shape);
  else
    lp_shape_nameof(b, h, g->id[0]);
  if (several && !g->apart && h->dom.parent[g->id[0]] == LP_GRAPH_ROOT) {
    lp_buf_puts(b, ", such as ");
    lp_path_name(b, &h->dump, &h->paths, group_largest(g, h), GROUP_STEPS);
  }
}

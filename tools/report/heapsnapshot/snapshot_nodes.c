/*
** Which nodes a .heapsnapshot has.
**
** An object has a node of its own if it retains enough; so has its dominator
** then, which retains more. Any other object belongs to a group: that of its
** shape below the nearest dominator with a node. Who dominates whom among
** objects with a node stays the same, and so does what they retain: a path
** that avoids such an object leads to all members of a group or to none.
*/

#include <stdlib.h>
#include <string.h>

#include "snapshot_nodes.h"

/* -- How much is enough ---------------------------------------------------- */

/* How many objects retain at least so much, which is not 0? */
static size_t nodes_count(const LpHeap *h, uint64_t least)
{
  size_t n = 0, i;
  for (i = 1; i < h->dump.graph.n; i++)
    n += h->dom.retained[i] >= least;
  return n;
}

/* The least number of bytes that at most MOST objects retain. Those that retain
** equally much have all a node of their own, or none: a choice among them would
** differ from dump to dump.
*/
static uint64_t nodes_least(const LpHeap *h, size_t most)
{
  const LpDominators *d = &h->dom;
  uint64_t low = 0, high = d->retained[LP_GRAPH_ROOT] + 1;
  if (d->n - 1 <= most)
    return 0;
  while (low + 1 < high) { /* LOW is too little, HIGH is enough. */
    uint64_t mid = low + (high - low) / 2;
    if (nodes_count(h, mid) <= most)
      high = mid;
    else
      low = mid;
  }
  return high;
}

/* -- Groups ---------------------------------------------------------------- */

/* How nodes are chosen. */
typedef struct Choice {
  LpSnapshotNodes *s;
  const LpHeap *h;
  LpIdMap ids; /* Keeper and shape -> group. */
  size_t most; /* Nodes there may be: beyond that the choice is given up. */
} Choice;

/* What distinguishes the groups of a keeper. Strings differ in all but type. */
static uint32_t group_kind(const Choice *c, uint32_t id)
{
  uint32_t shape = c->h->shapes.of[id], type = c->h->dump.graph.type[id];
  return c->s->bytype || type == LJM_TYPE_STRING || shape == LP_NONE
             ? LP_NONE - 1 - type
             : shape;
}

/* A new group of a keeper, before those that it has. */
static uint32_t group_add(Choice *c, uint32_t keeper, uint32_t id)
{
  LpSnapshotNodes *s = c->s;
  uint32_t n = (uint32_t)s->ngroup++;
  uint32_t *head = keeper == LP_NONE ? &s->nobody : &s->below[s->of[keeper]];
  s->group = lp_grow(s->group, &s->capgroup, s->ngroup + 1, sizeof(*s->group));
  s->group[n] = (LpSnapshotGroup){.keeper = keeper, .one = id, .next = *head};
  *head = n;
  return n;
}

/* Puts an object into its group. One that is full is followed by another. */
static void group_put(Choice *c, uint32_t keeper, uint32_t id)
{
  LpSnapshotNodes *s = c->s;
  uint64_t key = (uint64_t)keeper << 32 | group_kind(c, id);
  uint64_t size = lp_graph_size(&c->h->dump.graph, id);
  uint32_t n = lp_idmap_get(&c->ids, key);
  if (size > UINT32_MAX)
    size = UINT32_MAX;
  if (n == LP_NONE || s->group[n].bytes + size > UINT32_MAX) {
    n = group_add(c, keeper, id);
    lp_idmap_put(&c->ids, key, n);
  }
  s->group[n].bytes += (uint32_t)size;
  s->group[n].objects++;
  s->of[id] = s->groups + n;
}

/* Lists the objects of each group that can be reached. */
static void group_members(LpSnapshotNodes *s, const LpHeap *h)
{
  uint32_t i, sum = 0;
  s->group = lp_grow(s->group, &s->capgroup, s->ngroup + 1, sizeof(*s->group));
  for (i = 0; i < s->ngroup; i++) {
    sum += s->group[i].keeper == LP_NONE ? 0 : s->group[i].objects;
    s->group[i].first = sum; /* Its end: filled from there on down. */
  }
  s->group[s->ngroup].first = sum;
  s->member = lp_alloc((size_t)(sum + 1) * sizeof(*s->member));
  for (i = h->dom.n; i-- > 1;) {
    uint32_t id = h->dom.order[i];
    if (s->of[id] >= s->groups)
      s->member[--s->group[s->of[id] - s->groups].first] = id;
  }
}

/* -- Nodes ----------------------------------------------------------------- */

/* Is the object a string whose text is known? */
static int nodes_hastext(const LpGraph *g, uint32_t id)
{
  return g->type[id] == LJM_TYPE_STRING && g->node[id].first != LP_NONE;
}

/* Where each kind of nodes begins, if an object must retain so much. */
static void nodes_layout(LpSnapshotNodes *s, const LpHeap *h, uint64_t least)
{
  const LpDominators *d = &h->dom;
  uint32_t i;
  memset(s, 0, sizeof(*s));
  s->least = least;
  s->strings = s->vm = 1;
  for (i = 1; i < d->n; i++) {
    int own = d->retained[d->order[i]] >= least;
    s->strings += own && !nodes_hastext(&h->dump.graph, d->order[i]);
    s->vm += own;
  }
  s->lost = s->vm + 1;
  s->parts = s->vm + 2;
  s->groups = s->parts + (uint32_t)h->dump.npart + (h->dump.end.making > 0);
  s->of = lp_alloc(h->dump.graph.n * sizeof(*s->of));
  s->object = lp_alloc(s->vm * sizeof(*s->object));
  s->below = lp_alloc(s->vm * sizeof(*s->below));
  memset(s->of, 0xff, h->dump.graph.n * sizeof(*s->of));
  memset(s->below, 0xff, s->vm * sizeof(*s->below));
  s->nobody = LP_NONE;
}

/* Are there too many nodes? */
static int nodes_full(const Choice *c)
{
  return c->s->groups + c->s->ngroup > c->most;
}

/* Numbers all objects that can be reached; dominators come first. */
static void nodes_reached(Choice *c)
{
  LpSnapshotNodes *s = c->s;
  const LpDominators *d = &c->h->dom;
  uint32_t i, object = 1, string = s->strings;
  s->of[LP_GRAPH_ROOT] = s->object[0] = LP_GRAPH_ROOT;
  for (i = 1; i < d->n && !nodes_full(c); i++) {
    uint32_t id = d->order[i], keeper = d->parent[id];
    if (d->retained[id] >= s->least) {
      s->of[id] = nodes_hastext(&c->h->dump.graph, id) ? string++ : object++;
      s->object[s->of[id]] = id;
      continue;
    }
    if (s->of[keeper] >= s->groups)
      keeper = s->group[s->of[keeper] - s->groups].keeper;
    group_put(c, keeper, id);
  }
}

/* Returns 0 if there would be more nodes than MOST. */
static int nodes_choose(LpSnapshotNodes *s, const LpHeap *h, uint64_t least,
                        int bytype, size_t most)
{
  Choice c = {.s = s, .h = h, .most = most};
  const LpGraph *g = &h->dump.graph;
  uint32_t id;
  nodes_layout(s, h, least);
  s->bytype = bytype;
  nodes_reached(&c);
  for (id = 1; id < g->n && !nodes_full(&c); id++)
    if ((g->flags[id] & LP_NODE_DEFINED) && !lp_dominators_has(&h->dom, id))
      group_put(&c, LP_NONE, id);
  lp_idmap_free(&c.ids);
  s->n = s->groups + (uint32_t)s->ngroup;
  return !nodes_full(&c);
}

void lp_snapshot_nodes_open(LpSnapshotNodes *s, const LpHeap *h,
                            const LpSnapshotLimits *limits)
{
  size_t most = limits->most;
  unsigned turn;
  if (limits->top && limits->top < most)
    most = limits->top;
  for (turn = 0;; turn++) {
    uint64_t least = nodes_least(h, most);
    int bytype = turn > 2, last = bytype && most == 0;
    if (least < limits->least)
      least = limits->least;
    if (nodes_choose(s, h, least, bytype, last ? SIZE_MAX : limits->most))
      break;
    lp_snapshot_nodes_close(s);
    most /= 4;
  }
  group_members(s, h);
}

void lp_snapshot_nodes_close(LpSnapshotNodes *s)
{
  free(s->of);
  free(s->object);
  free(s->below);
  free(s->group);
  free(s->member);
  memset(s, 0, sizeof(*s));
}

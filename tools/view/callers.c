/*
** An inverted call tree: from the innermost frame to its callers.
**
** Turned round whole, a tree can be as large as all its stacks together. So it
** is made from the root on, and only of what is kept: a node has the list of
** the stacks that it stands for, as a part of its parent's list, each with how
** far out it has been followed. Nodes are made level by level, so that where
** there are too many of them, those furthest out are missing.
*/

#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "mem.h"

/* A stack: its innermost node, and the next node to visit. */
typedef struct CallersItem {
  uint32_t leaf, at;
} CallersItem;

/* The items of a node. */
typedef struct CallersRange {
  uint32_t from, to;
} CallersRange;

typedef struct Callers {
  LpTree *t;
  const LpTree *of;
  LpMetric metric; /* What decides which nodes are kept. */
  LpCallersKeep keep;
  void *ctx;
  CallersItem *item;
  uint32_t n;
  CallersRange *range; /* By node, */
  size_t ranges;       /* room. */
} Callers;

/* Stacks that end here first, then by site. */
static int callers_before(const void *a, const void *b, void *ctx)
{
  const CallersItem *x = a, *y = b;
  const LpTreeNode *node = ctx;
  uint32_t s = node[x->at].site, other = node[y->at].site;
  if (!x->at != !y->at)
    return x->at ? 1 : -1;
  if (s != other)
    return s < other ? -1 : 1;
  return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

/* The weight of a stack: its value, or the change of it. */
static uint64_t callers_weight(const Callers *c, uint32_t leaf)
{
  const LpTreeColumn *base = &c->of->col[LP_BASE][c->metric];
  uint64_t now = lp_tree_self(c->of, leaf, c->metric);
  if (!base->self)
    return now;
  return lp_size(now - lp_value_round(base->self[leaf]));
}

/* Is the sum of a range large enough? */
static int callers_kept(const Callers *c, CallersRange r)
{
  uint64_t n = 0;
  uint32_t i;
  for (i = r.from; i < r.to; i++)
    n += callers_weight(c, c->item[i].leaf);
  return c->keep(n, c->ctx);
}

/* A node for a range; its figures are the sums of all stacks. */
static void callers_node(Callers *c, uint32_t parent, uint32_t site,
                         CallersRange r)
{
  LpTree *t = c->t;
  uint32_t id = t->n++, i;
  unsigned side;
  LpMetric m;
  t->node = lp_grow(t->node, &t->nodes, t->n, sizeof(LpTreeNode));
  t->node[id] = (LpTreeNode){.parent = parent, .site = site};
  c->range = lp_grow(c->range, &c->ranges, t->n, sizeof(CallersRange));
  c->range[id] = r;
  for (side = 0; side < LP_NSIDE; side++) {
    for (m = 0; m < LP_NMETRIC; m++) {
      const LpValue *self = c->of->col[side][m].self;
      LpTreeColumn *col = &t->col[side][m];
      if (!self)
        continue;
      if (!(id & (id - 1))) /* Powers of two: twice the room. */
        col->total =
            lp_realloc(col->total, (size_t)id * 2 + 1, sizeof(LpValue));
      col->total[id] = (LpValue){0, 0};
      for (i = r.from; i < r.to; i++)
        lp_value_add(&col->total[id], self[c->item[i].leaf]);
    }
  }
}

/* The callers of a node. */
static void callers_expand(Callers *c, uint32_t id)
{
  const LpTreeNode *node = c->of->node;
  CallersRange all = c->range[id], r;
  qsort_r(c->item + all.from, all.to - all.from, sizeof(CallersItem),
          callers_before, c->of->node);
  for (r.from = all.from; r.from < all.to; r.from = r.to) {
    uint32_t site = node[c->item[r.from].at].site, i;
    for (r.to = r.from; r.to < all.to; r.to++)
      if (node[c->item[r.to].at].site != site)
        break;
    if (!c->item[r.from].at || !callers_kept(c, r))
      continue;
    if (c->t->n == LP_CALLERS_MAX)
      return;
    for (i = r.from; i < r.to; i++)
      c->item[i].at = node[c->item[i].at].parent;
    callers_node(c, id, site, r);
  }
}

/* All stacks with a self value. */
static void callers_items(Callers *c)
{
  const LpTreeColumn *all = &c->of->col[0][0];
  uint32_t i;
  c->item = lp_alloc(c->of->n * sizeof(CallersItem));
  for (i = 1; i < c->of->n; i++) {
    const LpTreeColumn *col = all;
    for (; col < all + LP_NSIDE * LP_NMETRIC; col++)
      if (col->self && (col->self[i].n || col->self[i].part))
        break;
    if (col < all + LP_NSIDE * LP_NMETRIC)
      c->item[c->n++] = (CallersItem){i, i};
  }
}

/* Make the tree of what is KEPT by METRIC. It has totals only, the sums of each
** node's stacks.
*/
void lp_callers_open(LpTree *t, const LpTree *of, LpMetric metric,
                     LpCallersKeep keep, void *ctx)
{
  Callers c = {.t = t, .of = of, .metric = metric, .keep = keep, .ctx = ctx};
  uint32_t i;
  memset(t, 0, sizeof(*t));
  t->metrics = of->metrics;
  callers_items(&c);
  callers_node(&c, LP_NODE_ROOT, LP_NONE, (CallersRange){0, c.n});
  for (i = 0; i < t->n && t->n < LP_CALLERS_MAX; i++)
    callers_expand(&c, i);
  free(c.item);
  free(c.range);
}

/*
** The call tree of a report: nodes with their figures, children in order.
**
** The profile's own tree has callers only, and figures by origin. Here a leaf
** is a node as well, all types of a stack are one, and sites that a report
** does not distinguish are one.
*/

#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "mem.h"

/* A new node. */
static void tree_new(LpTree *t, uint32_t parent, uint32_t site)
{
  t->node = lp_grow(t->node, &t->nodes, t->n + 1u, sizeof(LpTreeNode));
  t->node[t->n++] = (LpTreeNode){.parent = parent, .site = site};
}

/* The node of SITE, called by PARENT. There are at most as many as in the
** profile.
*/
static uint32_t tree_node(LpTree *t, uint32_t parent, uint32_t site)
{
  uint32_t id = lp_calls_node(&t->calls, parent, site);
  if (id == t->n)
    tree_new(t, parent, site);
  return id;
}

/* Where in the tree each stack of a profile is. */
typedef struct Places {
  LpStackView paths;
  uint32_t *at; /* By depth: the node of the path that was added last. */
  size_t depths;
  uint32_t *stack;   /* By sampled stack: its node. */
  uint32_t *charged; /* The node that is charged with it as allocation and
                     ** collection, or the root. */
  uint32_t *origin;  /* By origin: its node. */
} Places;

/* Make the nodes of a path. Returns the innermost one. */
static uint32_t places_path(LpTree *t, Places *p)
{
  const LpStackView *path = &p->paths;
  uint32_t i;
  p->at = lp_grow(p->at, &p->depths, path->n + 1u, sizeof(uint32_t));
  for (i = path->same; i < path->n; i++)
    p->at[i + 1] = tree_node(t, p->at[i], path->site[i]);
  return p->at[path->n];
}

/* Make the nodes of a sampled stack. */
static void places_stack(LpTree *t, Places *p, uint32_t i)
{
  const LpStackView *path = &p->paths;
  lp_stackview_stack(&p->paths, i);
  p->stack[i] = places_path(t, p);
  if (path->charged == LP_NONE)
    return;
  p->charged[i] = path->merge == LP_MERGE_CALLERS
                      ? tree_node(t, LP_NODE_ROOT, path->charged)
                      : p->at[path->ncharged];
}

/* Make the nodes of all that is kept. */
static void places_open(Places *p, LpTree *t, const LpProfile *prof,
                        const LpTreeOf *of)
{
  uint32_t i;
  memset(p, 0, sizeof(*p));
  lp_stackview_open(&p->paths, prof, of->merge, of->native, of->metrics);
  p->stack = lp_zalloc(prof->sampled.n, sizeof(uint32_t));
  p->charged = lp_zalloc(prof->sampled.n, sizeof(uint32_t));
  p->origin = lp_zalloc(prof->origins.n, sizeof(uint32_t));
  for (i = 0; i < prof->sampled.n; i++)
    if (lp_shape_stack(of->shape, i))
      places_stack(t, p, i);
  for (i = 0; i < prof->origins.n; i++) {
    if (!lp_shape_origin(of->shape, i))
      continue;
    lp_stackview_origin(&p->paths, i);
    p->origin[i] = places_path(t, p);
  }
}

/* Free it. */
static void places_free(Places *p)
{
  lp_stackview_close(&p->paths);
  free(p->at);
  free(p->stack);
  free(p->charged);
  free(p->origin);
}

/* Add a number to one of a column. Columns are new memory, of which what is
** never written takes none: many are 0 nearly everywhere.
*/
static void tree_add(LpValue *to, LpValue v)
{
  if (v.n || v.part)
    lp_value_add(to, v);
}

/* Fill in a metric of samples: of all stacks that are of a PART, or of all. */
static void tree_samples(LpValue *self, const LpProfile *prof,
                         const LpShape *shape, const Places *p, LpSide side,
                         LpMetric part)
{
  uint32_t i;
  for (i = 0; i < prof->sampled.n; i++)
    if (lp_shape_stack(shape, i) &&
        (part == LP_METRIC_SAMPLES || p->paths.part[i] == part))
      tree_add(&self[p->stack[i]],
               (LpValue){lp_metric_samples(prof, side, i), 0});
}

/* Fill in samples in allocation and collection, charged to the Lua function
** that caused them.
*/
static void tree_allocgc(LpValue *self, const LpProfile *prof, const Places *p,
                         LpSide side)
{
  uint32_t i;
  for (i = 0; i < prof->sampled.n; i++)
    if (p->charged[i])
      self[p->charged[i]].n += lp_metric_samples(prof, side, i);
}

/* Fill in the self values of a metric. */
static void tree_fill(LpTree *t, const LpProfile *prof, const LpShape *shape,
                      const Places *p, LpSide side, LpMetric metric)
{
  const LpOrigins *o = &prof->origins;
  LpValue *self = lp_zalloc(t->n, sizeof(LpValue));
  uint32_t i;
  int part = p->paths.part && (LP_METRIC_PARTS & LP_METRIC_BIT(metric));
  t->col[side][metric].self = self;
  if (metric == LP_METRIC_SAMPLES || part)
    tree_samples(self, prof, shape, p, side, metric);
  else if (metric == LP_METRIC_ALLOC_GC)
    tree_allocgc(self, prof, p, side);
  else
    for (i = 0; i < o->n; i++)
      if (lp_shape_origin(shape, i))
        tree_add(&self[p->origin[i]], lp_metric_of(prof, side, i, metric));
}

void lp_tree_open(LpTree *t, const LpProfile *prof, const LpTreeOf *of)
{
  LpMetric m;
  Places p;
  memset(t, 0, sizeof(*t));
  t->metrics = of->metrics;
  lp_calls_open(&t->calls, LP_NONE);
  tree_new(t, LP_NODE_ROOT, LP_NONE);
  places_open(&p, t, prof, of);
  for (m = 0; m < LP_NMETRIC; m++) {
    if (!(t->metrics & LP_METRIC_BIT(m)))
      continue;
    tree_fill(t, prof, of->shape, &p, LP_NOW, m);
    if (prof->baseline.present)
      tree_fill(t, prof, of->shape, &p, LP_BASE, m);
  }
  if (of->places) {
    t->place = p.stack;
    t->part = p.paths.part;
    t->origin = p.origin;
    p.origin = NULL;
    p.stack = NULL;
    p.paths.part = NULL;
  }
  places_free(&p);
}

/* Round self values so that their sums are the rounded sums: the remainder of
** one is carried to the next. Without estimates nothing changes.
*/
void lp_tree_whole(LpTree *t)
{
  LpTreeColumn *c = &t->col[0][0];
  uint32_t i;
  for (; c < &t->col[0][0] + LP_NSIDE * LP_NMETRIC; c++) {
    uint64_t part = 0;
    for (i = 0; c->self && i < t->n; i++) {
      uint64_t n = lp_round(c->self[i].n, part + c->self[i].part);
      part += c->self[i].part - ((n - c->self[i].n) << 32);
      if (c->self[i].n != n || c->self[i].part)
        c->self[i] = (LpValue){n, 0};
    }
  }
}

void lp_tree_total(LpTree *t)
{
  LpTreeColumn *c = &t->col[0][0];
  uint32_t i;
  for (; c < &t->col[0][0] + LP_NSIDE * LP_NMETRIC; c++) {
    if (!c->self)
      continue;
    c->total = lp_zalloc(t->n, sizeof(LpValue));
    for (i = t->n; i-- > 0;) {
      tree_add(&c->total[i], c->self[i]);
      if (i)
        tree_add(&c->total[t->node[i].parent], c->total[i]);
    }
  }
}

typedef struct Sorting {
  const LpTree *tree;
  LpTreeOrder order;
  void *ctx;
} Sorting;

/* As ORDER, of numbers of nodes. Equal ones are in the order they came. */
static int tree_before(const void *a, const void *b, void *ctx)
{
  const Sorting *s = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  int cmp = s->order(s->tree, x, y, s->ctx);
  return cmp ? cmp : x < y ? -1 : x > y;
}

/* Node I is the first child of its parent now. */
static void tree_child(LpTree *t, uint32_t i)
{
  LpTreeNode *n = &t->node[i];
  n->next = t->node[n->parent].child;
  t->node[n->parent].child = i;
}

void lp_tree_link(LpTree *t)
{
  uint32_t i;
  for (i = t->n; --i > LP_NODE_ROOT;)
    tree_child(t, i);
}

void lp_tree_sort(LpTree *t, LpTreeOrder order, void *ctx)
{
  Sorting s = {t, order, ctx};
  uint32_t *list = lp_alloc(t->n * sizeof(uint32_t)), i;
  for (i = 0; i < t->n; i++)
    list[i] = i;
  qsort_r(list, t->n, sizeof(uint32_t), tree_before, &s);
  for (i = t->n; i-- > 0;)
    if (list[i] != LP_NODE_ROOT)
      tree_child(t, list[i]);
  free(list);
}

/* The node after I in preorder; enters I if IN. Updates *DEPTH. At the end, the
** root.
*/
uint32_t lp_tree_next(const LpTree *t, uint32_t i, int in, int *depth)
{
  if (in && t->node[i].child) {
    ++*depth;
    return t->node[i].child;
  }
  while (i != LP_NODE_ROOT && !t->node[i].next) {
    i = t->node[i].parent;
    --*depth;
  }
  return i == LP_NODE_ROOT ? i : t->node[i].next;
}

void lp_tree_close(LpTree *t)
{
  LpTreeColumn *c = &t->col[0][0];
  for (; c < &t->col[0][0] + LP_NSIDE * LP_NMETRIC; c++) {
    free(c->self);
    free(c->total);
  }
  lp_calls_close(&t->calls);
  free(t->node);
  free(t->place);
  free(t->part);
  free(t->origin);
}

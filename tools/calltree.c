/*
** The call tree of a report: nodes with their figures, children in order.
**
** The profile's own tree has callers only, and figures by origin. Here a leaf
** is a node as well, all types of a stack are one, and sites that a report
** does not tell apart are one.
*/

#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "mem.h"

/* The node of SITE, called by PARENT. */
static uint32_t tree_node(LpTree *t, uint32_t parent, uint32_t site)
{
  uint64_t key = (uint64_t)parent << 32 | site;
  uint32_t id = lp_idmap_get(&t->edges, key);
  if (id != LP_NONE)
    return id;
  id = t->n++;
  t->node = lp_grow(t->node, &t->nodes, t->n, sizeof(LpTreeNode));
  t->node[id].parent = parent;
  t->node[id].site = site;
  lp_idmap_put(&t->edges, key, id);
  return id;
}

/* The site that stands for each site: itself, or with NEAR the first one of the
** same line, approximate or not.
*/
static uint32_t *tree_sites(const LpProfile *prof, int near)
{
  uint32_t *as = lp_alloc(prof->sitekeys.n * sizeof(uint32_t)), i;
  LpIntern lines = {0};
  LpIdMap first = {0};
  for (i = 0; i < prof->sitekeys.n; i++) {
    struct {
      uint64_t func, line;
    } key = {prof->row[i].func, prof->row[i].line};
    uint32_t line = lp_intern(&lines, &key, sizeof(key));
    as[i] = near ? lp_idmap_get(&first, line) : i;
    if (as[i] == LP_NONE) {
      lp_idmap_put(&first, line, i);
      as[i] = i;
    }
  }
  lp_intern_free(&lines);
  lp_idmap_free(&first);
  return as;
}

/* Add the figures of an origin to a node. */
static void tree_add(LpTreeNode *n, const LpFigures *f)
{
  static const int plus[][2] = {
      [LP_METRIC_BYTES] = {LP_ALLOC_BYTES, LP_REALLOC_BYTES},
      [LP_METRIC_ALLOCATIONS] = {LP_ALLOCS, LP_REALLOCS},
      [LP_METRIC_LIVE] = {LP_ALLOC_BYTES, LP_REALLOC_BYTES}};
  int i;
  for (i = 0; i <= LP_METRIC_LIVE; i++) {
    n->n[i] += f->n[plus[i][0]] + f->n[plus[i][1]];
    n->part[i] += f->part[plus[i][0]] + f->part[plus[i][1]];
  }
  n->n[LP_METRIC_LIVE] -= f->n[LP_LEFT_BYTES];
  n->part[LP_METRIC_LIVE] -= f->part[LP_LEFT_BYTES];
}

/* Make the tree of a profile; every node has what happened there itself. With
** NEAR, approximate lines are no lines of their own.
*/
void lp_tree_open(LpTree *t, const LpProfile *prof, int near)
{
  const LpOrigins *o = &prof->origins;
  uint32_t *as = tree_sites(prof, near);
  uint32_t *node = lp_alloc(o->nnode * sizeof(uint32_t)), i;
  memset(t, 0, sizeof(*t));
  node[0] = tree_node(t, LP_NODE_ROOT, LP_NONE);
  for (i = 1; i < o->nnode; i++)
    node[i] = tree_node(t, node[o->node[i].parent], as[o->node[i].site]);
  for (i = 0; i < o->nnode && i < o->nsamples; i++)
    t->node[node[i]].n[LP_METRIC_SAMPLES] += o->samples[i];
  for (i = 0; i < o->n; i++) {
    LpFigures f = lp_origins_figures(o, i);
    uint32_t leaf =
        tree_node(t, node[o->callers[i]], as[lp_cell_site(&o->cell[i])]);
    if (i == LP_ORIGIN_BEFORE && prof->nobefore)
      continue;
    if (i == LP_ORIGIN_BEFORE)
      f.n[LP_LEFT_BYTES] -= prof->base;
    tree_add(&t->node[leaf], &f);
  }
  free(node);
  free(as);
}

/* Add to every node what happened further in. */
void lp_tree_total(LpTree *t)
{
  uint32_t i;
  int k;
  for (i = t->n; --i > 0;) {
    for (k = 0; k < LP_NMETRIC; k++) {
      LpTreeNode *parent = &t->node[t->node[i].parent];
      parent->n[k] += t->node[i].n[k];
      parent->part[k] += t->node[i].part[k];
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
  int cmp = s->order(&s->tree->node[x], &s->tree->node[y], s->ctx);
  return cmp ? cmp : x < y ? -1 : x > y;
}

/* Node I is the first child of its parent now. */
static void tree_child(LpTree *t, uint32_t i)
{
  LpTreeNode *n = &t->node[i];
  n->next = t->node[n->parent].child;
  t->node[n->parent].child = i;
}

/* Link all children, in any order. */
void lp_tree_link(LpTree *t)
{
  uint32_t i;
  for (i = t->n; --i > LP_NODE_ROOT;)
    tree_child(t, i);
}

/* Link all children, in this order. */
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

/* The node behind I in a walk through all: into it if IN. *DEPTH goes with it.
** At the end, the root.
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

/* Give the memory back. */
void lp_tree_close(LpTree *t)
{
  lp_idmap_free(&t->edges);
  free(t->node);
}

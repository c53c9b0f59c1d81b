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
#include "label.h"
#include "mem.h"
#include "part.h"

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

/* Is a site in a chunk that is its own source, not a file? Programs that make
** code make many of these, each with a line like many others.
*/
static int tree_made(const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  LpStr chunk;
  if (fi->kind != LP_FUNC_LUA)
    return 0;
  chunk = lp_profile_name(prof, fi->chunk);
  return chunk.n && !strchr("@=", chunk.s[0]);
}

/* Are sites matched by name? Yes in a diff, since only the name of changed code
** is stable.
*/
static int tree_byname(const LpProfile *prof, uint32_t site)
{
  return prof->baseline.present || tree_made(prof, site);
}

/* A number that sites have in common if they are the same. */
static uint32_t tree_same(LpIntern *same, const LpProfile *prof, LpMerge merge,
                          uint32_t site)
{
  struct {
    uint64_t func, line, marks;
  } key = {prof->row[site].func, prof->row[site].line, 0};
  LpBuf b = {0};
  uint32_t id;
  if (!tree_byname(prof, site)) {
    if (merge == LP_MERGE_FUNCTIONS)
      key.line = 0;
    else if (merge != LP_MERGE_LINES)
      key.marks = prof->row[site].marks & ~(uint32_t)LJM_SITE_TRACE;
    return lp_intern(same, &key, sizeof(key));
  }
  if (merge == LP_MERGE_LINES)
    lp_label_frame(&b, prof, site);
  else if (merge == LP_MERGE_FUNCTIONS)
    lp_label_func(&b, prof, site);
  else
    lp_label_whole(&b, prof, site);
  id = lp_intern(same, b.s, b.n);
  lp_buf_free(&b);
  return id;
}

/* The site that stands for each site: the first one that is the same. The
** caller frees them. What is exact to a recorder may be approximate to a
** sampler: where both are present, a line is one site. A line of samples is
** one, compiled or not.
*/
uint32_t *lp_tree_sites(const LpProfile *prof, LpMerge merge)
{
  int none = (merge == LP_MERGE_NONE || merge == LP_MERGE_CALLERS) &&
             !(prof->of & LP_OF_CPU);
  uint32_t *as = lp_alloc(prof->sitekeys.n * sizeof(uint32_t)), i;
  LpIntern same = {0};
  LpIdMap first = {0};
  if (lp_profile_joint(prof) && merge != LP_MERGE_FUNCTIONS)
    merge = LP_MERGE_LINES;
  for (i = 0; i < prof->sitekeys.n; i++) {
    uint32_t id;
    as[i] = i;
    if (i < LP_SITE_FIRST || (none && !tree_byname(prof, i)))
      continue;
    id = tree_same(&same, prof, merge, i);
    as[i] = lp_idmap_get(&first, id);
    if (as[i] == LP_NONE) {
      lp_idmap_put(&first, id, i);
      as[i] = i;
    }
  }
  lp_intern_free(&same);
  lp_idmap_free(&first);
  return as;
}

/* Where in the tree each stack of a profile is. */
typedef struct Places {
  uint8_t *part;    /* By node: lp_parts. NULL: native frames have nodes. */
  uint32_t *caller; /* By node: its stack, as callers of others. */
  uint32_t *node;   /* The same, as a whole. */
  uint32_t *outer;  /* The site of samples without any Lua function. */
  uint32_t *origin; /* By origin: stack and site. */
} Places;

/* The nodes of a profile that are kept, with their callers. */
static uint8_t *places_used(const LpProfile *prof, const LpShape *shape)
{
  const LpOrigins *o = &prof->origins;
  uint8_t *used = lp_zalloc(o->nnode, 1);
  uint32_t i;
  for (i = 0; i < o->n; i++)
    used[o->callers[i]] |= (uint8_t)lp_shape_origin(shape, i);
  for (i = o->nnode; --i > LP_NODE_ROOT;) {
    used[i] |= (uint8_t)lp_shape_node(shape, i);
    used[o->node[i].parent] |= used[i];
  }
  return used;
}

/* Does a stack have samples of its own, on any side? */
static int places_sampled(const LpProfile *prof, uint32_t i)
{
  return lp_metric_samples(prof, LP_NOW, i) ||
         lp_metric_samples(prof, LP_BASE, i);
}

/* What stands for a stack in which no Lua function is known: the mark where it
** is cut, or that it is outside.
*/
static uint32_t places_outer(const LpProfile *prof, uint32_t site)
{
  int mark = site < LP_SITE_FIRST ||
             prof->func[prof->row[site].func].kind == LP_FUNC_MARK;
  return mark ? site : LP_SITE_OUTSIDE;
}

/* Make the nodes of a stack whose samples are charged to the innermost Lua
** function. Other frames have no nodes.
*/
static void places_lua(LpTree *t, const LpProfile *prof, const LpTreeOf *of,
                       Places *p, uint32_t i, uint32_t site)
{
  int flat = of->merge == LP_MERGE_CALLERS;
  uint32_t parent = prof->origins.node[i].parent;
  p->outer[i] = parent ? p->outer[parent] : places_outer(prof, site);
  p->caller[i] =
      lp_profile_lua(prof, site)
          ? tree_node(t, flat ? LP_NODE_ROOT : p->caller[parent], site)
          : p->caller[parent];
  p->node[i] = p->caller[i];
  if (!p->caller[i] && places_sampled(prof, i))
    p->node[i] = tree_node(t, LP_NODE_ROOT, p->outer[i]);
}

/* Make the nodes of a stack. A sampler sees all native frames of a stack, a
** recorder only those that Lua called: where both are in one tree, callers are
** Lua functions only, and native frames are inside of the innermost of them.
*/
static void places_node(LpTree *t, const LpProfile *prof, const LpTreeOf *of,
                        Places *p, uint32_t i, uint32_t site)
{
  uint32_t parent = prof->origins.node[i].parent;
  if (p->part) {
    places_lua(t, prof, of, p, i, site);
  } else if (of->merge == LP_MERGE_CALLERS) {
    p->node[i] = p->caller[i] = tree_node(t, LP_NODE_ROOT, site);
  } else if (!lp_profile_joint(prof) || lp_profile_lua(prof, site)) {
    p->node[i] = p->caller[i] = tree_node(t, p->caller[parent], site);
  } else {
    p->caller[i] = p->caller[parent];
    p->node[i] = tree_node(t, p->node[parent], site);
  }
}

/* Make the nodes of all that is kept. */
static Places tree_nodes(LpTree *t, const LpProfile *prof, const LpTreeOf *of)
{
  const LpOrigins *o = &prof->origins;
  uint32_t *as = lp_tree_sites(prof, of->merge), i;
  Places p = {.part = lp_luafirst(prof) && !of->native ? lp_parts(prof) : NULL,
              .caller = lp_zalloc(o->nnode, sizeof(uint32_t)),
              .node = lp_zalloc(o->nnode, sizeof(uint32_t)),
              .outer = lp_zalloc(o->nnode, sizeof(uint32_t)),
              .origin = lp_zalloc(o->n, sizeof(uint32_t))};
  uint8_t *used = places_used(prof, of->shape);
  int flat = of->merge == LP_MERGE_CALLERS;
  tree_node(t, LP_NODE_ROOT, LP_NONE);
  for (i = 1; i < o->nnode; i++)
    if (used[i])
      places_node(t, prof, of, &p, i, as[o->node[i].site]);
  for (i = 0; i < o->n; i++)
    if (lp_shape_origin(of->shape, i))
      p.origin[i] = tree_node(t, flat ? 0 : p.caller[o->callers[i]],
                              as[lp_cell_site(&o->cell[i])]);
  free(used);
  free(as);
  return p;
}

/* Free it. */
static void places_free(Places *p)
{
  free(p->part);
  free(p->caller);
  free(p->node);
  free(p->outer);
  free(p->origin);
}

/* Fill in the self samples of nodes. */
static void tree_samples(LpValue *self, const LpProfile *prof,
                         const LpShape *shape, const Places *p, LpSide side)
{
  uint32_t i;
  for (i = 1; i < prof->origins.nnode; i++)
    if (lp_shape_node(shape, i))
      self[p->node[i]].n += lp_metric_samples(prof, side, i);
}

/* Fill in samples in allocation and collection, charged to the Lua function
** that caused them.
*/
static void tree_allocgc(LpValue *self, const LpProfile *prof,
                         const LpShape *shape, const Places *p, LpSide side)
{
  uint32_t *of = lp_allocgc(prof), i;
  for (i = 1; i < prof->origins.nnode; i++)
    if (of[i] != LP_NONE && lp_shape_node(shape, i))
      self[p->node[of[i]]].n += lp_metric_samples(prof, side, i);
  free(of);
}

/* Fill in the samples that count for one of LP_METRIC_PARTS. */
static void tree_part(LpValue *self, const LpProfile *prof,
                      const LpShape *shape, const Places *p, LpSide side,
                      LpMetric metric)
{
  uint32_t i;
  for (i = 1; i < prof->origins.nnode; i++)
    if (p->part[i] == metric && lp_shape_node(shape, i))
      self[p->node[i]].n += lp_metric_samples(prof, side, i);
}

/* Fill in the self values of a metric. */
static void tree_fill(LpTree *t, const LpProfile *prof, const LpShape *shape,
                      const Places *p, LpSide side, LpMetric metric)
{
  const LpOrigins *o = &prof->origins;
  LpValue *self = lp_zalloc(t->n, sizeof(LpValue));
  uint32_t i;
  t->col[side][metric].self = self;
  if (metric == LP_METRIC_SAMPLES)
    tree_samples(self, prof, shape, p, side);
  else if (p->part && (LP_METRIC_PARTS & LP_METRIC_BIT(metric)))
    tree_part(self, prof, shape, p, side, metric);
  else if (metric == LP_METRIC_ALLOC_GC)
    tree_allocgc(self, prof, shape, p, side);
  else
    for (i = 0; i < o->n; i++)
      if (lp_shape_origin(shape, i))
        lp_value_add(&self[p->origin[i]], lp_metric_of(prof, side, i, metric));
}

void lp_tree_open(LpTree *t, const LpProfile *prof, const LpTreeOf *of)
{
  LpMetric m;
  Places p;
  memset(t, 0, sizeof(*t));
  t->metrics = of->metrics;
  p = tree_nodes(t, prof, of);
  for (m = 0; m < LP_NMETRIC; m++) {
    if (!(t->metrics & LP_METRIC_BIT(m)))
      continue;
    tree_fill(t, prof, of->shape, &p, LP_NOW, m);
    if (prof->baseline.present)
      tree_fill(t, prof, of->shape, &p, LP_BASE, m);
  }
  if (of->places) {
    t->place = p.node;
    t->part = p.part;
    t->origin = p.origin;
    p.origin = NULL;
    p.node = NULL;
    p.part = NULL;
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
    c->total = lp_alloc(t->n * sizeof(LpValue));
    memcpy(c->total, c->self, t->n * sizeof(LpValue));
    for (i = t->n; --i > 0;)
      lp_value_add(&c->total[t->node[i].parent], c->total[i]);
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
  lp_idmap_free(&t->edges);
  free(t->node);
  free(t->place);
  free(t->part);
  free(t->origin);
}

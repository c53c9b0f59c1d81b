/*
** Figures of a summary by line of code.
**
** What is not of a Lua line itself counts for the Lua line around it: the
** nearest one among the callers. Where there is none, it is a line of its own.
*/

#include <stdlib.h>

#include "label.h"
#include "lines.h"

int lp_summary_lua(const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  if (site < LP_SITE_FIRST || !lp_profile_lua(prof, site))
    return 0;
  return fi->kind != LP_FUNC_LUA ||
         (!lp_label_builtin(fi) && lp_profile_name(prof, fi->chunk).n);
}

/* -- Memory --------------------------------------------------------------- */

/* By node of the profile: the nearest Lua site of its stack, or LP_NONE. */
static uint32_t *lines_near(const LpProfile *prof)
{
  const LpOrigins *o = &prof->origins;
  uint32_t *near = lp_alloc(o->nnode * sizeof(uint32_t)), i;
  near[LP_NODE_ROOT] = LP_NONE;
  for (i = 1; i < o->nnode; i++)
    near[i] = lp_summary_lua(prof, o->node[i].site) ? o->node[i].site
                                                    : near[o->node[i].parent];
  return near;
}

/* The site that an origin counts for. */
static uint32_t lines_site(const LpProfile *prof, const uint32_t *near,
                           uint32_t origin)
{
  const LpOrigins *o = &prof->origins;
  uint32_t site = lp_cell_site(&o->cell[origin]);
  uint32_t caller = near[o->callers[origin]];
  return caller == LP_NONE || lp_summary_lua(prof, site) ? site : caller;
}

/* Add one origin. */
static void lines_origin(LpLineSum *to, const LpProfile *prof, uint32_t origin)
{
  unsigned side, sides = prof->baseline.present ? LP_NSIDE : 1;
  LpFigures f = lp_origins_figures(&prof->origins, origin);
  int i;
  for (side = 0; side < sides; side++) {
    lp_value_add(&to->n[side][LP_SUMMARY_BYTES],
                 lp_metric_of(prof, side, origin, LP_METRIC_BYTES));
    if (origin != LP_ORIGIN_BEFORE)
      lp_value_add(&to->n[side][LP_SUMMARY_LIVE],
                   lp_metric_of(prof, side, origin, LP_METRIC_LIVE));
  }
  for (i = 0; i < 3 && origin != LP_ORIGIN_BEFORE; i++)
    lp_value_add(&to->quarter[i],
                 (LpValue){f.n[LP_QUARTER_1 + i], f.part[LP_QUARTER_1 + i]});
}

void lp_lines_memory(LpLineSum *sum, LpLineSum *all, const LpProfile *prof,
                     const LpShape *shape, const uint32_t *as)
{
  uint32_t *near = lines_near(prof), i;
  for (i = 0; i < prof->origins.n; i++) {
    if (!lp_shape_origin(shape, i))
      continue;
    lines_origin(&sum[as[lines_site(prof, near, i)]], prof, i);
    lines_origin(all, prof, i);
  }
  free(near);
}

/* -- CPU time ------------------------------------------------------------- */

typedef struct Lines {
  LpLineSum *sum;
  const LpProfile *prof;
  const LpTree *tree;
  uint32_t *near;   /* By node of the tree: the nearest Lua node, or root. */
  uint32_t *inside; /* By site: nodes of it around the one that is visited. */
  uint32_t *path;   /* Sites of the node that is visited and those around. */
  size_t npath;     /* Room. */
  int last;         /* Depth of the node before. */
} Lines;

/* Add a node's column to a figure of a line. */
static void lines_add(LpLineSum *to, const Lines *l, LpSummaryFigure f,
                      LpMetric m, uint32_t node, int total)
{
  int side;
  for (side = 0; side < LP_NSIDE; side++) {
    const LpTreeColumn *c = &l->tree->col[side][m];
    if (c->self)
      lp_value_add(&to->n[side][f], (total ? c->total : c->self)[node]);
  }
}

/* What a node has itself counts for the nearest Lua line, or for its own site
** if there is none.
*/
static void lines_self(const Lines *l, uint32_t node)
{
  uint32_t near = l->near[node] == LP_NODE_ROOT ? node : l->near[node];
  LpLineSum *to = &l->sum[l->tree->node[near].site];
  lines_add(to, l, LP_SUMMARY_SAMPLES, LP_METRIC_SAMPLES, node, 0);
  lines_add(to, l, LP_SUMMARY_ALLOC_GC, LP_METRIC_ALLOC_GC, node, 0);
}

/* Node I, DEPTH deep: of a line, only the outermost node on a stack has the
** line's total.
*/
static void lines_visit(Lines *l, uint32_t i, int depth)
{
  uint32_t site = l->tree->node[i].site;
  l->path = lp_grow(l->path, &l->npath, (size_t)depth + 1, sizeof(uint32_t));
  for (; l->last >= depth; l->last--)
    l->inside[l->path[l->last]]--;
  l->path[depth] = site;
  l->last = depth;
  if (!l->inside[site]++)
    lines_add(&l->sum[site], l, LP_SUMMARY_TOTAL, LP_METRIC_SAMPLES, i, 1);
}

/* Visit all nodes. Parents have smaller numbers. */
static void lines_walk(Lines *l, uint64_t *outside)
{
  const LpTree *t = l->tree;
  LpValue none = {0, 0};
  uint32_t i;
  int depth = 0;
  for (i = 1; i < t->n; i++) {
    l->near[i] = lp_summary_lua(l->prof, t->node[i].site)
                     ? i
                     : l->near[t->node[i].parent];
    lines_self(l, i);
    if (l->near[i] == LP_NODE_ROOT)
      lp_value_add(&none, t->col[LP_NOW][LP_METRIC_SAMPLES].self[i]);
  }
  i = LP_NODE_ROOT;
  while ((i = lp_tree_next(t, i, 1, &depth)) != LP_NODE_ROOT)
    lines_visit(l, i, depth - 1);
  *outside = lp_value_round(none);
}

void lp_lines_cpu(LpLineSum *sum, LpLineSum *all, const LpProfile *prof,
                  const LpShape *shape, uint64_t *outside)
{
  const LpTreeOf of = {.metrics = LP_METRIC_BIT(LP_METRIC_SAMPLES) |
                                  LP_METRIC_BIT(LP_METRIC_ALLOC_GC),
                       .merge = LP_MERGE_LINES,
                       .shape = shape};
  LpTree t;
  Lines l = {.sum = sum, .prof = prof, .tree = &t, .last = -1};
  lp_tree_open(&t, prof, &of);
  lp_tree_total(&t);
  lp_tree_link(&t);
  l.near = lp_zalloc(t.n, sizeof(uint32_t));
  l.inside = lp_zalloc(prof->sitekeys.n, sizeof(uint32_t));
  lines_walk(&l, outside);
  lines_add(all, &l, LP_SUMMARY_SAMPLES, LP_METRIC_SAMPLES, LP_NODE_ROOT, 1);
  lines_add(all, &l, LP_SUMMARY_TOTAL, LP_METRIC_SAMPLES, LP_NODE_ROOT, 1);
  lines_add(all, &l, LP_SUMMARY_ALLOC_GC, LP_METRIC_ALLOC_GC, LP_NODE_ROOT, 1);
  free(l.near);
  free(l.inside);
  free(l.path);
  lp_tree_close(&t);
}

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

/* The site that an origin counts for. The walk keeps the nearest Lua site. */
static uint32_t lines_site(LpWalk *w, const LpProfile *prof, uint32_t origin)
{
  const LpOrigins *o = &prof->origins;
  uint32_t site = lp_cell_site(&o->cell[origin]), d;
  lp_walk_to(w, &o->calls, o->callers[origin]);
  w->upto[0] = LP_NONE;
  for (d = w->same; d < w->n; d++) {
    uint32_t caller = o->calls.site[w->node[d]];
    w->upto[d + 1] = lp_summary_lua(prof, caller) ? caller : w->upto[d];
  }
  return w->upto[w->n] == LP_NONE || lp_summary_lua(prof, site) ? site
                                                                : w->upto[w->n];
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
  LpWalk walk = {0};
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++) {
    if (!lp_shape_origin(shape, i))
      continue;
    lines_origin(&sum[as[lines_site(&walk, prof, i)]], prof, i);
    lines_origin(all, prof, i);
  }
  lp_walk_free(&walk);
}

/* -- CPU time ------------------------------------------------------------- */

typedef struct Lines {
  LpLineSum *sum, *all;
  const LpProfile *prof;
  LpStackView paths;
  uint32_t *last; /* By site: the last stack that it was in, counted from 1. */
  uint64_t outside;
} Lines;

/* Add a stack's samples to a figure of a line. */
static void lines_add(LpLineSum *to, const Lines *l, LpSummaryFigure f,
                      uint32_t stack)
{
  int side;
  for (side = 0; side < LP_NSIDE; side++)
    to->n[side][f].n += lp_metric_samples(l->prof, side, stack);
}

/* What counts for N sites of the path: the nearest Lua line among them, or the
** innermost, if there is none. *IS tells which.
*/
static LpLineSum *lines_near(const Lines *l, uint32_t n, int *is)
{
  const uint32_t *site = l->paths.site;
  uint32_t i = n;
  while (i && !lp_summary_lua(l->prof, site[i - 1]))
    i--;
  *is = i != 0;
  return &l->sum[site[(i ? i : n) - 1]];
}

/* Of a line, a stack counts once, however often the line is in it. */
static void lines_stack(Lines *l, uint32_t stack)
{
  const LpStackView *p = &l->paths;
  uint32_t i, n;
  int lua;
  lp_stackview_stack(&l->paths, stack);
  lines_add(lines_near(l, p->n, &lua), l, LP_SUMMARY_SAMPLES, stack);
  lines_add(l->all, l, LP_SUMMARY_SAMPLES, stack);
  lines_add(l->all, l, LP_SUMMARY_TOTAL, stack);
  if (!lua)
    l->outside += lp_metric_samples(l->prof, LP_NOW, stack);
  for (i = 0; i < p->n; i++) {
    if (l->last[p->site[i]] == stack + 1)
      continue;
    l->last[p->site[i]] = stack + 1;
    lines_add(&l->sum[p->site[i]], l, LP_SUMMARY_TOTAL, stack);
  }
  n = lp_stackview_counts(p, stack, LP_METRIC_ALLOC_GC);
  if (!n)
    return;
  lines_add(lines_near(l, n, &lua), l, LP_SUMMARY_ALLOC_GC, stack);
  lines_add(l->all, l, LP_SUMMARY_ALLOC_GC, stack);
}

void lp_lines_cpu(LpLineSum *sum, LpLineSum *all, const LpProfile *prof,
                  const LpShape *shape, uint64_t *outside)
{
  Lines l = {.sum = sum, .all = all, .prof = prof};
  uint32_t i;
  lp_stackview_open(&l.paths, prof, LP_MERGE_LINES, 0,
                    LP_METRIC_BIT(LP_METRIC_ALLOC_GC));
  l.last = lp_zalloc(prof->sitekeys.n, sizeof(uint32_t));
  for (i = 0; i < prof->sampled.n; i++)
    if (lp_shape_stack(shape, i))
      lines_stack(&l, i);
  *outside = l.outside;
  free(l.last);
  lp_stackview_close(&l.paths);
}

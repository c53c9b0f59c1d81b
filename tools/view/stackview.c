/*
** Paths: the stacks of a profile as a report shows them.
*/

#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "mem.h"
#include "part.h"
#include "stackview.h"

/* -- Which sites are one --------------------------------------------------- */

/* Is a site in a chunk that is its own source, not a file? Programs that make
** code make many of these, each with a line like many others.
*/
static int view_made(const LpProfile *prof, uint32_t site)
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
static int view_byname(const LpProfile *prof, uint32_t site)
{
  return prof->baseline.present || view_made(prof, site);
}

/* A number that sites have in common if they are the same. */
static uint32_t view_same(LpIntern *same, const LpProfile *prof, LpMerge merge,
                          uint32_t site)
{
  struct {
    uint64_t func, line, marks;
  } key = {prof->row[site].func, prof->row[site].line, 0};
  LpBuf b = {0};
  uint32_t id;
  if (!view_byname(prof, site)) {
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
uint32_t *lp_stackview_sites(const LpProfile *prof, LpMerge merge)
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
    if (i < LP_SITE_FIRST || (none && !view_byname(prof, i)))
      continue;
    id = view_same(&same, prof, merge, i);
    as[i] = lp_idmap_add(&first, id, i);
  }
  lp_intern_free(&same);
  lp_idmap_free(&first);
  return as;
}

/* -- Which frames there are ------------------------------------------------ */

void lp_stackview_open(LpStackView *p, const LpProfile *prof, LpMerge merge,
                       int native, unsigned metrics)
{
  uint32_t i;
  memset(p, 0, sizeof(*p));
  p->prof = prof;
  p->merge = merge;
  p->as = lp_stackview_sites(prof, merge);
  p->lua = lp_alloc(prof->sitekeys.n);
  for (i = 0; i < prof->sitekeys.n; i++)
    p->lua[i] = (uint8_t)lp_profile_lua(prof, p->as[i]);
  if (lp_luafirst(prof) && !native)
    p->part = lp_parts(prof);
  else if (metrics & LP_METRIC_BIT(LP_METRIC_ALLOC_GC))
    p->gc = lp_allocgc(prof);
}

/* Set site I of the list. */
static void view_set(LpStackView *p, uint32_t i, uint32_t site)
{
  if (i < p->has && p->list[i] == site)
    return;
  p->list = lp_grow(p->list, &p->room, i + 1u, sizeof(uint32_t));
  p->list[i] = site;
  if (i < p->same)
    p->same = i;
}

/* Go to a node, and list its Lua frames, or all: only what differs from the
** path before. Returns how many there are.
*/
static uint32_t view_follow(LpStackView *p, uint32_t node)
{
  const LpCalls *calls = &p->prof->origins.calls;
  int all = !p->part && !lp_profile_joint(p->prof);
  uint32_t d, n;
  lp_walk_to(&p->walk, calls, node);
  n = p->walk.upto[p->walk.same];
  p->same = p->has;
  for (d = p->walk.same; d < p->walk.n; d++) {
    uint32_t site = calls->site[p->walk.node[d]];
    if (all || p->lua[site])
      view_set(p, n++, p->as[site]);
    p->walk.upto[d + 1] = n;
  }
  return n;
}

/* What stands for a stack in which no Lua function is known: the mark where it
** is cut, or that it is outside.
*/
static uint32_t view_outer(const LpStackView *p)
{
  const LpProfile *prof = p->prof;
  uint32_t site = p->as[prof->origins.calls.site[p->walk.node[0]]];
  int mark = site < LP_SITE_FIRST ||
             prof->func[prof->row[site].func].kind == LP_FUNC_MARK;
  return mark ? site : LP_SITE_OUTSIDE;
}

/* Native frames inside of the innermost Lua function. */
static uint32_t view_inner(LpStackView *p, uint32_t n)
{
  const uint32_t *site = p->prof->origins.calls.site;
  uint32_t d = p->walk.n;
  while (d && !p->lua[site[p->walk.node[d - 1]]])
    d--;
  for (; d < p->walk.n; d++)
    view_set(p, n++, p->as[site[p->walk.node[d]]]);
  return n;
}

/* The list has N sites. */
static void view_end(LpStackView *p, uint32_t n)
{
  p->has = n;
  p->site = p->list;
  p->n = n;
  if (p->same > n)
    p->same = n;
  if (p->merge != LP_MERGE_CALLERS)
    return;
  p->site += n - 1;
  p->n = 1;
  p->same = 0;
}

void lp_stackview_stack(LpStackView *p, uint32_t stack)
{
  const LpCalls *calls = &p->prof->origins.calls;
  uint32_t n = view_follow(p, p->prof->sampled.node[stack]);
  uint32_t charged = p->gc ? p->gc[stack] : 0;
  if (p->part && !n)
    view_set(p, n++, view_outer(p));
  else if (!p->part && lp_profile_joint(p->prof))
    n = view_inner(p, n);
  view_end(p, n);
  p->ncharged = p->walk.upto[charged];
  p->charged =
      charged ? p->as[calls->site[p->walk.node[charged - 1]]] : LP_NONE;
}

void lp_stackview_origin(LpStackView *p, uint32_t origin)
{
  const LpOrigins *o = &p->prof->origins;
  uint32_t n = view_follow(p, o->callers[origin]);
  view_set(p, n++, p->as[lp_cell_site(&o->cell[origin])]);
  view_end(p, n);
  p->ncharged = 0;
  p->charged = LP_NONE;
}

uint32_t lp_stackview_counts(const LpStackView *p, uint32_t stack,
                             LpMetric metric)
{
  if (metric == LP_METRIC_SAMPLES)
    return p->n;
  if (!(LP_METRIC_PARTS & LP_METRIC_BIT(metric)))
    return 0;
  if (p->part)
    return p->part[stack] == metric ? p->n : 0;
  return metric == LP_METRIC_ALLOC_GC ? p->ncharged : 0;
}

void lp_stackview_close(LpStackView *p)
{
  free(p->part);
  free(p->gc);
  free(p->as);
  free(p->lua);
  lp_walk_free(&p->walk);
  free(p->list);
}

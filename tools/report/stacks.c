/*
** Which stacks are written by formats that write each of them in full.
**
** The bound is kept before anything is written: the cost of stacks is added up,
** largest first, until there is no room for the next one. So whatever is
** written is valid and all sums stay what they are, and the work is bounded
** where the cost of a stack takes time by its depth.
*/

#include <stdlib.h>
#include <string.h>

#include "stacks.h"

/* A stack that may be shown. */
typedef struct StacksItem {
  uint64_t n; /* What it has. */
  uint32_t node;
} StacksItem;

uint64_t lp_stacks_self(const LpTree *t, LpSide side, LpMetric metric,
                        uint32_t node)
{
  const LpValue *self = t->col[side][metric].self;
  uint64_t n = self ? lp_value_round(self[node]) : 0;
  return (int64_t)n > 0 ? n : 0;
}

/* The larger value of both sides. */
static uint64_t stacks_larger(const LpTree *t, LpMetric metric, uint32_t node)
{
  uint64_t now = lp_stacks_self(t, LP_NOW, metric, node);
  uint64_t base = lp_stacks_self(t, LP_BASE, metric, node);
  return now > base ? now : base;
}

/* Has a node anything itself, of any metric? */
static int stacks_any(const LpTree *t, uint32_t node)
{
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if (stacks_larger(t, m, node))
      return 1;
  return 0;
}

/* What a percentage is of: the larger sum of both sides. */
static uint64_t stacks_all(const LpTree *t, LpMetric metric)
{
  uint64_t now = 0, base = 0;
  uint32_t i;
  for (i = 1; i < t->n; i++) {
    now += lp_stacks_self(t, LP_NOW, metric, i);
    base += lp_stacks_self(t, LP_BASE, metric, i);
  }
  return now > base ? now : base;
}

/* Most first, then as the tree has them. */
static int stacks_before(const void *a, const void *b)
{
  const StacksItem *x = a, *y = b;
  int cmp = lp_most_first(x->n, y->n);
  return cmp ? cmp : x->node < y->node ? -1 : x->node > y->node;
}

/* List the stacks that --min does not leave out. Returns how many, and counts
** the others.
*/
static uint32_t stacks_list(LpStacks *s, StacksItem *item, const LpTree *t,
                            LpMetric metric, const LpReportOptions *opt)
{
  uint64_t all = stacks_all(t, metric);
  int any = !(opt->min > 0) && !opt->least;
  uint32_t n = 0, i;
  for (i = 1; i < t->n; i++) {
    uint64_t has = stacks_larger(t, metric, i);
    if (!stacks_any(t, i))
      continue;
    if (any || lp_report_enough(opt, has, all))
      item[n++] = (StacksItem){has, i};
    else
      s->rest++;
  }
  return n;
}

void lp_stacks_open(LpStacks *s, const LpTree *t, LpMetric metric,
                    const LpReportOptions *opt, LpStacksCost *cost, void *ctx)
{
  StacksItem *item = lp_alloc(t->n * sizeof(StacksItem));
  uint32_t n, i;
  memset(s, 0, sizeof(*s));
  s->room = lp_report_most(opt);
  s->shown = lp_zalloc(t->n, 1);
  n = stacks_list(s, item, t, metric, opt);
  qsort(item, n, sizeof(StacksItem), stacks_before);
  for (i = 0; i < n; i++) {
    uint64_t bytes = cost(ctx, item[i].node);
    if (bytes > s->room)
      break;
    s->room -= bytes;
    s->shown[item[i].node] = 1;
  }
  s->cut = i < n;
  s->rest += n - i;
  free(item);
}

uint64_t lp_stacks_rest(const LpStacks *s, const LpTree *t, LpSide side,
                        LpMetric metric)
{
  uint64_t sum = 0;
  uint32_t i;
  for (i = 1; i < t->n; i++)
    if (!s->shown[i])
      sum += lp_stacks_self(t, side, metric, i);
  return sum;
}

void lp_stacks_close(LpStacks *s)
{
  free(s->shown);
}

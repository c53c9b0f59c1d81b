/*
** Which nodes of a call tree are in a document of bounded size.
**
** A node weighs the sum of its shares of all metrics. Shares are added up
** without signs, so that no callee weighs more than its caller.
*/

#include <stdlib.h>
#include <string.h>

#include "keep.h"
#include "mem.h"

/* A value without its sign. */
static double keep_size(LpValue v)
{
  return (double)lp_size(lp_value_round(v));
}

/* Add the shares of a metric. */
static void keep_column(double *weight, const LpTree *t, const LpValue *self)
{
  double all = 0;
  uint32_t i;
  for (i = 0; i < t->n; i++)
    all += keep_size(self[i]);
  for (i = 0; all > 0 && i < t->n; i++)
    weight[i] += keep_size(self[i]) / all;
}

double *lp_keep_weights(const LpTree *t)
{
  const LpTreeColumn *c = &t->col[0][0];
  double *weight = lp_zalloc(t->n, sizeof(double));
  uint32_t i;
  for (; c < &t->col[0][0] + LP_NSIDE * LP_NMETRIC; c++)
    if (c->self)
      keep_column(weight, t, c->self);
  for (i = t->n; --i > LP_NODE_ROOT;)
    weight[t->node[i].parent] += weight[i];
  return weight;
}

/* Heaviest first. */
static int keep_before(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

double lp_keep_limit(const double *weight, uint32_t n, uint32_t most)
{
  double *list, limit;
  if (n <= most)
    return 0;
  list = lp_alloc(n * sizeof(double));
  memcpy(list, weight, n * sizeof(double));
  qsort(list, n, sizeof(double), keep_before);
  limit = list[most];
  free(list);
  return limit;
}

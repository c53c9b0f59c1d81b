/*
** The call tree of a report: nodes with their figures, children in order.
*/

#ifndef LP_CALLTREE_H
#define LP_CALLTREE_H

#include "profile.h"

/* What is told of a node, in whole numbers and parts. */
typedef enum LpMetric {
  LP_METRIC_BYTES,       /* Allocated, by reallocations too. */
  LP_METRIC_ALLOCATIONS, /* Reallocations included. */
  LP_METRIC_LIVE,        /* Bytes live at the end, modulo 2^64. */
  LP_METRIC_SAMPLES,     /* Of CPU time. */
  LP_NMETRIC
} LpMetric;

typedef struct LpTreeNode {
  uint32_t parent; /* Always a smaller number; of the root, itself. */
  uint32_t site;   /* As in LpProfile.row; of the root, none. */
  uint32_t child;  /* The first one, or 0. */
  uint32_t next;   /* The next one of its parent, or 0. */
  uint64_t n[LP_NMETRIC];
  uint64_t part[LP_NMETRIC];
} LpTreeNode;

typedef struct LpTree {
  LpIdMap edges;
  LpTreeNode *node;
  size_t nodes; /* Room. */
  uint32_t n;
} LpTree;

/* Which of two nodes comes first: as for qsort. */
typedef int (*LpTreeOrder)(const LpTreeNode *a, const LpTreeNode *b, void *ctx);

void lp_tree_open(LpTree *t, const LpProfile *prof, int near);
void lp_tree_total(LpTree *t);
void lp_tree_link(LpTree *t);
void lp_tree_sort(LpTree *t, LpTreeOrder order, void *ctx);
uint32_t lp_tree_next(const LpTree *t, uint32_t i, int in, int *depth);
void lp_tree_close(LpTree *t);

/* A metric of a node. */
static inline uint64_t lp_tree_metric(const LpTreeNode *n, LpMetric metric)
{
  return lp_round(n->n[metric], n->part[metric]);
}

#endif

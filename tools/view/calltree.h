/*
** The call tree of a report: nodes with their metrics, children in order.
*/

#ifndef LP_CALLTREE_H
#define LP_CALLTREE_H

#include "stackview.h"
#include "shape.h"

/* What a tree is made of. */
typedef struct LpTreeOf {
  unsigned metrics; /* Bits of LpMetric. */
  LpMerge merge;
  const LpShape *shape; /* What is left out; NULL: nothing is. */
  int native;           /* Samples are of native functions, whatever the profile
                        ** says. */
  int places;           /* Keep LpTree.place, .part and .origin. */
} LpTreeOf;

typedef struct LpTreeNode {
  uint32_t parent; /* Always a smaller number; of the root, itself. */
  uint32_t site;   /* As in LpProfile.row; of the root, none. */
  uint32_t child;  /* The first one, or 0. */
  uint32_t next;   /* The next one of its parent, or 0. */
} LpTreeNode;

/* A metric, by node. */
typedef struct LpTreeColumn {
  LpValue *self;  /* Of the node itself, */
  LpValue *total; /* and of all further in; from lp_tree_total. */
} LpTreeColumn;

typedef struct LpTree {
  LpCalls calls; /* Parents and sites, to find nodes by. */
  LpTreeNode *node;
  size_t nodes; /* Room. */
  uint32_t n;
  unsigned metrics; /* Bits of LpMetric that have columns. */
  LpTreeColumn col[LP_NSIDE][LP_NMETRIC];
  /* By sampled stack, if they were asked for: */
  uint32_t *place;  /* where its samples are, */
  uint8_t *part;    /* and as lp_parts. NULL: native frames have nodes. */
  uint32_t *origin; /* By origin of the profile, the same: its node. */
} LpTree;

/* Which of two nodes comes first: as for qsort. */
typedef int (*LpTreeOrder)(const LpTree *t, uint32_t a, uint32_t b, void *ctx);

/* Build the tree of a profile with the columns of self metrics. The caller
** frees it with lp_tree_close.
*/
void lp_tree_open(LpTree *t, const LpProfile *prof, const LpTreeOf *of);

/* Round self metrics of samples to whole numbers so that their sums are the
** rounded sums.
*/
void lp_tree_whole(LpTree *t);

/* Compute the totals from the self metrics. */
void lp_tree_total(LpTree *t);

/* Link the children of all nodes, in any order. */
void lp_tree_link(LpTree *t);

/* Link the children of all nodes in this order. */
void lp_tree_sort(LpTree *t, LpTreeOrder order, void *ctx);

/* The node after I in a preorder walk; its children are skipped unless IN.
** *DEPTH is updated. Returns the root at the end.
*/
uint32_t lp_tree_next(const LpTree *t, uint32_t i, int in, int *depth);

/* Free the memory. */
void lp_tree_close(LpTree *t);

/* A metric of a node itself. */
static inline uint64_t lp_tree_self(const LpTree *t, uint32_t node,
                                    LpMetric metric)
{
  return lp_value_round(t->col[LP_NOW][metric].self[node]);
}

/* The same, with all that is further in. */
static inline uint64_t lp_tree_totals(const LpTree *t, uint32_t node,
                                      LpMetric metric)
{
  return lp_value_round(t->col[LP_NOW][metric].total[node]);
}

#endif

/*
** An inverted call tree: from the innermost frame to its callers.
*/

#ifndef LP_CALLERS_H
#define LP_CALLERS_H

#include "calltree.h"

/* No more nodes are made: of many deep stacks that all are kept, there could be
** as many as all of them have frames.
*/
#define LP_CALLERS_MAX (1u << 20)

/* Is N, of what a line stands for, enough to be shown? */
typedef int (*LpCallersKeep)(uint64_t n, void *ctx);

/* Build the tree of callers of OF, with totals of METRIC only. Nodes that KEEP
** rejects are left out; CTX is passed to it. The caller frees T with
** lp_tree_close.
*/
void lp_callers_open(LpTree *t, const LpTree *of, LpMetric metric,
                     LpCallersKeep keep, void *ctx);

#endif

/*
** The samples of a call tree by thread and part, which are labels.
*/

#ifndef LP_LABELLED_H
#define LP_LABELLED_H

#include "calltree.h"

/* Samples of a node itself. */
typedef struct LpLabelled {
  uint32_t node;   /* Of the tree. */
  uint32_t part;   /* LpMetric: what a Lua line did; LP_NMETRIC: unknown. */
  uint32_t thread; /* Of LpCpu.threads. */
  uint64_t samples;
} LpLabelled;

/* The samples of tree T, which was made with `places` and SHAPE of a profile
** with LP_WANT_THREADS: N entries in the order of node, part and thread. The
** caller frees them.
*/
LpLabelled *lp_labelled(const LpTree *t, const LpProfile *prof,
                        const LpShape *shape, size_t *n);

/* Append the value of a label of what was recorded of memory: nothing if it is
** of several processes of which it is not the same, or if it is not known.
*/
void lp_labelled_memory(LpBuf *b, const LpProfile *prof, LpPickKey key);

#endif

/*
** Samples of CPU time by stack.
**
** A stack is a number of its own, not the node of its innermost frame: most
** nodes of a call tree are only on the way to others.
*/

#ifndef LP_SAMPLED_H
#define LP_SAMPLED_H

#include "idmap.h"

typedef struct LpSampled {
  LpIdMap ids;       /* By node: its stack. */
  uint32_t *node;    /* By stack: that of its innermost frame, */
  size_t nodes;      /* room, */
  uint32_t n;        /* for so many. */
  uint64_t *samples; /* By stack, */
  size_t nsamples;   /* for so many: others have none. */
} LpSampled;

/* Count COUNT samples whose whole stack is NODE. Returns the stack. */
uint32_t lp_sampled_add(LpSampled *s, uint32_t node, uint64_t count);

/* Free the memory. There are no stacks then. */
void lp_sampled_free(LpSampled *s);

#endif

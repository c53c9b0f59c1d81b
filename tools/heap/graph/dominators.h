/*
** Dominators: the object without which another one could not be reached, and
** all that each object keeps alive.
*/

#ifndef LP_DOMINATORS_H
#define LP_DOMINATORS_H

#include "graph.h"

/* The dominator tree of a graph. Objects that cannot be reached are in none. */
typedef struct LpDominators {
  uint32_t *order;    /* Objects that are reached, each behind its dominator. */
  uint32_t n;         /* How many, the root included. */
  uint32_t *parent;   /* By number of the object: its dominator, or LP_NONE. */
  uint64_t *retained; /* By number: bytes that it keeps alive, its own too. */
} LpDominators;

/* Compute the dominators of a sealed graph. Only references are followed, in
** steps whose number is near that of the references; there is no recursion.
*/
void lp_dominators(const LpGraph *g, LpDominators *d);

/* Free the memory. */
void lp_dominators_free(LpDominators *d);

/* Is the object reached from a root? */
static inline int lp_dominators_has(const LpDominators *d, uint32_t id)
{
  return id == LP_GRAPH_ROOT || d->parent[id] != LP_NONE;
}

#endif

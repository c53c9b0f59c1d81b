/*
** The dominator tree from the root down.
*/

#ifndef LP_KIDS_H
#define LP_KIDS_H

#include "dominators.h"

typedef struct LpKids {
  uint32_t *first; /* By object: one that it dominates directly, or LP_NONE. */
  uint32_t *next;  /* The next one that its dominator dominates, or LP_NONE. */
} LpKids;

/* A heap's references, and both directions of its dominator tree. */
typedef struct LpDomTree {
  const LpGraph *g;
  const LpDominators *dom;
  const LpKids *kids;
} LpDomTree;

/* Turn the dominator tree of N objects round. Of those that one dominates, the
** ones with a low number come first.
*/
void lp_kids_open(LpKids *k, const LpDominators *d, size_t n);

/* Free the memory. */
void lp_kids_free(LpKids *k);

/* The object of the tree below TOP that comes behind AT and all that AT
** dominates; LP_NONE at the end.
*/
static inline uint32_t lp_kids_skip(const LpKids *k, const LpDominators *d,
                                    uint32_t top, uint32_t at)
{
  while (at != top && k->next[at] == LP_NONE)
    at = d->parent[at];
  return at == top ? LP_NONE : k->next[at];
}

/* The object behind AT, where each comes before those that it dominates. */
static inline uint32_t lp_kids_walk(const LpKids *k, const LpDominators *d,
                                    uint32_t top, uint32_t at)
{
  return k->first[at] != LP_NONE ? k->first[at] : lp_kids_skip(k, d, top, at);
}

#endif

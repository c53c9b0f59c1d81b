/*
** A walk from stack to stack of a call tree.
**
** Whoever computes something along a stack keeps it by depth, in UPTO: what a
** stack has in common with the one before need not be computed again.
*/

#ifndef LP_WALK_H
#define LP_WALK_H

#include "calls.h"

/* Zeros are the start. */
typedef struct LpWalk {
  uint32_t *node; /* The nodes of the stack, the outermost first, without the
                  ** root. */
  size_t room;
  uint32_t n;    /* So many. */
  uint32_t same; /* The first of them, so many, the stack before had as well. */
  uint32_t *upto; /* The user's own, of so many of them: 0 to N. Up to SAME they
                  ** are from before; the first is 0 at the start. */
  size_t uptos;   /* Room. */
  uint32_t *back; /* New ones, the innermost first. */
  size_t backs;
} LpWalk;

/* Go to the stack whose innermost frame is NODE. */
void lp_walk_to(LpWalk *w, const LpCalls *c, uint32_t node);

/* Free the memory. */
void lp_walk_free(LpWalk *w);

#endif

/*
** Cycles among shared kids: kids that lead to each other are one group.
*/

#ifndef LP_CYCLES_H
#define LP_CYCLES_H

#include "siblings.h"

typedef struct LpCycles {
  uint32_t n;      /* Groups. They lead to those with a lower number only. */
  uint32_t *of;    /* By kid: its group; LP_NONE of one that is not shared. */
  uint32_t *order; /* Shared kids, those of a group beside each other: */
  uint32_t *first; /* order[first[c]] to order[first[c + 1] - 1]. */
} LpCycles;

/* Find the groups; the caller frees them with lp_cycles_close. */
void lp_cycles_open(LpCycles *c, const LpSiblings *s);

/* Free the memory. */
void lp_cycles_close(LpCycles *c);

#endif

/*
** Cycles among shared kids: kids that lead to each other are one. What refers
** to which is told of cycles, so nobody has to look for what was met before.
*/

#ifndef LP_CYCLES_H
#define LP_CYCLES_H

#include "siblings.h"

/* What refers to which, by number: I to to[first[I]], ... to[first[I + 1] - 1],
** to each once.
*/
typedef struct LpRefs {
  uint32_t *first, *to;
} LpRefs;

typedef struct LpCycles {
  uint32_t n;      /* Cycles. They refer to those with a lower number only. */
  uint32_t *of;    /* By kid: its cycle; LP_NONE of one that is not shared. */
  uint32_t *order; /* Shared kids, those of a cycle beside each other: */
  uint32_t *first; /* order[first[c]] to order[first[c + 1] - 1]. */
  LpRefs refs;     /* Of what is in one, or dominated by it, to others. */
} LpCycles;

/* Find the cycles; the caller frees them with lp_cycles_close. */
void lp_cycles_open(LpCycles *c, const LpDomTree *t, const LpSiblings *s);

/* Free the memory. */
void lp_cycles_close(LpCycles *c);

/* Bytes that the objects of a cycle keep. */
uint64_t lp_cycles_bytes(const LpCycles *c, const LpDomTree *t,
                         const LpSiblings *s, uint32_t cycle);

/* Cycles that refer to one with a MARK get one, too. */
void lp_cycles_above(const LpCycles *c, uint8_t *mark);

#endif

/*
** Sets of few numbers. Equal sets have the same number.
*/

#ifndef LP_SETS_H
#define LP_SETS_H

#include "idmap.h"
#include "intern.h"

#define LP_SET_MOST  32 /* Numbers in a set. One with more is LP_SET_MANY. */
#define LP_SET_EMPTY 0
#define LP_SET_MANY  1

typedef struct LpSets {
  LpIntern sets;
  LpIdMap unions; /* Of two sets. */
} LpSets;

/* Start; the caller frees the memory with lp_sets_close. */
void lp_sets_open(LpSets *s);

/* Free the memory. */
void lp_sets_close(LpSets *s);

/* The set of one number. */
uint32_t lp_sets_one(LpSets *s, uint32_t n);

/* The union of two sets. */
uint32_t lp_sets_union(LpSets *s, uint32_t a, uint32_t b);

/* Copy a set, in order. Returns how many numbers it has. */
size_t lp_sets_get(const LpSets *s, uint32_t set, uint32_t n[LP_SET_MOST]);

#endif

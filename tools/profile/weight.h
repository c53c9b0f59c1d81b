/*
** How many objects, and bytes, a sample stands for.
*/

#ifndef LP_WEIGHT_H
#define LP_WEIGHT_H

#include <stdint.h>

/* Whole numbers, and parts of 2^-32 below 1. */
typedef struct LpWeight {
  uint64_t n, npart;
  uint64_t bytes, bytespart;
} LpWeight;

/* Bytes and their parts as one number, in 2^-32. */
typedef __int128 LpFixed;

#define LP_WEIGHT_SIZES 256 /* So many sizes are remembered. */

typedef struct LpScale {
  uint64_t sample; /* Bytes between two samples; 0: all are recorded. */
  uint64_t size[LP_WEIGHT_SIZES];
  LpWeight weight[LP_WEIGHT_SIZES];
} LpScale;

/* Prepare the weights for one sample in SAMPLE bytes. */
void lp_scale_open(LpScale *s, uint64_t sample);

/* The objects and bytes that a sampled object of SIZE bytes stands for. */
LpWeight lp_weigh(LpScale *s, uint64_t size);

/* Add WHAT and its PART, below 1, to a number and its part. */
static inline void lp_parts_add(uint64_t *n, uint64_t *part, uint64_t what,
                                uint64_t whatpart)
{
  *part += whatpart;
  *n += what + (*part >> 32);
  *part &= UINT32_MAX;
}

/* Subtract WHAT and its PART. */
static inline void lp_parts_sub(uint64_t *n, uint64_t *part, uint64_t what,
                                uint64_t whatpart)
{
  *part -= whatpart;
  *n -= what + (*part >> 63);
  *part &= UINT32_MAX;
}

/* Add B to A. */
static inline void lp_weight_add(LpWeight *a, const LpWeight *b)
{
  lp_parts_add(&a->n, &a->npart, b->n, b->npart);
  lp_parts_add(&a->bytes, &a->bytespart, b->bytes, b->bytespart);
}

/* Subtract B from A, modulo 2^64. */
static inline void lp_weight_sub(LpWeight *a, const LpWeight *b)
{
  lp_parts_sub(&a->n, &a->npart, b->n, b->npart);
  lp_parts_sub(&a->bytes, &a->bytespart, b->bytes, b->bytespart);
}

/* Its bytes. */
static inline LpFixed lp_weight_fixed(const LpWeight *w)
{
  return ((LpFixed)w->bytes << 32) + (LpFixed)w->bytespart;
}

/* The next whole number, modulo 2^64. */
static inline uint64_t lp_fixed_round(LpFixed f)
{
  return (uint64_t)((f + 0x80000000) >> 32);
}

#endif

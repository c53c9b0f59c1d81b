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

#define LP_WEIGHT_SIZES 256 /* So many sizes are remembered. */

typedef struct LpScale {
  uint64_t sample; /* Bytes between two samples; 0: all is told. */
  uint64_t size[LP_WEIGHT_SIZES];
  LpWeight weight[LP_WEIGHT_SIZES];
} LpScale;

void lp_scale_open(LpScale *s, uint64_t sample);
LpWeight lp_weigh(LpScale *s, uint64_t size);

#endif

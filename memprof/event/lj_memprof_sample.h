/*
** Samples of the bytes that are allocated.
*/

#ifndef _LJ_MEMPROF_SAMPLE_H
#define _LJ_MEMPROF_SAMPLE_H

#include "lj_memprof.h"

#define MP_MAXSAMPLE (1u << 30) /* Bytes between two samples. */

typedef struct MPSample MPSample;

/* What META records of them. */
typedef struct MPSampling {
  uint64_t bytes; /* Mean distance of two samples. */
  uint64_t seed;
} MPSampling;

/*
** Begins to take a sample every so many bytes. A seed of 0 is chosen here.
** Returns 0 without memory.
*/
LJ_FUNC int lj_memprof_newsample(MPState *mp, uint64_t bytes, uint64_t seed);

/* Frees what samples need, if anything. */
LJ_FUNC void lj_memprof_freesample(MPState *mp);

/* Takes the place of a VM's allocator while samples are taken. */
LJ_FUNC void *lj_memprof_sampled(void *ud, void *ptr, size_t osize,
                                 size_t nsize);

#endif

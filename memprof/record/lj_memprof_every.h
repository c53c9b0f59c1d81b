/*
** Heap dumps that a recording takes again and again, of which the newest ones
** are kept. Child processes write them.
*/

#ifndef _LJ_MEMPROF_EVERY_H
#define _LJ_MEMPROF_EVERY_H

#include "lj_memprof.h"

/* Set by lj_memprof_newevery(), freed with the recording. */
typedef struct MPEvery {
  uint64_t ns;     /* Between two dumps; or */
  uint64_t bytes;  /* how many more the VM has than at the last one. */
  uint64_t due;    /* The time, or the bytes, of the next one; 0: of none. */
  unsigned number; /* Of the last one. */
  unsigned keep;   /* So many are kept: */
  unsigned *kept;  /* their numbers, the oldest first, */
  unsigned nkept;  /* and how many are there. */
  struct luam_Dump last; /* What is being written, if its id is not 0. */
} MPEvery;

/* True if the options of a start are right, as far as they are of this. */
LJ_FUNC int lj_memprof_checkevery(const struct luam_Prof_options *opt);

/* Sets what the options say. Returns 0 without memory. */
LJ_FUNC int lj_memprof_newevery(MPState *mp,
                                const struct luam_Prof_options *opt);

/* In a child process: it begins with the first dump. */
LJ_FUNC void lj_memprof_childevery(MPState *mp);

/* Frees it. A dump that is being written is not waited for. */
LJ_FUNC void lj_memprof_freeevery(MPState *mp);

/*
** Takes a dump if one is due, of a VM that is about to have so many bytes. To
** be called before an allocation.
*/
LJ_FUNC void lj_memprof_every(MPState *mp, uint64_t bytes);

#endif

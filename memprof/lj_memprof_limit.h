/*
** Heap dumps that a recording takes by itself: where the VM has more bytes than
** a limit, and where it gets no more.
*/

#ifndef _LJ_MEMPROF_LIMIT_H
#define _LJ_MEMPROF_LIMIT_H

#include "lj_memprof.h"
#include "lj_memprof_hooks.h"

/* Set by lj_memprof_newlimit(), freed with the recording. */
typedef struct MPLimit {
  uint64_t bytes; /* The next dump is due when the VM has more. */
  unsigned dumps; /* How many were due so far. */
  int failed;     /* An allocation has failed. */
  char *name;     /* Of the first dump, from the root directory on; or NULL. */
} MPLimit;

/* True if the options of a start are right, as far as they are of limits. */
LJ_FUNC int lj_memprof_checklimit(const struct luam_Prof_options *opt);

/* Sets what the options say of limits. Returns 0 without memory. */
LJ_FUNC int lj_memprof_newlimit(MPState *mp,
                                const struct luam_Prof_options *opt);

/* Frees it. */
LJ_FUNC void lj_memprof_freelimit(MPState *mp);

/*
** Takes the place of a VM's allocator for a recording with a limit, in front of
** the wrapper that it has else. ud is a MPHook.
*/
LJ_FUNC void *lj_memprof_limited(void *ud, void *ptr, size_t osize,
                                 size_t nsize);

#endif

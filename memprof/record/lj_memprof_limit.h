/*
** Heap dumps that a recording takes by itself: where the VM has more bytes than
** a limit, where it gets no more, and where an order asks for one.
*/

#ifndef _LJ_MEMPROF_LIMIT_H
#define _LJ_MEMPROF_LIMIT_H

#include "lj_memprof.h"

/* Set by lj_memprof_newlimit(), freed with the recording. */
typedef struct MPLimit {
  uint64_t bytes; /* The next dump is due when the VM has more. */
  unsigned dumps; /* How many were due so far. */
  int failed;     /* An allocation has failed. */
  char *name;     /* Of the first dump, from the root directory on; or NULL. */
  char *ordered;  /* The last dump by an order; under the lock of the hooks. */
} MPLimit;

/* True if the options of a start are right, as far as they are of limits. */
LJ_FUNC int lj_memprof_checklimit(const struct luam_Prof_options *opt);

/* Sets what the options say of limits. Returns 0 without memory. */
LJ_FUNC int lj_memprof_newlimit(MPState *mp,
                                const struct luam_Prof_options *opt);

/* In a child process: its dumps have its number in their names. */
LJ_FUNC void lj_memprof_childlimit(MPState *mp);

/* Frees it. */
LJ_FUNC void lj_memprof_freelimit(MPState *mp);

/*
** Writes a dump that was ordered, beside the recording's file or as the next
** one of those by the limit. To be called before the VM gets more memory, and
** not by an event. Returns 0, or an errno and *why, a static string or NULL.
** Sets *name, which is the caller's to free, if it is written.
*/
LJ_FUNC int lj_memprof_orderdump(MPState *mp, char **name, const char **why);

/*
** Takes the place of a VM's allocator for a recording with a limit, in front of
** the wrapper that it has else. ud is a MPHook.
*/
LJ_FUNC void *lj_memprof_limited(void *ud, void *ptr, size_t osize,
                                 size_t nsize);

#endif

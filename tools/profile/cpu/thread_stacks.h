/*
** Samples by stack and thread, for reports that label stacks with their
** threads.
*/

#ifndef LP_THREAD_STACKS_H
#define LP_THREAD_STACKS_H

#include "idmap.h"

/* The samples of a stack in a thread. */
typedef struct LpThreadStack {
  uint32_t stack;  /* Of LpProfile.sampled. */
  uint32_t thread; /* Of LpCpu.threads. */
  uint64_t samples;
} LpThreadStack;

typedef struct LpThreadStacks {
  LpIdMap ids;         /* By both: */
  LpThreadStack *list; /* entries of this array, */
  size_t room;
  uint32_t n; /* so many. */
} LpThreadStacks;

/* Count samples of a stack of a thread. */
void lp_thread_stacks_add(LpThreadStacks *s, uint32_t stack, uint32_t thread,
                          uint64_t samples);

/* Free the memory. There are no stacks then. */
void lp_thread_stacks_free(LpThreadStacks *s);

#endif

/*
** The usual stack: that of the event before. What shows that it still is, is
** looked at here, without a call.
*/

#ifndef _LJ_MEMPROF_SAMESTACK_H
#define _LJ_MEMPROF_SAMESTACK_H

#include "lj_memprof_stack.h"
#include "lj_memprof_state.h"

#define MPSAME_STEP 4 /* Guards that are compared at once. */

/* Two words of memory. */
typedef uint64_t MPWords __attribute__((vector_size(16), may_alias));

/* Two guarded words, and what they were: zero if they are the same. */
static LJ_AINLINE MPWords mpsame_diff(const MPWord *const *addr,
                                      const uint64_t *word)
{
  return (MPWords){*addr[0], *addr[1]} ^ *(const MPWords *)word;
}

/* True if the guards are all as they were. The last step may pass the end. */
static LJ_AINLINE int mpsame_guards(const MPSame *s)
{
  const MPWord *const *addr = s->addr;
  const MPWord *const *end = s->end;
  const uint64_t *word = s->word;
  MPWords diff = {0, 0};
  do {
    diff |= mpsame_diff(addr, word) | mpsame_diff(addr + 2, word + 2);
    addr += MPSAME_STEP;
    word += MPSAME_STEP;
  } while (addr < end);
  return (diff[0] | diff[1]) == 0;
}

/* True if the callers of the last site are those of the event before. */
static LJ_AINLINE int mpsame_stack(const MPState *mp)
{
  const MPSame *s = &mp->same;
  return LJ_LIKELY(s->frame == mp->top.frame && s->L == mp->top.L &&
                   s->stack == tvref(mp->top.L->stack) &&
                   s->inlined == mp->top.inlined) &&
         mpsame_guards(s);
}

#endif

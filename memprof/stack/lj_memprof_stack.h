/*
** Stacks: the callers of a site.
*/

#ifndef _LJ_MEMPROF_STACK_H
#define _LJ_MEMPROF_STACK_H

#include "lj_memprof.h"

#define MP_MAXDEPTH 256 /* Frames of a stack. */

/* A word of a Lua stack. */
typedef uint64_t MPWord __attribute__((may_alias));

/* The stack of the event before, if it may be the next one's, too. */
typedef struct MPSame {
  cTValue *frame;      /* The frame on top, or NULL; */
  const lua_State *L;  /* its coroutine, */
  const TValue *stack; /* and where that has its stack. */
  uint32_t inlined;    /* Inlined functions above that frame. */
  int16_t sentcut; /* The reader knows of the stack's cut; or MPSAME_RESEND. */
  uint16_t gone;   /* Code has gone: no frame is known any more. */
  const uint64_t *word;      /* Guards: words that lead to all frames below; */
  const MPWord *const *addr; /* where those are; */
  const MPWord *const *end;  /* and behind the last one. */
} MPSame;

#define MPSAME_RESEND (-1) /* The reader knows nothing, not even of a cut. */

/* Makes room for stacks of mp->depth frames. Returns 0 without memory. */
LJ_FUNC int lj_memprof_newstack(MPState *mp);

/* Frees all that stacks need, if anything. */
LJ_FUNC void lj_memprof_freestack(MPState *mp);

/*
** Records the callers of the last site, as far as the reader does not know
** them. To be called before its event is written, and before the VM goes on.
*/
LJ_FUNC void lj_memprof_stack(MPState *mp);

#endif

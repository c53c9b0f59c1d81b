/*
** The state of a recording: what each part of the recorder has declared.
*/

#ifndef _LJ_MEMPROF_STATE_H
#define _LJ_MEMPROF_STATE_H

#include <stddef.h>

#include "lj_gc.h"
#include "lj_memprof.h"
#include "lj_memprof_anew.h"
#include "lj_memprof_clock.h"
#include "lj_memprof_ends.h"
#include "lj_memprof_event.h"
#include "lj_memprof_foreign.h"
#include "lj_memprof_hook.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_every.h"
#include "lj_memprof_limit.h"
#include "lj_memprof_lines.h"
#include "lj_memprof_oldformat.h"
#include "lj_memprof_sample.h"
#include "lj_memprof_segment.h"
#include "lj_memprof_signal.h"
#include "lj_memprof_stack.h"
#include "lj_memprof_tail.h"
#include "lj_memprof_timer.h"
#include "lj_memprof_where.h"
#include "lj_symtab.h"
#include "lj_wbuf.h"

/*
** A recording of one VM, from its start until it has ended. Only the thread
** that runs the VM touches it, until another one ends it when the process
** exits. What every event needs comes first.
*/
struct MPState {
  MPBuf buf; /* What is on its way to the writer. */
  MPNewest newest;
  global_State *g; /* The VM. */
  MPTotals total;
  MPLast last[4]; /* By kind of event. */
  MPTop top;
  MPSame same;
  struct MPStack *stack; /* The stack as recorded, or NULL. */
  MPHook *hook;          /* What stands in its allocator's place. */
  /* Options, set once; see luam_Prof_options. */
  int format;     /* LUAM_PROF_*. */
  int lines;      /* LUAM_PROF_LINES_*. */
  uint32_t depth; /* Most frames of a stack; 1: the top only. */
  int detached;   /* Another thread than the VM's has ended it. */
  int (*on_stop)(void *arg);
  MPSizes sizes;
  MPClock clock;
  MPSymtab symtab;
  MPSample *sample; /* Or NULL, if every event is recorded. */
  MPForeign foreign;
  MPInlinedLists inlined;
  MPOld old;
  MPCache cache[MP_CACHESIZE];
  MPStream stream;
  MPTail tail;
  MPLimit limit;
  MPEvery every; /* Has dumps only with a name of `limit`. */
  MPExact exact;
  MPSegment segment;
  MPAnew anew;
  MPSampling sampling;
  MPTimer *timer;  /* Or NULL. */
  MPTicks *ticks;  /* Of its signal, or NULL; */
  uint32_t ticked; /* so many at the last mark. */
#if LJ_TARGET_ARM64
  uint16_t traceof[MP_CACHESIZE]; /* Traces of return addresses: guesses. */
#endif
};

#if LJ_64
/*
** No entry of the cache crosses a cache line: memory for a block of this size
** begins 16 bytes behind a page.
*/
LJ_STATIC_ASSERT((offsetof(struct MPState, cache) + 16) % sizeof(MPCache) == 0);
#endif

/* A block begins: its reader knows nothing of the stack. */
static LJ_AINLINE void mpsame_unsent(MPState *mp)
{
  mp->same.frame = NULL;
  mp->same.sentcut = MPSAME_RESEND;
}

/* Code has gone: what is known of frames does not hold any more. */
static LJ_AINLINE void mpsame_gone(MPState *mp)
{
  mp->same.frame = NULL;
  mp->same.gone = 1;
}

/* The VM's count, if all blocks that are not classified yet are its own. */
static LJ_AINLINE GCSize mpforeign_count(const MPState *mp)
{
  return (GCSize)(mp->foreign.base + mp->total.bytesin - mp->total.bytesout);
}

/*
** Bytes that the VM does not count, if all blocks that are not classified yet
** are its own.
*/
static LJ_AINLINE GCSize mpforeign_missing(const MPState *mp)
{
  return mpforeign_count(mp) - mp->g->gc.total;
}

/*
** True if the last event is the VM's, and so is the block of a size that is to
** be freed, or else size is 0.
*/
static LJ_AINLINE int mpforeign_isvm(const MPState *mp, size_t size)
{
  return mpforeign_missing(mp) == (GCSize)size &&
         (size == 0 || mp->foreign.live.used == 0);
}

#endif

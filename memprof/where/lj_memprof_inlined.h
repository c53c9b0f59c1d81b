/*
** The functions that traces have inlined.
*/

#ifndef _LJ_MEMPROF_INLINED_H
#define _LJ_MEMPROF_INLINED_H

#include "lj_memprof.h"
#include "lj_memprof_map.h"

/* A list that may share its beginning. */
typedef struct MPInlined {
  uint32_t parent; /* The list without its innermost function, or 0. */
  uint32_t site;   /* Where the innermost function made its call. */
  uint32_t depth;  /* Length of the list. */
} MPInlined;

/* All lists of a recording. They stay until its end. */
typedef struct MPInlinedLists {
  MPInlined *list; /* By number; 0 is not used. */
  uint32_t n, size;
  MPMap map; /* Parent and site -> number. */
} MPInlinedLists;

#if LJ_HASJIT
/* Frees all lists. */
LJ_FUNC void lj_memprof_freeinlined(MPState *mp);

/*
** The number of the list of functions that a trace has inlined where a snapshot
** was taken: those above its base frame, and the one that it began with.
** Returns 0 if there are none, or without memory.
*/
LJ_FUNC uint32_t lj_memprof_inlined(MPState *mp, GCtrace *T, SnapShot *snap);

/*
** The PC behind the instruction where the function of the trace's base frame
** was when a snapshot was taken, or NULL.
*/
LJ_FUNC const BCIns *lj_memprof_basepc(GCtrace *T, SnapShot *snap);
#else
#define lj_memprof_freeinlined(mp) UNUSED(mp)
#endif

#endif

/*
** Exact lines on traces (lj_memprof_lines.c, or module/lines.c).
*/

#ifndef _LJ_MEMPROF_LINES_H
#define _LJ_MEMPROF_LINES_H

#include "lj_memprof.h"

#define MP_MAXTRACE 65536 /* Trace numbers are smaller. */

/* Set by lj_memprof_linesstart(), and while the compiler records. */
typedef struct MPExact {
  uint32_t traceno;               /* The trace that is being recorded, */
  const void *pt;                 /* its function, */
  BCLine line;                    /* line */
  int32_t depth;                  /* and depth of inlined calls. */
  uint8_t trace[MP_MAXTRACE / 8]; /* Traces with exact lines. */
} MPExact;

#if LJ_HASJIT
/* A recording begins: sees to it that new traces have exact lines. */
LJ_FUNC void lj_memprof_linesstart(MPState *mp, lua_State *L);

#ifndef LJ_MEMPROF_MODULE
/*
** While the compiler records: true if the instruction that it is about to
** record begins a line and is to have a snapshot.
*/
LJ_FUNC int lj_memprof_beginsline(MPState *mp, jit_State *J, const BCIns *pc);
#endif

/* True if the compiled trace of a number has exact lines. */
LJ_FUNC int lj_memprof_isexact(const MPState *mp, TraceNo no);

/* Notes whether a trace, once it is compiled, has exact lines. */
static LJ_AINLINE void lj_memprof_setexact(MPExact *e, TraceNo no, int exact)
{
  if (exact)
    e->trace[no >> 3] |= (uint8_t)(1 << (no & 7));
  else
    e->trace[no >> 3] &= (uint8_t) ~(1 << (no & 7));
}
#else
#define lj_memprof_linesstart(mp, L) UNUSED(L)
#endif

#if LJ_HASJIT && defined(LJ_MEMPROF_MODULE)
/*
** True if exact lines cannot be had, because the VM's profiler is running.
** lines is LUAM_PROF_LINES_*, or 0.
*/
LJ_FUNC int lj_memprof_linesbusy(const global_State *g, int lines);

/* A recording ends: takes back what its start has set in the VM. */
LJ_FUNC void lj_memprof_linesstop(MPState *mp);

/* A trace goes away. */
LJ_FUNC void lj_memprof_linesforget(MPState *mp, const GCtrace *T);
#else
#define lj_memprof_linesbusy(g, lines) 0
#define lj_memprof_linesstop(mp)       ((void)0)
#define lj_memprof_linesforget(mp, T)  ((void)0)
#endif

#endif

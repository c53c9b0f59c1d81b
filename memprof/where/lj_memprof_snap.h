/*
** What a trace itself says about its code.
*/

#ifndef _LJ_MEMPROF_SNAP_H
#define _LJ_MEMPROF_SNAP_H

#include "lj_jit.h"
#include "lj_memprof.h"

#if LJ_HASJIT
/* The last snapshot before a return address in a trace's code, or NULL. */
LJ_FUNC SnapShot *lj_memprof_snapshot(GCtrace *T, const MCode *ret);

/*
** The proto of an instruction that a trace has compiled, or NULL. The trace is
** the one that runs.
*/
LJ_FUNC GCproto *lj_memprof_traceproto(MPState *mp, GCtrace *T,
                                       const BCIns *pc);
#endif

#endif

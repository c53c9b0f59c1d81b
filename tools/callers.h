/*
** A call tree the other way round: from where things happen to who called.
*/

#ifndef LP_CALLERS_H
#define LP_CALLERS_H

#include "calltree.h"

/* Is N, of what a line stands for, enough to be shown? */
typedef int (*LpCallersKeep)(uint64_t n, void *ctx);

void lp_callers_open(LpTree *t, const LpTree *of, LpMetric metric,
                     LpCallersKeep keep, void *ctx);

#endif

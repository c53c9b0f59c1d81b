/*
** Figures of a summary by line of code.
*/

#ifndef LP_SUMMARY_LINES_H
#define LP_SUMMARY_LINES_H

#include "summary.h"

/* Sums of one line, not rounded yet. */
typedef struct LpLineSum {
  LpValue n[LP_NSIDE][LP_NSUMMARY];
  LpValue quarter[3];
} LpLineSum;

/* Add memory to sums by site, and all of it to ALL. AS has the site that stands
** for each site, as lp_stackview_sites.
*/
void lp_lines_memory(LpLineSum *sum, LpLineSum *all, const LpProfile *prof,
                     const LpShape *shape, const uint32_t *as);

/* Add CPU time in the same way. *OUTSIDE is set to the samples, now, in no Lua
** function.
*/
void lp_lines_cpu(LpLineSum *sum, LpLineSum *all, const LpProfile *prof,
                  const LpShape *shape, uint64_t *outside);

#endif

/*
** Which stacks are written by formats that write each of them in full. Many
** deep stacks would be gigabytes, of a recording that is small: stacks below
** --min, and the smallest ones if all were larger than the bound, are one.
*/

#ifndef LP_STACKS_H
#define LP_STACKS_H

#include "report.h"

#define LP_STACKS_REST "(rest)" /* The frame that stands for those. */

/* What formats that have a bound say if they keep to it. */
#define LP_STACKS_CUT "the smallest stacks are added up in " LP_STACKS_REST

typedef struct LpStacks {
  uint8_t *shown; /* By node of the tree: its stack is written. */
  uint32_t rest;  /* Stacks that are not. */
  int cut;        /* Some of these would be, but for the bound. */
  uint64_t room;  /* Bytes that are left of the bound. */
} LpStacks;

/* The bytes that the stack of NODE adds to the output, at most. It is called
** for one stack after the other, those with most first.
*/
typedef uint64_t LpStacksCost(void *ctx, uint32_t node);

/* Choose stacks of T by what they have of METRIC, in a diff by the larger of
** the two values. Those that COST, to which CTX is passed, has no room for in
** lp_report_most(OPT) bytes are in the rest. The caller frees S with
** lp_stacks_close.
*/
void lp_stacks_open(LpStacks *s, const LpTree *t, LpMetric metric,
                    const LpReportOptions *opt, LpStacksCost *cost, void *ctx);

/* What NODE has itself of a metric that T has; 0 if that is below 0, which
** readers do not know, or if T has no such SIDE.
*/
uint64_t lp_stacks_self(const LpTree *t, LpSide side, LpMetric metric,
                        uint32_t node);

/* The sum of that over all stacks that are not shown. */
uint64_t lp_stacks_rest(const LpStacks *s, const LpTree *t, LpSide side,
                        LpMetric metric);

/* Free the memory. */
void lp_stacks_close(LpStacks *s);

#endif

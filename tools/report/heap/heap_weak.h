/*
** Tables with weak keys or values.
*/

#ifndef LP_HEAP_WEAK_H
#define LP_HEAP_WEAK_H

#include "heap_report.h"
#include "weak.h"

/* Is a table one of the rows of --view=weak, which are in the order of
** lp_weak_tables?
*/
int lp_heap_weak_isshown(const LpHeap *h, const LpReportOptions *opt,
                         const LpWeakSum *s);

#define LP_WEAK_LINES 2

/* A sentence about weak keys that are not cleared, without a full stop. */
typedef struct LpWeakLine {
  LpBuf text;
  uint64_t bytes; /* That it is about. */
  uint32_t table; /* The one that most of it is in. */
} LpWeakLine;

/* What only values of weak keys keep, and what is kept for keys that are no
** objects, if it is enough. Returns how many lines there are; the caller frees
** their texts.
*/
size_t lp_heap_weak_lines(LpWeakLine line[LP_WEAK_LINES], const LpHeap *h);

#endif

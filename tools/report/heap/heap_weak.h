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

/* If values of weak keys alone keep enough, append a sentence about that,
** without a full stop; *TABLE is the one that most of it is in. Returns the
** bytes that it is about, or 0.
*/
uint64_t lp_heap_weak_sentence(LpBuf *b, const LpHeap *h, uint32_t *table);

#endif

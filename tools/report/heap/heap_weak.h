/*
** Tables with weak keys or values.
*/

#ifndef LP_HEAP_WEAK_H
#define LP_HEAP_WEAK_H

#include "heap_report.h"
#include "weak.h"

/* The tables of the rows of --view=weak, in their order. Sets *N; the caller
** frees the array.
*/
LpWeakSum *lp_heap_weak(const LpHeap *h, const LpReportOptions *opt, size_t *n);

/* If values of weak keys alone keep enough, append a sentence about that,
** without a full stop; *TABLE is the one that most of it is in. Returns the
** bytes that it is about, or 0.
*/
uint64_t lp_heap_weak_sentence(LpBuf *b, const LpHeap *h, uint32_t *table);

#endif

/*
** Sentences about leak suspects, and the names of holders.
*/

#ifndef LP_HEAP_SUSPECTS_H
#define LP_HEAP_SUSPECTS_H

#include "heap_report.h"
#include "suspects.h"

/* Append what a suspect is, as one sentence without a full stop. Shares are of
** what is in use.
*/
void lp_heap_suspect(LpBuf *b, const LpHeap *h, const LpSuspect *s);

/* Append who holds a group: the first holders by name, and how many more. */
void lp_heap_holders(LpBuf *b, const LpHeap *h, const LpShared *g);

/* The same, and that they do so together. */
void lp_heap_together(LpBuf *b, const LpHeap *h, const LpShared *g);

/* The groups of the rows of --view=shared, in their order. Returns how many
** there are.
*/
size_t lp_heap_shared(const LpShared *group[LP_SHARED_MOST], const LpHeap *h,
                      const LpReportOptions *opt);

/* Append which cdata have finalizers, as a sentence: they stand for memory of
** C. Returns 0 if there are none.
*/
int lp_heap_finalizers(LpBuf *b, const LpHeap *h);

/* Append what is shared, which S is of, behind a colon. */
void lp_heap_things(LpBuf *b, const LpHeap *h, const LpSuspect *s);

#endif

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

#define LP_HEAP_NOTES 2

/* Sentences about memory that is no object, without full stops: which cdata
** have finalizers, as they stand for memory of C; a part of the VM that is
** large, or of two dumps one that has grown. Returns how many there are; the
** caller frees them.
*/
size_t lp_heap_notes(LpBuf text[LP_HEAP_NOTES], const LpSubject *subject);

/* Are the bytes of a part of the VM worth a sentence, of ALL bytes? Each VM has
** smaller parts.
*/
int lp_heap_part_islarge(uint64_t bytes, uint64_t all);

/* Append what to know about the part of the VM with this name, behind a colon,
** if there is anything.
*/
void lp_heap_part_hint(LpBuf *b, const char *name, size_t n);

/* Append what is shared, which S is of, behind a colon. */
void lp_heap_things(LpBuf *b, const LpHeap *h, const LpSuspect *s);

#endif

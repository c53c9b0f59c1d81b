/*
** Shared by the reports of heap dumps.
*/

#ifndef LP_HEAP_REPORT_H
#define LP_HEAP_REPORT_H

#include "analysis.h"
#include "report.h"

#define LP_HEAP_ROWS  1000 /* Of tables of objects, if nothing is asked for. */
#define LP_HEAP_STEPS 12   /* Of a path, before its middle is left out. */

/* Append the path to an object, or "(unreachable)". */
void lp_heap_place(LpBuf *b, const LpHeap *h, uint32_t id);

/* The objects of H with most of a figure first: the N largest of those that the
** report's --min and --top admit. The caller frees the array.
*/
uint32_t *lp_heap_largest(const LpHeap *h, const LpReportOptions *opt,
                          const uint64_t *figure, size_t *n);

/* Is N of all bytes of the dump large enough to be shown? */
int lp_heap_enough(const LpHeap *h, const LpReportOptions *opt, uint64_t n);

/* The least number of bytes that is; at least 1. */
uint64_t lp_heap_least(const LpHeap *h, const LpReportOptions *opt);

/* What objects keep, by object; 0 of those whose line would repeat another one.
** The caller frees the array.
*/
uint64_t *lp_heap_figures(const LpHeap *h);

/* The objects of the rows of --view=retained, in their order. The caller frees
** the array.
*/
uint32_t *lp_heap_retained(const LpHeap *h, const LpReportOptions *opt,
                           size_t *n);

/* Write the sentences of --view=summary, which precede other views with
** --summary, each paragraph with an empty line behind it.
*/
void lp_heap_sentences(LpOut *out, const LpSubject *subject);

/* Append a function of FILE that is defined in line FIRST and was in LINE:
** search (app.lua:20). A line that is not known is 0; the name may be empty.
*/
void lp_heap_function(LpBuf *b, const char *name, const char *file,
                      uint64_t first, uint64_t line);

/* Append why it is unknown whether objects are garbage, if it is. */
void lp_heap_doubt(LpBuf *b, const LpHeap *h);

/* Is it known what objects keep? If not, a table about that says why. */
int lp_heap_cankeep(LpTable *t, const LpHeap *h);

#endif

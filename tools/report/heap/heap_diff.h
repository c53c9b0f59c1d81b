/*
** Two heap dumps compared: objects of one shape, or at one path, are the same.
*/

#ifndef LP_HEAP_DIFF_H
#define LP_HEAP_DIFF_H

#include "heap_columns.h"
#include "report.h"

/* Add the rows of what changed since the dump of the baseline to a table, by
** shape. Shapes are matched by their names.
*/
void lp_heap_diff_shapes(const LpColumns *c, const LpSubject *subject,
                         const LpReportOptions *opt);

/* The same of objects that keep most, which are matched by their paths. What
** the other dump lacks keeps 0 there; of a path that is cut it is not known.
*/
void lp_heap_diff_retained(const LpColumns *c, const LpSubject *subject,
                           const LpReportOptions *opt);

/* Append how much more is in use, and what keeps it. */
void lp_heap_diff_sentences(LpBuf *b, const LpSubject *subject);

#endif

/*
** Two heap dumps compared: objects of one shape, or at one path, are the same.
*/

#ifndef LP_HEAP_DIFF_H
#define LP_HEAP_DIFF_H

#include "heap/heap_columns.h"
#include "report.h"
#include "side.h"

/* What has a name, in each of the two dumps. */
typedef struct LpDiffRow {
  LpHeapRow of[LP_NSIDE]; /* The id is an object of the dump, or LP_NONE. */
  int cut; /* The path is cut: it cannot be found in the other dump. */
} LpDiffRow;

/* Rows by name. */
typedef struct LpDiffRows {
  LpIntern names;
  LpDiffRow *row;
  size_t cap;
} LpDiffRows;

/* Objects of both dumps that keep most, by path. The caller calls
** lp_diff_close.
*/
LpDiffRows lp_diff_paths(const LpSubject *subject);

/* Free the memory. */
void lp_diff_close(LpDiffRows *r);

/* How many more bytes a row keeps; it may be less. */
int64_t lp_diff_change(const LpDiffRow *r);

/* The numbers of the rows that have changed enough for --min, H being the
** newer dump, in the order of --view=retained. Sets *N; the caller frees the
** array.
*/
uint32_t *lp_diff_shown(const LpDiffRows *rows, const LpHeap *h,
                        const LpReportOptions *opt, size_t *n);

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

#endif

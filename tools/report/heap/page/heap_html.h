/*
** Parts of the page of heap dumps: of one, of two that are compared, or of a
** ladder, whose newest dump is compared with its oldest one.
*/

#ifndef LP_HEAP_HTML_H
#define LP_HEAP_HTML_H

#include "heap_retainers.h"
#include "json.h"
#include "report.h"

#define LP_HTML_SENTENCE 500 /* Bytes of JSON. */

/* What the page is of. */
typedef struct LpHeapPage {
  const LpSubject *subject; /* Its heap, and the one it is compared with. */
  const LpReportOptions *opt;
  LpBoxes boxes;         /* Of both, */
  LpRetainers retainers; /* and what refers to them. */
} LpHeapPage;

/* The number of the box of an object, which is NOW or, if that is LP_NONE, was
** BASE; -1 if it is not known which one that is.
*/
uint64_t lp_heap_html_box(const LpHeapPage *p, uint32_t now, uint32_t base);

/* Write what the page says above its views, and the metrics. */
void lp_heap_html_summary(LpJson *j, const LpHeapPage *p);

/* Write the boxes: their names, the tree, the ways that lead to them, what
** refers to them, and what several objects keep together.
*/
void lp_heap_html_tree(LpJson *j, const LpHeapPage *p);

/* Write the tables, each with the boxes that its rows lead to. */
void lp_heap_html_tables(LpJson *j, const LpHeapPage *p);

#endif

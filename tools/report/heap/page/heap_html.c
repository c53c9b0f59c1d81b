/*
** --format=html of a heap dump, of two that are compared, or of a ladder: the
** page of profiles, with another document.
**
** The dominator tree has the form of a call tree (json_calls.c): who keeps is
** who calls. What was left out of the tree and of tables is said in it.
*/

#include <stdlib.h>

#include "heap_html.h"
#include "html_page.h"
#include "json_parts.h"

/* The document inside of the page. */
static void html_document(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  const LpLadder *l = subject->ladder;
  LpHeapPage p = {.subject = subject, .opt = opt};
  LpJson j;
  lp_boxes_open(&p.boxes, subject->heap, subject->baseheap, opt);
  p.retainers = lp_retainers(&p.boxes);
  lp_json_open(&j, out);
  lp_json_head(&j, subject->prof, opt);
  if (l) {
    lp_json_array(&j, "base");
    lp_json_text(&j, l->rung[0].file);
    lp_json_end(&j);
  }
  lp_json_keynumber(&j, "dumps", l ? l->n : 1 + (subject->baseheap != NULL));
  lp_heap_html_summary(&j, &p);
  lp_heap_html_tree(&j, &p);
  lp_heap_html_tables(&j, &p);
  lp_json_end(&j);
  free(p.retainers.row);
  lp_boxes_close(&p.boxes);
}

/* The whole page. */
static void html_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  lp_out_puts(out, lp_html_head);
  lp_out_puts(out, "bytes");
  lp_out_puts(out, lp_html_middle);
  html_document(out, subject, opt);
  lp_out_puts(out, lp_html_tail);
}

const LpReport lp_report_heap_html = {.format = "html",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_DIFF,
                                      .write = html_write};

/* The newest dump of a ladder, compared with the oldest one. */
static void growth_write(LpOut *out, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  LpSubject s = *subject;
  s.heap = subject->ladder->newest;
  s.baseheap = subject->ladder->oldest;
  html_write(out, &s, opt);
}

const LpReport lp_report_growth_html = {.format = "html",
                                        .of = LP_OF_LADDER,
                                        .takes = LP_TAKES_MIN,
                                        .write = growth_write};

/*
** --format=html: a page that shows the whole profile, by itself.
**
** It is the same page for all profiles (html/), with the document of
** --format=json inside.
*/

#include "html_page.h"
#include "report.h"

/* The whole page. */
static void html_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  lp_out_puts(out, lp_html_head);
  lp_out_puts(out, lp_metrics[opt->metric].key);
  lp_out_puts(out, lp_html_middle);
  lp_json_document(out, subject, opt, 1);
  lp_out_puts(out, lp_html_tail);
}

const LpReport lp_report_html = {
    .format = "html",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_DIFF | LP_TAKES_AGES |
             LP_TAKES_SNAP | LP_TAKES_SOURCE,
    .wants = LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_SIZES | LP_WANT_TIME |
             LP_WANT_AGES | LP_WANT_SLICES,
    .write = html_write,
};

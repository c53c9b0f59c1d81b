/*
** Options of reports: the metric, what is left out, and the text about it.
*/

#include <string.h>

#include "printable.h"
#include "report.h"
#include "text.h"

/* The metric of a report. The default is samples for CPU time, bytes for
** memory.
*/
LpMetric lp_report_metric(const LpProfile *prof, const LpReportOptions *opt)
{
  if ((lp_metrics[opt->metric].of & prof->of) &&
      (opt->chosen || !lp_profile_joint(prof)))
    return opt->metric;
  return prof->of & LP_OF_CPU ? LP_METRIC_SAMPLES : LP_METRIC_BYTES;
}

unsigned lp_report_columns(const LpReportOptions *opt)
{
  const char *s = opt->columns;
  unsigned metrics = 0;
  LpMetric m;
  while (s && *s) {
    size_t n = strcspn(s, ",");
    for (m = 0; m < LP_NMETRIC; m++)
      if (strlen(lp_metrics[m].key) == n &&
          memcmp(lp_metrics[m].key, s, n) == 0)
        metrics |= LP_METRIC_BIT(m);
    s += n + (s[n] == ',');
  }
  return metrics;
}

/* Is N of ALL large enough to be shown? 0 is not, nor are negative values after
** a gap.
*/
int lp_report_enough(const LpReportOptions *opt, uint64_t n, uint64_t all)
{
  double percent = (int64_t)all > 0 ? lp_text_percent(n, all) : 0;
  if (!n)
    return 0;
  if ((int64_t)n < 0)
    return !(opt->min > 0) && !opt->least;
  return percent >= opt->min && n >= opt->least;
}

uint64_t lp_report_most(const LpReportOptions *opt)
{
  return opt->most ? opt->most : LP_REPORT_MOST;
}

/* Add a text of the command line. */
static void shape_text(LpBuf *b, const char *before, const char *s)
{
  lp_buf_puts(b, before);
  lp_printable(b, (LpStr){s, strlen(s)});
}

void lp_report_left(LpBuf *b, const LpReportOptions *opt, unsigned takes,
                    LpMetric metric)
{
  if (opt->base && (takes & LP_TAKES_DIFF))
    shape_text(b, ", compared with ", opt->base);
  if (opt->focus && (takes & LP_TAKES_FOCUS))
    shape_text(b, ", only what matches ", opt->focus);
  if (opt->ignore && (takes & LP_TAKES_IGNORE))
    shape_text(b, ", without what matches ", opt->ignore);
  if (!(takes & LP_TAKES_MIN))
    return;
  if (opt->min > 0)
    lp_buf_printf(b, ", without what has less than %g%%", opt->min);
  if (opt->least) {
    lp_buf_puts(b, ", without what has less than ");
    lp_text_size(b, opt->least, 0);
    if (lp_metrics[metric].unit == LP_UNIT_BYTES)
      lp_buf_puts(b, " bytes");
  }
}

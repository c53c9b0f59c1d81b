/*
** All reports there are.
*/

#include <stddef.h>
#include <string.h>

#include "report.h"

/* The first one of a format has its default view. */
static const LpReport *const reports[] = {
    &lp_report_sites,   &lp_report_types,     &lp_report_tree,
    &lp_report_folded,  &lp_report_functions, &lp_report_lines,
    &lp_report_threads, &lp_report_calls,     &lp_report_folded_cpu};

/* The report of a format and a view, NULL for the default, of a profile of one
** kind, LP_OF_*; or NULL.
*/
const LpReport *lp_report_find(const char *format, const char *view,
                               unsigned of)
{
  size_t i;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const LpReport *r = reports[i];
    if (!(r->of & of) || strcmp(r->format, format) != 0)
      continue;
    if (!view || (r->view && strcmp(r->view, view) == 0))
      return r;
  }
  return NULL;
}

/* The same, if it takes all options that were given, LP_TAKES_*. If there is
** none, *WHY tells why.
*/
const LpReport *lp_report_choose(const char *format, const char *view,
                                 unsigned given, unsigned of, LpBuf *why)
{
  static const char *const name[] = {"human-readable", "leak-only", "min",
                                     "metric", "sort"};
  const LpReport *r = lp_report_find(format, view, of);
  unsigned i;
  why->n = 0;
  if (!r && !lp_report_find(format, NULL, of))
    lp_buf_printf(why, "expected a FORMAT: text or folded, not %s", format);
  else if (!r)
    lp_buf_printf(why, "--format=%s has no view %s", format, view);
  for (i = 0; r && i < sizeof(name) / sizeof(name[0]); i++) {
    if (given & ~r->takes & 1u << i) {
      lp_buf_printf(why, "--%s is not for --%s=%s", name[i],
                    r->view ? "view" : "format", r->view ? r->view : r->format);
      return NULL;
    }
  }
  return r;
}

/*
** All reports there are.
*/

#include <stddef.h>
#include <string.h>

#include "report.h"

/* The first one of a format has its default view. */
static const LpReport *const reports[] = {&lp_report_sites, &lp_report_types,
                                          &lp_report_tree, &lp_report_folded};

/* The report of a format and a view, NULL for the default; or NULL. */
const LpReport *lp_report_find(const char *format, const char *view)
{
  size_t i;
  for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
    const LpReport *r = reports[i];
    if (strcmp(r->format, format) != 0)
      continue;
    if (!view || (r->view && strcmp(r->view, view) == 0))
      return r;
  }
  return NULL;
}

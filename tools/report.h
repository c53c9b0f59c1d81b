/*
** Numbers -> one output. A report reads no stream and knows no other report.
*/

#ifndef LP_REPORT_H
#define LP_REPORT_H

#include "out.h"
#include "profile.h"

typedef struct LpReportOptions {
  int human;    /* Sizes for people: 6.2KiB. */
  int leakonly; /* Nothing but what is live at the end. */
} LpReportOptions;

typedef struct LpReport {
  const char *name;
  void (*write)(LpOut *out, const LpProfile *prof, const LpReportOptions *opt);
} LpReport;

extern const LpReport lp_report_text;

#endif

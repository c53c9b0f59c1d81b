/*
** A table as comma-separated values.
*/

#ifndef LP_REPORT_CSV_H
#define LP_REPORT_CSV_H

#include "report.h"

/* Write a table. The first line has the keys of the columns. */
void lp_csv_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                  const LpReportOptions *opt);

#endif

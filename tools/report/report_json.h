/*
** A profile as one JSON document.
*/

#ifndef LP_REPORT_JSON_H
#define LP_REPORT_JSON_H

#include "report.h"

/* Write a whole profile as one document. */
void lp_json_document(LpOut *out, const LpProfile *prof,
                      const LpReportOptions *opt);

/* Write one view as a document. */
void lp_json_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                   const LpReportOptions *opt);

#endif

/*
** Parts that JSON documents of all kinds have.
*/

#ifndef LP_JSON_PARTS_H
#define LP_JSON_PARTS_H

#include "json.h"
#include "report.h"

/* Begin the document, and write what precedes its data: who wrote it, of which
** files, with which options. The caller ends the object.
*/
void lp_json_head(LpJson *j, const LpProfile *prof, const LpReportOptions *opt);

/* Write a column of a table, or a metric, as an element of an array. */
void lp_json_column(LpJson *j, const char *key, const char *title, LpUnit unit);

/* Write where files are damaged, as two members of an object. */
void lp_json_damage(LpJson *j, const LpFiles *f);

/* Write a table, as two members of an object. */
void lp_json_members(LpJson *j, const LpTable *t);

#endif

/*
** Shared by the sentences of a summary, and by its data in JSON.
*/

#ifndef LP_SUMMARY_REPORT_H
#define LP_SUMMARY_REPORT_H

#include "json.h"
#include "report.h"
#include "summary.h"

#define LP_SUMMARY_LINES   10 /* Of text, all of them. */
#define LP_SUMMARY_ROWS    5  /* Of these, lines of code. */
#define LP_SUMMARY_COLUMNS 80 /* Of a terminal. */

/* A paragraph of clauses, broken into lines between clauses. */
typedef struct LpClauses {
  LpBuf b;
  size_t lines; /* That end, */
  size_t width; /* columns of the one that does not. */
} LpClauses;

/* Append a clause, behind SEPARATOR if it is not the first one of its line. It
** is broken only between clauses.
*/
void lp_clause(LpClauses *c, const char *separator, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* End the sentence and its line, if it has begun. */
void lp_clause_end(LpClauses *c);

/* Append the lines of what was recorded. */
void lp_summary_recorded(LpClauses *c, const LpSummary *s);

/* Append how sure that is: what is missing, and what OPT leaves out. */
void lp_summary_sure(LpClauses *c, const LpSummary *s,
                     const LpReportOptions *opt);

/* Append what of a diff has moved: functions at other lines, in other chunks,
** and with other names.
*/
void lp_summary_moved(LpClauses *c, const LpProfile *prof);

/* Append the name of a line of code in at most WIDTH columns: its function and
** "file:line". Longer ones are cut in the middle.
*/
void lp_summary_name(LpBuf *b, const LpProfile *prof, uint32_t site,
                     size_t width);

/* What a reader can do next. */
typedef enum LpAdvice {
  LP_ADVICE_STACK,   /* Record with callers. */
  LP_ADVICE_LEAKS,   /* See what leaks. */
  LP_ADVICE_CALLERS, /* See who calls the first line. */
  LP_ADVICE_DIFF,    /* Compare with another recording. */
  LP_NADVICE
} LpAdvice;

/* The key of an advice, for programs. */
const char *lp_advice_key(LpAdvice a);

/* Append options that follow an advice, for the line at SITE; nothing if there
** are none.
*/
void lp_advice_text(LpBuf *b, const LpProfile *prof, LpAdvice a, uint32_t site);

/* The pieces of advice that apply, bits of 1 << LpAdvice. */
unsigned lp_advice(const LpSummary *s);

/* Write members of an object: all facts of PROF, of what SHAPE keeps (NULL:
** all).
*/
void lp_summary_json(LpJson *j, const LpProfile *prof, const LpShape *shape);

/* Write the summary of a profile as text: at most LP_SUMMARY_LINES lines, and
** an empty one.
*/
void lp_summary_text(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt);

#endif

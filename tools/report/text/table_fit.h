/*
** Which columns of a table are shown as text, and how wide they are.
*/

#ifndef LP_TABLE_FIT_H
#define LP_TABLE_FIT_H

#include "report.h"

#define LP_TABLE_HIDDEN (-1)

typedef struct LpTableFit {
  int *width;    /* By column; LP_TABLE_HIDDEN: it is not shown. */
  int bar;       /* Width of a bar behind the first percentage; 0: none. */
  unsigned last; /* The last column that is shown. */
  LpBuf left;    /* Keys of those that had no room, for people. */
} LpTableFit;

/* Append the value of a cell as text. */
void lp_table_cell(LpBuf *b, const LpPlace *p, const LpColumn *c, int human);

/* The title of a column: on a terminal its key, if that is shorter and the
** numbers are as short. WIDTH is that of the column.
*/
const char *lp_table_title(const LpColumn *c, int width);

/* Choose columns and widths. Without a terminal these are all columns but the
** extra ones. On one, columns of zeros and, if the rest is too wide, those that
** matter least are left out; texts get what remains. The caller calls
** lp_table_fit_close.
*/
void lp_table_fit(LpTableFit *f, const LpTable *t, const LpReportOptions *opt);

/* Free the memory. */
void lp_table_fit_close(LpTableFit *f);

#endif

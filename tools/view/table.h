/*
** Tables, independent of the format that prints them.
**
** A view fills in a table (LpReport.table), a format prints it (lp_table_text,
** ...). Views provide plain numbers and rows in their final order; formats
** choose widths and units and do not interpret the numbers.
*/

#ifndef LP_TABLE_H
#define LP_TABLE_H

#include "metric.h"
#include "out.h"

typedef struct LpColumn {
  const char *key;   /* For programs: "live-objects". */
  const char *title; /* For people: "live objects". */
  LpUnit unit;
  int extra;  /* Not in text, where there is no room. */
  int width;  /* In text, at least. */
  int alone;  /* Its numbers cannot be added up. */
  int change; /* Of a number to another: its sign is shown, its size counts. */
  int asked;  /* In text, what is not known is "?", for it could be. */
} LpColumn;

/* The value of a cell. */
typedef struct LpPlace {
  int known; /* 0: the value is unknown. */
  union {
    uint64_t n;     /* As lp_metric_of; bytes may be "below 0" after a gap. */
    double percent; /* LP_UNIT_PERCENT. */
    char *s;        /* LP_UNIT_TEXT: the table's own. */
  };
} LpPlace;

typedef struct LpTable {
  const char *name; /* As --view has it. */
  LpColumn *col;
  unsigned ncol;
  size_t cols;    /* Room. */
  LpPlace *place; /* Row by row. */
  size_t places;  /* Room. */
  size_t n;       /* Rows. */
  size_t foot;    /* The last ones of them, which stay where they are. */
  int topped;     /* --top was applied already. */
  LpBuf note;     /* What is to be said behind the titles. */
} LpTable;

/* Add a column while there are no rows. KEY and TITLE are not copied. The
** pointer is valid until the next call.
*/
LpColumn *lp_table_column(LpTable *t, const char *key, const char *title,
                          LpUnit unit);

/* Add the column of a metric. */
LpColumn *lp_table_metric(LpTable *t, LpMetric metric);

/* Add the column of a metric of the baseline, not shown in text. */
LpColumn *lp_table_base(LpTable *t, LpMetric metric);

/* Append a row without known values. */
void lp_table_row(LpTable *t);

/* A cell. Valid until the next row is added. */
LpPlace *lp_table_at(const LpTable *t, size_t row, unsigned col);

/* Set a number in the last row. */
void lp_table_number(LpTable *t, unsigned col, uint64_t n);

/* Set N of ALL, in percent, in the last row. */
void lp_table_percent(LpTable *t, unsigned col, uint64_t n, uint64_t all);

/* Set a text in the last row. S was allocated and belongs to the table then. */
void lp_table_string(LpTable *t, unsigned col, char *s);

/* Free the memory. */
void lp_table_close(LpTable *t);

/* -- Rows of any table (table_rows.c) ------------------------------------- */

/* The column with this key, or -1. */
int lp_table_find(const LpTable *t, const char *key);

/* Sort rows by a column: numbers descending, texts ascending. */
void lp_table_sort(LpTable *t, unsigned col);

/* Show the columns with these keys, separated by commas, in that order, and no
** others. Returns 0 if a key does not exist, or comes twice: it is appended to
** KEY, and the table stays as it was.
*/
int lp_table_choose(LpTable *t, const char *keys, LpBuf *key);

/* Keep the first TOP rows and those at the foot; the others become one row with
** their sums.
*/
void lp_table_top(LpTable *t, size_t top);

#endif

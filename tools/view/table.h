/*
** A table: what most views are, before anybody knows how it will be printed.
**
** A view fills it in (LpReport.table), a format prints it (lp_table_text, ...).
** Views leave numbers as they are and rows in the order they are to be shown;
** formats choose widths and units, and know nothing of what the numbers mean.
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
} LpColumn;

/* What stands in a place. */
typedef struct LpPlace {
  int known; /* 0: nobody knows. */
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
  LpBuf note;     /* What is to be said behind the titles. */
  char **own;     /* Keys and titles that are the table's own. */
  size_t nown;
  size_t owns; /* Room. */
} LpTable;

LpColumn *lp_table_column(LpTable *t, const char *key, const char *title,
                          LpUnit unit);
void lp_table_extra(LpTable *t, const char *key, const char *title,
                    LpUnit unit);
void lp_table_metric(LpTable *t, LpMetric metric);
LpColumn *lp_table_base(LpTable *t, LpMetric metric);
void lp_table_row(LpTable *t);
LpPlace *lp_table_at(const LpTable *t, size_t row, unsigned col);
void lp_table_number(LpTable *t, unsigned col, uint64_t n);
void lp_table_percent(LpTable *t, unsigned col, uint64_t n, uint64_t all);
void lp_table_string(LpTable *t, unsigned col, char *s);
void lp_table_close(LpTable *t);

/* What is done with the rows of any table (table_rows.c). */
int lp_table_find(const LpTable *t, const char *key);
void lp_table_sort(LpTable *t, unsigned col);
void lp_table_top(LpTable *t, size_t top);

void lp_table_text(LpOut *out, const LpTable *t, int human);

#endif

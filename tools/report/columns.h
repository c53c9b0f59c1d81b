/*
** Columns that views declare: all that is said of a column is said once. Tables
** get their columns, their values and both sides of a comparison from there.
*/

#ifndef LP_COLUMNS_H
#define LP_COLUMNS_H

#include <stddef.h>

#include "table.h"

/* A number of a row that is not known. */
#define LP_UNKNOWN (UINT64_C(1) << 63)

/* A column. Rows are structs of the view's own. */
typedef struct LpField {
  LpColumn column;     /* If .asked, only in columns that have an unknown
                       ** number: these could be known. */
  const char *percent; /* Key of a column behind it, its share of all; NULL:
                       ** there is none. */
  const char *change;  /* In a comparison, the key of a column before it. NULL:
                       ** it is in none, but texts are in all. */
  const char *changed; /* Title of that. */
  int compares;        /* It is only in a comparison, and has one number. */
  int alike;           /* In a comparison it has one number. */
  const char *base;    /* Key of a column behind it, the base's; or NULL. */
  size_t at;           /* Numbers: where in the row the uint64_t is. */
  /* Texts: append that of a row. */
  void (*text)(LpBuf *b, const void *view, const void *row);
} LpField;

/* A text; a number that MEMBER of the struct ROW holds, with flags of LpColumn.
 */
#define LP_FIELD_TEXT(name, head, append)                                      \
  .column = {.key = (name), .title = (head), .unit = LP_UNIT_TEXT},            \
  .text = (append)
#define LP_FIELD_NUMBER(name, head, of, row, member, ...)                      \
  .column = {.key = (name), .title = (head), .unit = (of), __VA_ARGS__},       \
  .at = offsetof(row, member)

/* A table and the columns that a view gives it. */
typedef struct LpColumns {
  LpTable *t;
  const LpField *const *field; /* In their order; NULL: none is there. */
  size_t n;
  const void *view; /* For LpField.text. */
  uint64_t all;     /* What percentages are of. */
  int diff;         /* Rows have two sides. */
} LpColumns;

#define LP_NFIELDS(list) (sizeof(list) / sizeof((list)[0]))

/* Add the columns, while the table has none. Texts are not copied. */
void lp_columns_add(const LpColumns *c);

/* Append a row. BASE: its other side in a comparison, else NULL. It has the
** texts of NOW.
*/
void lp_columns_row(const LpColumns *c, const void *now, const void *base);

#endif

/*
** Columns of the tables of a heap dump, and the rows that they show.
**
** A new column is an LpField in heap_columns.c, declared here. A number has a
** member in LpHeapRow, which the view fills in, for objects lp_heap_row. A view
** lists its columns, most in heap_tables.c; all formats print that list.
*/

#ifndef LP_HEAP_COLUMNS_H
#define LP_HEAP_COLUMNS_H

#include "analysis.h"
#include "columns.h"

/* A row. A view fills in what its columns show: bytes or numbers of objects, or
** LP_UNKNOWN.
*/
typedef struct LpHeapRow {
  uint32_t id; /* Of the object, the shape, or the type (LJM_TYPE_*). */
  LpStr name;  /* Instead of its name, shape or path; NULL: that. */
  uint64_t bytes, objects;
  uint64_t garbage, garbage_objects; /* Of these, what is garbage, */
  uint64_t unknown, unknown_objects; /* or may be. */
  uint64_t retained;
  uint64_t empty; /* Slots that hold nothing. */
  uint64_t depth;
  uint64_t fresh, gone; /* In a comparison: objects that the base has not, and
                        ** that only the base has. */
} LpHeapRow;

extern const LpField lp_col_share; /* Bytes, their share, their change. */
extern const LpField lp_col_bytes; /* Bytes alone. */
extern const LpField lp_col_objects;
extern const LpField lp_col_new, lp_col_deleted; /* In a comparison alone. */
extern const LpField lp_col_garbage, lp_col_garbage_objects;
extern const LpField lp_col_unknown, lp_col_unknown_objects;
extern const LpField lp_col_retained;       /* With its share, and the base. */
extern const LpField lp_col_retained_shape; /* The same of a shape. */
extern const LpField lp_col_keeps;          /* Retained bytes alone. */
extern const LpField lp_col_empty;
extern const LpField lp_col_depth;

/* Texts. The last column of a table has the key "name". */
extern const LpField lp_col_address;
extern const LpField lp_col_object; /* What object it is, by its shape. */
extern const LpField lp_col_type, lp_col_shape, lp_col_path;

/* The row of an object. */
LpHeapRow lp_heap_row(const LpHeap *h, uint32_t id);

/* Add the N columns LIST to a table of H, which is NULL where only the columns
** are asked for. DIFF: it compares two dumps. LIST is not copied.
*/
LpColumns lp_heap_columns(LpTable *t, const LpHeap *h,
                          const LpField *const *list, size_t n, int diff);

#endif

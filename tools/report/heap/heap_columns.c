/*
** Columns of the tables of a heap dump. A new one is declared here.
*/

#include <inttypes.h>

#include "heap_columns.h"
#include "heap_report.h"

#define BYTES(key, title, member, ...)                                         \
  LP_FIELD_NUMBER(key, title, LP_UNIT_BYTES, LpHeapRow, member, __VA_ARGS__)
#define COUNT(key, title, member, ...)                                         \
  LP_FIELD_NUMBER(key, title, LP_UNIT_COUNT, LpHeapRow, member, __VA_ARGS__)

/* What objects keep cannot be added up; a damaged dump does not tell it. */
#define RETAINED BYTES("retained", "retained", retained, .alone = 1, .asked = 1)

/* -- Numbers --------------------------------------------------------------- */

const LpField lp_col_share = {BYTES("bytes", "bytes", bytes),
                              .percent = "bytes-percent",
                              .change = "bytes-change", .changed = "change"};
const LpField lp_col_bytes = {BYTES("bytes", "bytes", bytes)};
const LpField lp_col_objects = {COUNT("objects", "objects", objects),
                                .change = "objects-change",
                                .changed = "change"};
const LpField lp_col_new = {COUNT("new", "new", fresh), .compares = 1};
const LpField lp_col_deleted = {COUNT("deleted", "deleted", gone),
                                .compares = 1};
const LpField lp_col_garbage = {BYTES("garbage", "garbage", garbage)};
const LpField lp_col_garbage_objects = {
    COUNT("garbage-objects", "garbage objects", garbage_objects)};
const LpField lp_col_unknown = {BYTES("unknown", "unknown", unknown)};
const LpField lp_col_unknown_objects = {
    COUNT("unknown-objects", "unknown objects", unknown_objects)};
const LpField lp_col_retained = {RETAINED, .percent = "retained-percent",
                                 .change = "retained-change",
                                 .changed = "change", .base = "base-retained"};
const LpField lp_col_retained_shape = {RETAINED, .percent = "retained-percent",
                                       .change = "retained-change",
                                       .changed = "kept, change"};
const LpField lp_col_keeps = {RETAINED};
const LpField lp_col_empty = {BYTES("empty", "empty", empty),
                              .percent = "empty-percent"};
const LpField lp_col_depth = {COUNT("depth", "depth", depth, .extra = 1),
                              .alike = 1};

/* -- Texts ----------------------------------------------------------------- */

/* Append an object's address. */
static void row_address(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  const LpHeapRow *r = row;
  lp_buf_printf(b, "0x%" PRIx64, h->dump.graph.node[r->id].addr);
}

/* Append what object it is: its shape. */
static void row_object(LpBuf *b, const void *view, const void *row)
{
  lp_shape_nameof(b, view, ((const LpHeapRow *)row)->id);
}

/* Append what the row has instead of a name. Returns whether it has. */
static int row_name(LpBuf *b, const LpHeapRow *r)
{
  if (r->name.s)
    lp_buf_add(b, r->name.s, r->name.n);
  return r->name.s != NULL;
}

/* Append the name of a type. */
static void row_type(LpBuf *b, const void *view, const void *row)
{
  const LpHeapRow *r = row;
  (void)view;
  if (!row_name(b, r))
    lp_buf_puts(b, lp_path_type(r->id));
}

/* Append the name of a shape. */
static void row_shape(LpBuf *b, const void *view, const void *row)
{
  const LpHeapRow *r = row;
  if (!row_name(b, r))
    lp_shape_name(b, view, r->id);
}

/* Append the path to an object. */
static void row_path(LpBuf *b, const void *view, const void *row)
{
  const LpHeapRow *r = row;
  if (!row_name(b, r))
    lp_heap_place(b, view, r->id);
}

const LpField lp_col_address = {
    LP_FIELD_TEXT("address", "address", row_address)};
const LpField lp_col_object = {LP_FIELD_TEXT("object", "object", row_object)};
const LpField lp_col_type = {LP_FIELD_TEXT("name", "type", row_type)};
const LpField lp_col_shape = {LP_FIELD_TEXT("name", "shape", row_shape)};
const LpField lp_col_path = {LP_FIELD_TEXT("name", "path", row_path)};

/* -- Tables ---------------------------------------------------------------- */

LpHeapRow lp_heap_row(const LpHeap *h, uint32_t id)
{
  return (LpHeapRow){.id = id,
                     .bytes = lp_graph_size(&h->dump.graph, id),
                     .retained =
                         lp_heap_keeps(h) ? h->dom.retained[id] : LP_UNKNOWN};
}

LpColumns lp_heap_columns(LpTable *t, const LpHeap *h,
                          const LpField *const *list, size_t n, int diff)
{
  LpColumns c = {t, list, n, h, h ? lp_heap_bytes(h) : 0, diff};
  lp_columns_add(&c);
  return c;
}

/*
** Two heap dumps compared. Numbers of objects and shapes differ from dump to
** dump, so names are compared.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "heap_diff.h"
#include "heap_report.h"
#include "text.h"

/* The figures of a row in each of the two dumps. */
enum { DIFF_BYTES, DIFF_OBJECTS, DIFF_RETAINED, DIFF_FIGURES };

typedef struct Row {
  uint64_t n[LP_NSIDE][DIFF_FIGURES];
  uint32_t id[LP_NSIDE]; /* An object of each dump, or LP_NONE. */
  int cut; /* The path is cut: it cannot be found in the other dump. */
} Row;

/* Rows by name. */
typedef struct Rows {
  LpIntern names;
  Row *row;
  size_t cap;
} Rows;

static const Row row_none = {.id = {LP_NONE, LP_NONE}};

/* The row of a name, made if there is none. */
static Row *rows_get(Rows *r, const LpBuf *name)
{
  uint32_t n = r->names.n, at = lp_intern(&r->names, name->s, name->n);
  if (at == n) {
    r->row = lp_grow(r->row, &r->cap, n + 1, sizeof(*r->row));
    r->row[at] = row_none;
  }
  return &r->row[at];
}

/* Free the memory. */
static void rows_close(Rows *r)
{
  lp_intern_free(&r->names);
  free(r->row);
}

/* What a figure has become more; as a signed number, it may be less. */
static uint64_t row_change(const Row *r, int figure)
{
  return r->n[LP_NOW][figure] - r->n[LP_BASE][figure];
}

/* Is one of a row's changes large enough to be shown? */
static int row_enough(const LpHeap *h, const LpReportOptions *opt, const Row *r)
{
  uint64_t bytes = row_change(r, DIFF_BYTES);
  uint64_t retained = row_change(r, DIFF_RETAINED);
  bytes = (int64_t)bytes < 0 ? -bytes : bytes;
  retained = (int64_t)retained < 0 ? -retained : retained;
  return lp_heap_enough(h, opt, bytes) || lp_heap_enough(h, opt, retained);
}

/* Add a column: a figure, or if CHANGE its change. */
static void diff_column(LpTable *t, const char *key, const char *title,
                        LpUnit unit, int change)
{
  LpColumn *c = lp_table_column(t, key, title, unit);
  c->change = change;
}

/* The columns of a figure: its change, and what it is now. */
static void diff_put(LpTable *t, unsigned col, const Row *r, int figure)
{
  lp_table_number(t, col, row_change(r, figure));
  lp_table_number(t, col + 1, r->n[LP_NOW][figure]);
}

/* Put the name of row I. */
static void diff_name(LpTable *t, unsigned col, const Rows *rows, uint32_t i)
{
  size_t n;
  const char *s = lp_intern_get(&rows->names, i, &n);
  LpBuf b = {0};
  lp_buf_add(&b, s, n);
  lp_table_string(t, col, b.s ? b.s : lp_strdup(""));
}

/* -- Types ----------------------------------------------------------------- */

/* The columns of bytes and of objects. */
static void diff_columns(LpTable *t)
{
  diff_column(t, "bytes-change", "change", LP_UNIT_BYTES, 1);
  diff_column(t, "bytes", "bytes", LP_UNIT_BYTES, 0);
  diff_column(t, "objects-change", "change", LP_UNIT_COUNT, 1);
  diff_column(t, "objects", "objects", LP_UNIT_COUNT, 0);
}

/* Add objects of both dumps to a row. */
static void types_add(Row *r, const LpTypeSum *now, const LpTypeSum *base)
{
  r->n[LP_NOW][DIFF_BYTES] += now->bytes;
  r->n[LP_NOW][DIFF_OBJECTS] += now->objects;
  r->n[LP_BASE][DIFF_BYTES] += base->bytes;
  r->n[LP_BASE][DIFF_OBJECTS] += base->objects;
}

/* Put a row. */
static void types_row(LpTable *t, const char *name, const Row *r)
{
  lp_table_row(t);
  diff_put(t, 0, r, DIFF_BYTES);
  diff_put(t, 2, r, DIFF_OBJECTS);
  lp_table_string(t, 4, lp_strdup(name));
}

void lp_heap_diff_types(LpTable *t, const LpSubject *subject)
{
  const LpHeap *now = subject->heap, *base = subject->baseheap;
  Row all = row_none;
  unsigned i;
  diff_columns(t);
  lp_table_column(t, "name", "type", LP_UNIT_TEXT);
  if (!now || !base)
    return;
  for (i = 0; i < 16; i++) {
    Row r = row_none;
    types_add(&r, &now->dump.type[i], &base->dump.type[i]);
    types_add(&all, &now->dump.type[i], &base->dump.type[i]);
    if (r.n[LP_NOW][DIFF_OBJECTS] || r.n[LP_BASE][DIFF_OBJECTS])
      types_row(t, lp_path_type(i), &r);
  }
  lp_table_sort(t, 0);
  types_row(t, "total", &all);
  t->foot = 1;
}

/* -- Shapes ---------------------------------------------------------------- */

/* Shapes of one dump that have the same name are one. */
static void shapes_add(Rows *rows, const LpHeap *h, LpSide side)
{
  LpBuf b = {0};
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    const LpShapeSum *s = &h->shapes.shape[i];
    Row *r;
    b.n = 0;
    lp_shape_name(&b, h, i);
    r = rows_get(rows, &b);
    r->n[side][DIFF_BYTES] += s->bytes;
    r->n[side][DIFF_OBJECTS] += s->objects;
    r->n[side][DIFF_RETAINED] += s->retained;
  }
  lp_buf_free(&b);
}

void lp_heap_diff_shapes(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  Rows rows = {.cap = 0};
  uint32_t i;
  diff_columns(t);
  diff_column(t, "retained-change", "kept, change", LP_UNIT_BYTES, 1);
  diff_column(t, "retained", "retained", LP_UNIT_BYTES, 0);
  t->col[4].alone = t->col[5].alone = 1;
  lp_table_column(t, "name", "shape", LP_UNIT_TEXT);
  if (!subject->heap || !subject->baseheap)
    return;
  shapes_add(&rows, subject->heap, LP_NOW);
  shapes_add(&rows, subject->baseheap, LP_BASE);
  for (i = 0; i < rows.names.n; i++) {
    const Row *r = &rows.row[i];
    if (!row_enough(subject->heap, opt, r))
      continue;
    lp_table_row(t);
    diff_put(t, 0, r, DIFF_BYTES);
    diff_put(t, 2, r, DIFF_OBJECTS);
    if (lp_heap_keeps(subject->heap) && lp_heap_keeps(subject->baseheap))
      diff_put(t, 4, r, DIFF_RETAINED);
    diff_name(t, 6, &rows, i);
  }
  lp_table_sort(t, 0);
  rows_close(&rows);
}

/* -- Objects at paths ------------------------------------------------------ */

/* Adds the objects of one dump that keep most. */
static void paths_add(Rows *rows, const LpHeap *h, LpSide side)
{
  const LpReportOptions most = {.top = LP_HEAP_ROWS, .min = LP_REPORT_MIN / 10};
  uint64_t *figure = lp_heap_figures(h);
  LpBuf b = {0};
  size_t i, n;
  uint32_t *id = lp_heap_largest(h, &most, figure, &n);
  for (i = 0; i < n; i++) {
    Row *r;
    int whole;
    b.n = 0;
    whole = lp_path_name(&b, &h->dump, &h->paths, id[i], LP_HEAP_STEPS);
    r = rows_get(rows, &b);
    r->n[side][DIFF_RETAINED] += h->dom.retained[id[i]];
    r->n[side][DIFF_BYTES] += lp_graph_size(&h->dump.graph, id[i]);
    r->cut = !whole;
    r->id[side] = id[i];
  }
  lp_buf_free(&b);
  free(figure);
  free(id);
}

/* Looks the rows of one dump up in the other one. */
static void paths_other(Rows *rows, const LpHeap *h, LpSide side)
{
  uint32_t i;
  LpBuf b = {0};
  for (i = 0; i < rows->names.n; i++) {
    Row *r = &rows->row[i];
    size_t n;
    const char *s = lp_intern_get(&rows->names, i, &n);
    LpFound other;
    if (r->n[side][DIFF_RETAINED] || r->cut)
      continue;
    b.n = 0;
    lp_buf_add(&b, s, n);
    other = lp_heap_find_path(h, b.s);
    r->n[side][DIFF_RETAINED] = other.retained;
    r->id[side] = other.objects == 1 ? other.most : LP_NONE;
  }
  lp_buf_free(&b);
}

/* The rows of both dumps, by path. */
static void paths_open(Rows *rows, const LpSubject *subject)
{
  memset(rows, 0, sizeof(*rows));
  paths_add(rows, subject->heap, LP_NOW);
  paths_add(rows, subject->baseheap, LP_BASE);
  paths_other(rows, subject->heap, LP_NOW);
  paths_other(rows, subject->baseheap, LP_BASE);
}

void lp_heap_diff_retained(LpTable *t, const LpSubject *subject,
                           const LpReportOptions *opt)
{
  Rows rows;
  uint32_t i;
  diff_column(t, "retained-change", "change", LP_UNIT_BYTES, 1);
  diff_column(t, "retained", "retained", LP_UNIT_BYTES, 0);
  diff_column(t, "base-retained", "before", LP_UNIT_BYTES, 0);
  t->col[0].alone = t->col[1].alone = t->col[2].alone = 1;
  lp_table_column(t, "name", "path", LP_UNIT_TEXT);
  if (!subject->heap || !subject->baseheap ||
      !lp_heap_cankeep(t, subject->heap) ||
      !lp_heap_cankeep(t, subject->baseheap))
    return;
  paths_open(&rows, subject);
  for (i = 0; i < rows.names.n; i++) {
    Row *r = &rows.row[i];
    r->n[LP_NOW][DIFF_BYTES] = r->n[LP_BASE][DIFF_BYTES] = 0;
    if (!row_enough(subject->heap, opt, r))
      continue;
    lp_table_row(t);
    if (!r->cut) {
      diff_put(t, 0, r, DIFF_RETAINED);
      lp_table_number(t, 2, r->n[LP_BASE][DIFF_RETAINED]);
    } else if (r->n[LP_NOW][DIFF_RETAINED]) {
      lp_table_number(t, 1, r->n[LP_NOW][DIFF_RETAINED]);
    } else {
      lp_table_number(t, 2, r->n[LP_BASE][DIFF_RETAINED]);
    }
    diff_name(t, 3, &rows, i);
  }
  lp_table_sort(t, 0);
  rows_close(&rows);
}

/* -- The verdict ----------------------------------------------------------- */

#define VERDICT_LINES 5
#define VERDICT_LEAST 10 /* Percent of the growth that is worth a line. */

/* Growth of each row that rows below it have, if these grew by LEAST: of those
** below each other, the nearest one. The caller frees the array.
*/
static int64_t *verdict_below(const Rows *rows, const LpHeap *h, int64_t least)
{
  int64_t *below = lp_zalloc(rows->names.n + 1, sizeof(*below));
  LpIdMap of = {0};
  uint32_t i;
  for (i = 0; i < rows->names.n; i++)
    if (rows->row[i].id[LP_NOW] != LP_NONE && !rows->row[i].cut)
      lp_idmap_put(&of, rows->row[i].id[LP_NOW], i);
  for (i = 0; i < rows->names.n; i++) {
    const Row *r = &rows->row[i];
    int64_t change = (int64_t)row_change(r, DIFF_RETAINED);
    uint32_t up = r->id[LP_NOW], parent = LP_NONE;
    if (up == LP_NONE || r->cut || change < least)
      continue;
    while (parent == LP_NONE && up != LP_GRAPH_ROOT && up != LP_NONE) {
      up = h->dom.parent[up];
      parent = lp_idmap_get(&of, up);
    }
    if (parent != LP_NONE)
      below[parent] += change;
  }
  lp_idmap_free(&of);
  return below;
}

/* The row with most growth, at least LEAST, that is not that of rows below it,
** which say more; or LP_NONE.
*/
static uint32_t verdict_next(const Rows *rows, const int64_t *below,
                             int64_t least, const char *done)
{
  uint32_t i, best = LP_NONE;
  for (i = 0; i < rows->names.n; i++) {
    const Row *r = &rows->row[i];
    int64_t change = (int64_t)row_change(r, DIFF_RETAINED);
    if (done[i] || r->id[LP_NOW] == LP_NONE || r->cut || change < least)
      continue;
    if ((best == LP_NONE ||
         change > (int64_t)row_change(&rows->row[best], DIFF_RETAINED)) &&
        below[i] < change / 10 * 8)
      best = i;
  }
  return best;
}

/* Values in a table that are objects. */
static unsigned verdict_values(const LpHeap *h, uint32_t id)
{
  const LpEdge *e = lp_graph_first(&h->dump.graph, id);
  unsigned n = 0;
  for (; e; e = lp_graph_next(e)) {
    LpEdgeKind kind = lp_edge_kind(e);
    n += kind == LP_EDGE_FIELD || kind == LP_EDGE_ITEM || kind == LP_EDGE_VALUE;
  }
  return n;
}

/* How many values a table has, if it is in both dumps and has more now. */
static void verdict_entries(LpBuf *b, const LpSubject *subject, const Row *r)
{
  uint32_t now = r->id[LP_NOW], base = r->id[LP_BASE];
  unsigned many, few;
  if (now == LP_NONE || base == LP_NONE)
    return;
  many = verdict_values(subject->heap, now);
  few = verdict_values(subject->baseheap, base);
  if (few && many > few)
    lp_buf_printf(b, "; it held %u object%s, and holds %u", few,
                  few == 1 ? "" : "s", many);
}

/* One line: what has grown, and from what. */
static void verdict_line(LpBuf *b, const LpSubject *subject, const Rows *rows,
                         uint32_t i, uint64_t grown)
{
  const Row *r = &rows->row[i];
  uint64_t change = row_change(r, DIFF_RETAINED);
  size_t n;
  const char *s = lp_intern_get(&rows->names, i, &n);
  lp_buf_printf(b, "  %.1f%% of it (", lp_text_percent(change, grown));
  lp_text_size(b, change, 1);
  lp_buf_puts(b, ") is kept by ");
  lp_buf_add(b, s, n);
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, subject->heap, r->id[LP_NOW]);
  if (r->n[LP_BASE][DIFF_RETAINED]) {
    lp_buf_puts(b, ": it kept ");
    lp_text_size(b, r->n[LP_BASE][DIFF_RETAINED], 1);
    lp_buf_puts(b, ", and keeps ");
    lp_text_size(b, r->n[LP_NOW][DIFF_RETAINED], 1);
    verdict_entries(b, subject, r);
  } else {
    lp_buf_puts(b, ", which is new");
  }
  lp_buf_puts(b, "\n");
}

/* Append the paths that have grown most, each inside of no other one. */
static void verdict_lines(LpBuf *b, const LpSubject *subject, uint64_t grown)
{
  const int64_t least = (int64_t)(grown / 100 * VERDICT_LEAST) + 1;
  Rows rows;
  int64_t *below;
  char *done;
  unsigned n = 0;
  uint32_t i;
  paths_open(&rows, subject);
  done = lp_zalloc(rows.names.n + 1, 1);
  below = verdict_below(&rows, subject->heap, least);
  while (n < VERDICT_LINES &&
         (i = verdict_next(&rows, below, least, done)) != LP_NONE) {
    verdict_line(b, subject, &rows, i, grown);
    done[i] = 1;
    n++;
  }
  if (!n)
    lp_buf_printf(b,
                  "  No object whose path can be compared keeps more than "
                  "%d%% of it\n",
                  VERDICT_LEAST);
  free(below);
  free(done);
  rows_close(&rows);
}

void lp_heap_diff_sentences(LpBuf *b, const LpSubject *subject)
{
  uint64_t now = lp_heap_reached(subject->heap);
  uint64_t base = lp_heap_reached(subject->baseheap);
  uint64_t change = now > base ? now - base : base - now;
  lp_buf_puts(b, "COMPARED WITH THE BASE\n  ");
  if (now == base) {
    lp_buf_puts(b, "As much is in use as before: ");
  } else {
    lp_text_size(b, change, 1);
    lp_buf_printf(b, " %s in use (%+.1f%%): ", now > base ? "more" : "less",
                  (now > base ? 1 : -1) * lp_text_percent(change, base));
    lp_text_size(b, base, 1);
    lp_buf_puts(b, " before, now ");
  }
  lp_text_size(b, now, 1);
  lp_buf_puts(b, "\n");
  if (now > base)
    verdict_lines(b, subject, change);
  lp_buf_puts(b, "\n");
}

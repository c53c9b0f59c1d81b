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

/* A row in each of the two dumps. */
typedef struct Row {
  LpHeapRow of[LP_NSIDE]; /* The id is an object of the dump, or LP_NONE. */
  int cut; /* The path is cut: it cannot be found in the other dump. */
} Row;

/* Rows by name. */
typedef struct Rows {
  LpIntern names;
  Row *row;
  size_t cap;
} Rows;

static const Row row_none = {.of = {{.id = LP_NONE}, {.id = LP_NONE}}};

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

/* How much more is kept; as a signed number, it may be less. */
static uint64_t row_change(const Row *r)
{
  return r->of[LP_NOW].retained - r->of[LP_BASE].retained;
}

/* Is one of a row's changes large enough to be shown? */
static int row_enough(const LpHeap *h, const LpReportOptions *opt, const Row *r)
{
  return lp_heap_enough(h, opt,
                        lp_size(r->of[LP_NOW].bytes - r->of[LP_BASE].bytes)) ||
         lp_heap_enough(h, opt, lp_size(row_change(r)));
}

/* Add row I to the table. */
static void row_put(const LpColumns *c, const Rows *rows, uint32_t i)
{
  LpHeapRow *now = &rows->row[i].of[LP_NOW];
  now->name.s = lp_intern_get(&rows->names, i, &now->name.n);
  lp_columns_row(c, now, &rows->row[i].of[LP_BASE]);
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
    r->of[side].bytes += s->bytes;
    r->of[side].objects += s->objects;
    r->of[side].retained += s->retained;
  }
  lp_buf_free(&b);
}

void lp_heap_diff_shapes(const LpColumns *c, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  int keeps = lp_heap_keeps(subject->heap) && lp_heap_keeps(subject->baseheap);
  Rows rows = {.cap = 0};
  uint32_t i;
  shapes_add(&rows, subject->heap, LP_NOW);
  shapes_add(&rows, subject->baseheap, LP_BASE);
  for (i = 0; i < rows.names.n; i++) {
    Row *r = &rows.row[i];
    if (!row_enough(subject->heap, opt, r))
      continue;
    if (!keeps)
      r->of[LP_NOW].retained = r->of[LP_BASE].retained = LP_UNKNOWN;
    row_put(c, &rows, i);
  }
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
    r->of[side].retained += h->dom.retained[id[i]];
    r->of[side].id = id[i];
    r->cut = !whole;
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
    if (r->of[side].retained || r->cut)
      continue;
    b.n = 0;
    lp_buf_add(&b, s, n);
    other = lp_heap_find_path(h, b.s);
    r->of[side].retained = other.retained;
    r->of[side].id = other.objects == 1 ? other.most : LP_NONE;
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

/* What a path that is cut kept in the other dump is not known. */
static void row_unknown(Row *r)
{
  if (r->cut)
    r->of[r->of[LP_NOW].retained ? LP_BASE : LP_NOW].retained = LP_UNKNOWN;
}

void lp_heap_diff_retained(const LpColumns *c, const LpSubject *subject,
                           const LpReportOptions *opt)
{
  Rows rows;
  uint32_t i;
  paths_open(&rows, subject);
  for (i = 0; i < rows.names.n; i++) {
    if (!row_enough(subject->heap, opt, &rows.row[i]))
      continue;
    row_unknown(&rows.row[i]);
    row_put(c, &rows, i);
  }
  lp_table_sort(c->t, 0);
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
    if (rows->row[i].of[LP_NOW].id != LP_NONE && !rows->row[i].cut)
      lp_idmap_put(&of, rows->row[i].of[LP_NOW].id, i);
  for (i = 0; i < rows->names.n; i++) {
    const Row *r = &rows->row[i];
    int64_t change = (int64_t)row_change(r);
    uint32_t up = r->of[LP_NOW].id, parent = LP_NONE;
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
    int64_t change = (int64_t)row_change(r);
    if (done[i] || r->of[LP_NOW].id == LP_NONE || r->cut || change < least)
      continue;
    if ((best == LP_NONE || change > (int64_t)row_change(&rows->row[best])) &&
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
  uint32_t now = r->of[LP_NOW].id, base = r->of[LP_BASE].id;
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
  uint64_t change = row_change(r);
  size_t n;
  const char *s = lp_intern_get(&rows->names, i, &n);
  lp_buf_printf(b, "  %.1f%% of it (", lp_text_percent(change, grown));
  lp_text_size(b, change, 1);
  lp_buf_puts(b, ") is kept by ");
  lp_buf_add(b, s, n);
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, subject->heap, r->of[LP_NOW].id);
  if (r->of[LP_BASE].retained) {
    lp_buf_puts(b, ": it kept ");
    lp_text_size(b, r->of[LP_BASE].retained, 1);
    lp_buf_puts(b, ", and keeps ");
    lp_text_size(b, r->of[LP_NOW].retained, 1);
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

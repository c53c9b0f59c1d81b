/*
** Two heap dumps compared. Numbers of objects and shapes differ from dump to
** dump, so names are compared.
*/

#include <stdlib.h>

#include "births.h"
#include "find.h"
#include "heap_diff.h"
#include "heap/heap_report.h"

static const LpDiffRow row_none = {.of = {{.id = LP_NONE}, {.id = LP_NONE}}};

/* The row of a name, made if there is none. */
static LpDiffRow *rows_get(LpDiffRows *r, const LpBuf *name)
{
  uint32_t n = r->names.n, at = lp_intern(&r->names, name->s, name->n);
  if (at == n) {
    r->row = lp_grow(r->row, &r->cap, n + 1, sizeof(*r->row));
    r->row[at] = row_none;
  }
  return &r->row[at];
}

void lp_diff_close(LpDiffRows *r)
{
  lp_intern_free(&r->names);
  free(r->row);
}

int64_t lp_diff_change(const LpDiffRow *r)
{
  return (int64_t)(r->of[LP_NOW].retained - r->of[LP_BASE].retained);
}

/* Bytes of a shape's objects that are new, about. */
static uint64_t row_fresh(const LpDiffRow *r)
{
  const LpHeapRow *now = &r->of[LP_NOW];
  return now->objects && now->fresh != LP_UNKNOWN
             ? now->bytes / now->objects * now->fresh
             : 0;
}

/* Is one of a row's changes large enough to be shown? */
static int row_enough(const LpHeap *h, const LpReportOptions *opt,
                      const LpDiffRow *r)
{
  return lp_heap_enough(h, opt,
                        lp_size(r->of[LP_NOW].bytes - r->of[LP_BASE].bytes)) ||
         lp_heap_enough(h, opt, lp_size((uint64_t)lp_diff_change(r))) ||
         lp_heap_enough(h, opt, row_fresh(r));
}

/* Add row I to the table. */
static void row_put(const LpColumns *c, const LpDiffRows *rows, uint32_t i)
{
  LpHeapRow *now = &rows->row[i].of[LP_NOW];
  now->name.s = lp_intern_get(&rows->names, i, &now->name.n);
  lp_columns_row(c, now, &rows->row[i].of[LP_BASE]);
}

/* -- Shapes ---------------------------------------------------------------- */

/* Add the shapes of one dump: those that have the same name are one. ONLY has,
** by shape, objects that the other dump has not, if that is known.
*/
static void shapes_add(LpDiffRows *rows, const LpHeap *h, LpSide side,
                       const uint64_t *only)
{
  LpBuf b = {0};
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    const LpShapeSum *s = &h->shapes.shape[i];
    LpDiffRow *r;
    b.n = 0;
    lp_shape_name(&b, h, i);
    r = rows_get(rows, &b);
    r->of[side].bytes += s->bytes;
    r->of[side].objects += s->objects;
    r->of[side].retained += s->retained;
    if (only && side == LP_NOW)
      r->of[LP_NOW].fresh += only[i];
    else if (only)
      r->of[LP_NOW].gone += only[i];
  }
  lp_buf_free(&b);
}

/* It is not known which objects are new: text has no columns of that. */
static void shapes_strange(LpTable *t, LpDiffRows *rows)
{
  int fresh = lp_table_find(t, "new"), gone = lp_table_find(t, "deleted");
  uint32_t i;
  for (i = 0; i < rows->names.n; i++)
    rows->row[i].of[LP_NOW].fresh = rows->row[i].of[LP_NOW].gone = LP_UNKNOWN;
  if (fresh >= 0 && gone >= 0)
    t->col[fresh].extra = t->col[gone].extra = 1;
}

/* The shapes of both dumps, by name, for a table. */
static LpDiffRows shapes_open(const LpSubject *subject, LpTable *t)
{
  LpPairing heaps = lp_pairing(subject->heap, subject->baseheap);
  LpBirths births = lp_births(&heaps);
  LpDiffRows rows = {.cap = 0};
  shapes_add(&rows, subject->heap, LP_NOW, births.one[LP_NOW]);
  shapes_add(&rows, subject->baseheap, LP_BASE, births.one[LP_BASE]);
  if (!births.known)
    shapes_strange(t, &rows);
  lp_births_close(&births);
  lp_pairing_close(&heaps);
  return rows;
}

void lp_heap_diff_shapes(const LpColumns *c, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  int keeps = lp_heap_keeps(subject->heap) && lp_heap_keeps(subject->baseheap);
  LpDiffRows rows = shapes_open(subject, c->t);
  uint32_t i;
  for (i = 0; i < rows.names.n; i++) {
    LpDiffRow *r = &rows.row[i];
    if (!row_enough(subject->heap, opt, r))
      continue;
    if (!keeps)
      r->of[LP_NOW].retained = r->of[LP_BASE].retained = LP_UNKNOWN;
    row_put(c, &rows, i);
  }
  lp_diff_close(&rows);
}

/* -- Objects at paths ------------------------------------------------------ */

/* Adds the objects of one dump that keep most. */
static void paths_add(LpDiffRows *rows, const LpHeap *h, LpSide side)
{
  const LpReportOptions most = {.top = LP_HEAP_ROWS, .min = LP_REPORT_MIN / 10};
  uint64_t *figure = lp_heap_figures(h);
  LpBuf b = {0};
  size_t i, n;
  uint32_t *id = lp_heap_largest(h, &most, figure, &n);
  for (i = 0; i < n; i++) {
    LpDiffRow *r;
    int whole;
    b.n = 0;
    whole = lp_path_name(&b, &h->dump, &h->paths, id[i], LP_HEAP_STEPS);
    r = rows_get(rows, &b);
    r->of[side].id = r->of[side].retained ? LP_NONE : id[i];
    r->of[side].retained += h->dom.retained[id[i]];
    r->cut = !whole;
  }
  lp_buf_free(&b);
  free(figure);
  free(id);
}

/* Looks the rows of one dump up in the other one. */
static void paths_other(LpDiffRows *rows, const LpHeap *h, LpSide side)
{
  uint32_t i;
  LpBuf b = {0};
  for (i = 0; i < rows->names.n; i++) {
    LpDiffRow *r = &rows->row[i];
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

LpDiffRows lp_diff_paths(const LpSubject *subject)
{
  LpDiffRows rows = {.cap = 0};
  paths_add(&rows, subject->heap, LP_NOW);
  paths_add(&rows, subject->baseheap, LP_BASE);
  paths_other(&rows, subject->heap, LP_NOW);
  paths_other(&rows, subject->baseheap, LP_BASE);
  return rows;
}

/* Rows in their order. */
typedef struct Order {
  const LpDiffRow *row;
} Order;

/* For qsort_r: what changed most comes first, what cannot be compared last. */
static int order_before(const void *a, const void *b, void *ctx)
{
  const Order *o = ctx;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const LpDiffRow *x = &o->row[i], *y = &o->row[k];
  uint64_t n = lp_size((uint64_t)lp_diff_change(x));
  uint64_t m = lp_size((uint64_t)lp_diff_change(y));
  if (x->cut != y->cut)
    return x->cut - y->cut;
  if (!x->cut && n != m)
    return n > m ? -1 : 1;
  return i < k ? -1 : i > k;
}

uint32_t *lp_diff_shown(const LpDiffRows *rows, const LpHeap *h,
                        const LpReportOptions *opt, size_t *n)
{
  uint32_t *list = lp_alloc((rows->names.n + 1) * sizeof(*list)), i;
  Order o = {rows->row};
  *n = 0;
  for (i = 0; i < rows->names.n; i++)
    if (row_enough(h, opt, &rows->row[i]))
      list[(*n)++] = i;
  qsort_r(list, *n, sizeof(*list), order_before, &o);
  return list;
}

/* What a path that is cut kept in the other dump is not known. */
static void row_unknown(LpDiffRow *r)
{
  if (r->cut)
    r->of[r->of[LP_NOW].retained ? LP_BASE : LP_NOW].retained = LP_UNKNOWN;
}

void lp_heap_diff_retained(const LpColumns *c, const LpSubject *subject,
                           const LpReportOptions *opt)
{
  LpDiffRows rows = lp_diff_paths(subject);
  size_t i, n;
  uint32_t *list = lp_diff_shown(&rows, subject->heap, opt, &n);
  for (i = 0; i < n; i++) {
    row_unknown(&rows.row[list[i]]);
    row_put(c, &rows, list[i]);
  }
  free(list);
  lp_diff_close(&rows);
}

/*
** Tables of a heap dump: types, shapes, the objects that keep most, empty slots
** of tables.
*/

#include <stdlib.h>

#include "heap_columns.h"
#include "diff/heap_diff.h"
#include "heap_report.h"
#include "text.h"

#define HEAP_TAKES (LP_TAKES_ROWS | LP_TAKES_MIN | LP_TAKES_HUMAN)
#define HEAP_DIFFS (HEAP_TAKES | LP_TAKES_DIFF)

/* -- Types ----------------------------------------------------------------- */

/* Add the objects of a type in one dump to a row. */
static void types_add(LpHeapRow *r, const LpHeap *h, unsigned type)
{
  r->bytes += h->dump.type[type].bytes;
  r->objects += h->dump.type[type].objects;
  r->garbage += h->garbage.type[type].bytes;
  r->garbage_objects += h->garbage.type[type].objects;
  r->unknown += h->unknown.type[type].bytes;
  r->unknown_objects += h->unknown.type[type].objects;
}

/* All types, with a total: of the dump, and of BASE if that is not NULL. */
static void types_rows(const LpColumns *c, const LpHeap *h, const LpHeap *base)
{
  LpHeapRow all = {.name = {"total", 5}}, before = {.id = 0};
  unsigned i;
  for (i = 0; i < 16; i++) {
    LpHeapRow now = {.id = i}, then = {.id = 0};
    types_add(&now, h, i);
    types_add(&all, h, i);
    if (base) {
      types_add(&then, base, i);
      types_add(&before, base, i);
    }
    if (now.objects || then.objects)
      lp_columns_row(c, &now, &then);
  }
  lp_table_sort(c->t, 0);
  lp_columns_row(c, &all, &before);
  c->t->foot = 1;
}

/* Those of what is unknown are shown only if anything is. */
static void types_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  int doubt = h && h->doubt != LP_DOUBT_NONE;
  const LpField *const list[] = {&lp_col_share,
                                 &lp_col_objects,
                                 &lp_col_garbage,
                                 &lp_col_garbage_objects,
                                 doubt ? &lp_col_unknown : NULL,
                                 doubt ? &lp_col_unknown_objects : NULL,
                                 &lp_col_type};
  LpColumns c =
      lp_heap_columns(t, h, list, LP_NFIELDS(list), opt->base != NULL);
  if (h && (!opt->base || subject->baseheap))
    types_rows(&c, h, opt->base ? subject->baseheap : NULL);
}

const LpReport lp_report_heap_types = {.view = "types",
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_ROWS | LP_TAKES_HUMAN |
                                                LP_TAKES_DIFF,
                                       .table = types_table};

/* -- Shapes ---------------------------------------------------------------- */

/* The shapes of a dump that are or keep enough. */
static void shapes_rows(const LpColumns *c, const LpHeap *h,
                        const LpReportOptions *opt)
{
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    const LpShapeSum *s = &h->shapes.shape[i];
    LpHeapRow r = {.id = i,
                   .bytes = s->bytes,
                   .objects = s->objects,
                   .retained = lp_heap_keeps(h) ? s->retained : LP_UNKNOWN};
    if (lp_heap_enough(h, opt, s->bytes) ||
        (lp_heap_keeps(h) && lp_heap_enough(h, opt, s->retained)))
      lp_columns_row(c, &r, NULL);
  }
}

/* All shapes. */
static void shapes_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  static const LpField *const list[] = {
      &lp_col_share,   &lp_col_objects,        &lp_col_new,
      &lp_col_deleted, &lp_col_retained_shape, &lp_col_shape};
  const LpHeap *h = subject->heap;
  LpColumns c =
      lp_heap_columns(t, h, list, LP_NFIELDS(list), opt->base != NULL);
  if (h && !opt->base)
    shapes_rows(&c, h, opt);
  else if (h && subject->baseheap)
    lp_heap_diff_shapes(&c, subject, opt);
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_shapes = {.view = "shapes",
                                        .of = LP_OF_HEAP,
                                        .takes = HEAP_DIFFS,
                                        .table = shapes_table};

/* -- Objects that keep most ------------------------------------------------ */

/* The objects of one dump that keep most. */
static void retained_rows(const LpColumns *c, const LpHeap *h,
                          const LpReportOptions *opt)
{
  size_t i, n;
  uint32_t *id = lp_heap_retained(h, opt, &n);
  for (i = 0; i < n; i++) {
    LpHeapRow r = lp_heap_row(h, id[i]);
    lp_columns_row(c, &r, NULL);
  }
  free(id);
}

/* The objects that keep most. Those of two dumps are the same if they have the
** same path, which is all that is said of them.
*/
static void retained_table(LpTable *t, const LpSubject *subject,
                           const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap, *base = subject->baseheap;
  int diff = opt->base != NULL;
  const LpField *const list[] = {&lp_col_retained, diff ? NULL : &lp_col_bytes,
                                 diff ? NULL : &lp_col_object, &lp_col_path};
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), diff);
  if (!h || !lp_heap_cankeep(t, h))
    return;
  if (!diff)
    retained_rows(&c, h, opt);
  else if (base && lp_heap_cankeep(t, base))
    lp_heap_diff_retained(&c, subject, opt);
}

const LpReport lp_report_heap_retained = {.view = "retained",
                                          .of = LP_OF_HEAP,
                                          .takes = HEAP_DIFFS,
                                          .table = retained_table};

/* -- Empty slots ----------------------------------------------------------- */

/* Tables with slots that hold nothing. */
static void sparse_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_empty, &lp_col_bytes,
                                        &lp_col_object, &lp_col_path};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  size_t i;
  for (i = 0; h && i < h->dump.nsparse; i++) {
    LpHeapRow r = lp_heap_row(h, h->dump.sparse[i].id);
    r.empty = h->dump.sparse[i].bytes;
    if (lp_heap_enough(h, opt, r.empty))
      lp_columns_row(&c, &r, NULL);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_sparse = {.view = "sparse",
                                        .of = LP_OF_HEAP,
                                        .takes = HEAP_TAKES,
                                        .table = sparse_table};

/*
** Tables of a heap dump: types, shapes, the objects that keep most, empty slots
** of tables, threads.
*/

#include <stdlib.h>

#include "heap_diff.h"
#include "heap_report.h"
#include "text.h"

#define HEAP_TAKES (LP_TAKES_ROWS | LP_TAKES_MIN | LP_TAKES_HUMAN)
#define HEAP_DIFFS (HEAP_TAKES | LP_TAKES_DIFF)

/* Add what an object or a shape is called, which is the last column. */
static void table_name(LpTable *t, unsigned col, const LpHeap *h, uint32_t id,
                       void (*add)(LpBuf *b, const LpHeap *h, uint32_t id))
{
  LpBuf b = {0};
  add(&b, h, id);
  lp_table_string(t, col, b.s ? b.s : lp_strdup(""));
}

/* A number, and its share of all bytes. */
static void table_share(LpTable *t, unsigned col, const LpHeap *h, uint64_t n)
{
  lp_table_number(t, col, n);
  lp_table_percent(t, col + 1, n, lp_heap_bytes(h));
}

/* The columns of what objects keep, and its share of all bytes. */
static void table_keeps(LpTable *t, const LpHeap *h)
{
  lp_heap_keeping(t, h);
  lp_table_column(t, "retained-percent", "%", LP_UNIT_PERCENT)->alone = 1;
}

/* Put what an object keeps, and its share, if that is known. */
static void table_kept(LpTable *t, unsigned col, const LpHeap *h, uint64_t n)
{
  if (lp_heap_keeps(h))
    table_share(t, col, h, n);
}

/* -- Types ----------------------------------------------------------------- */

/* A row: all objects, and those that are not reached. */
static void types_row(LpTable *t, const LpHeap *h, const char *name,
                      const LpTypeSum *all, const LpTypeSum *garbage,
                      const LpTypeSum *unknown)
{
  unsigned col = 5;
  lp_table_row(t);
  table_share(t, 0, h, all->bytes);
  lp_table_number(t, 2, all->objects);
  lp_table_number(t, 3, garbage->bytes);
  lp_table_number(t, 4, garbage->objects);
  if (h->doubt != LP_DOUBT_NONE) {
    lp_table_number(t, col++, unknown->bytes);
    lp_table_number(t, col++, unknown->objects);
  }
  lp_table_string(t, col, lp_strdup(name));
}

/* The columns: those of what is unknown only if anything is. */
static void types_columns(LpTable *t, const LpHeap *h)
{
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "bytes-percent", "%", LP_UNIT_PERCENT);
  lp_table_column(t, "objects", "objects", LP_UNIT_COUNT);
  lp_table_column(t, "garbage", "garbage", LP_UNIT_BYTES);
  lp_table_column(t, "garbage-objects", "garbage objects", LP_UNIT_COUNT);
  if (h && h->doubt != LP_DOUBT_NONE) {
    lp_table_column(t, "unknown", "unknown", LP_UNIT_BYTES);
    lp_table_column(t, "unknown-objects", "unknown objects", LP_UNIT_COUNT);
  }
  lp_table_column(t, "name", "type", LP_UNIT_TEXT);
}

/* All types, with a total. */
static void types_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  LpTypeSum all = {0};
  unsigned i;
  if (opt->base) {
    lp_heap_diff_types(t, subject);
    return;
  }
  types_columns(t, h);
  if (!h)
    return;
  for (i = 0; i < 16; i++) {
    if (!h->dump.type[i].objects)
      continue;
    types_row(t, h, lp_path_type(i), &h->dump.type[i], &h->garbage.type[i],
              &h->unknown.type[i]);
    all.objects += h->dump.type[i].objects;
    all.bytes += h->dump.type[i].bytes;
  }
  lp_table_sort(t, 0);
  types_row(t, h, "total", &all, &h->garbage.all, &h->unknown.all);
  t->foot = 1;
}

const LpReport lp_report_heap_types = {.view = "types",
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_ROWS | LP_TAKES_HUMAN |
                                                LP_TAKES_DIFF,
                                       .table = types_table};

/* -- Shapes ---------------------------------------------------------------- */

/* All shapes. */
static void shapes_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  uint32_t i;
  if (opt->base) {
    lp_heap_diff_shapes(t, subject, opt);
    return;
  }
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "bytes-percent", "%", LP_UNIT_PERCENT);
  lp_table_column(t, "objects", "objects", LP_UNIT_COUNT);
  table_keeps(t, h);
  lp_table_column(t, "name", "shape", LP_UNIT_TEXT);
  for (i = 0; h && i < h->shapes.keys.n; i++) {
    const LpShapeSum *s = &h->shapes.shape[i];
    if (!lp_heap_enough(h, opt, s->bytes) &&
        (!lp_heap_keeps(h) || !lp_heap_enough(h, opt, s->retained)))
      continue;
    lp_table_row(t);
    table_share(t, 0, h, s->bytes);
    lp_table_number(t, 2, s->objects);
    table_kept(t, 3, h, s->retained);
    table_name(t, 5, h, i, lp_shape_name);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_shapes = {.view = "shapes",
                                        .of = LP_OF_HEAP,
                                        .takes = HEAP_DIFFS,
                                        .table = shapes_table};

/* -- Objects that keep most ------------------------------------------------ */

/* The objects that keep most. */
static void retained_table(LpTable *t, const LpSubject *subject,
                           const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  uint32_t *id;
  size_t i, n;
  if (opt->base) {
    lp_heap_diff_retained(t, subject, opt);
    return;
  }
  table_keeps(t, h);
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "object", "object", LP_UNIT_TEXT);
  lp_table_column(t, "name", "path", LP_UNIT_TEXT);
  if (!h || !lp_heap_cankeep(t, h))
    return;
  id = lp_heap_retained(h, opt, &n);
  for (i = 0; i < n; i++) {
    lp_table_row(t);
    table_share(t, 0, h, h->dom.retained[id[i]]);
    lp_table_number(t, 2, lp_graph_size(&h->dump.graph, id[i]));
    table_name(t, 3, h, id[i], lp_shape_nameof);
    table_name(t, 4, h, id[i], lp_heap_place);
  }
  free(id);
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
  const LpHeap *h = subject->heap;
  size_t i;
  lp_table_column(t, "empty", "empty", LP_UNIT_BYTES);
  lp_table_column(t, "empty-percent", "%", LP_UNIT_PERCENT);
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "object", "object", LP_UNIT_TEXT);
  lp_table_column(t, "name", "path", LP_UNIT_TEXT);
  for (i = 0; h && i < h->dump.nsparse; i++) {
    const LpSparse *s = &h->dump.sparse[i];
    if (!lp_heap_enough(h, opt, s->bytes))
      continue;
    lp_table_row(t);
    table_share(t, 0, h, s->bytes);
    lp_table_number(t, 2, lp_graph_size(&h->dump.graph, s->id));
    table_name(t, 3, h, s->id, lp_shape_nameof);
    table_name(t, 4, h, s->id, lp_heap_place);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_sparse = {.view = "sparse",
                                        .of = LP_OF_HEAP,
                                        .takes = HEAP_TAKES,
                                        .table = sparse_table};

/* -- Threads --------------------------------------------------------------- */

#define THREAD_HELD 3 /* What a stack holds: that many of its objects. */

/* Is an object, behind N others, one of them? Slots often hold the same. */
static int thread_has(const LpEdge *const *held, size_t n, uint32_t id)
{
  while (n-- > 0)
    if (lp_edge_to(held[n]) == id)
      return 1;
  return 0;
}

/* The references of a stack's slots to what keeps most, the most first. Returns
** how many there are.
*/
static size_t thread_held(const LpHeap *h, uint32_t thread,
                          const LpEdge *held[THREAD_HELD])
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, thread);
  size_t n = 0, at;
  for (; e; e = lp_graph_next(e)) {
    uint64_t keeps = h->dom.retained[lp_edge_to(e)];
    if ((lp_edge_kind(e) != LP_EDGE_SLOT && lp_edge_kind(e) != LP_EDGE_LOCAL) ||
        !keeps || thread_has(held, n, lp_edge_to(e)))
      continue;
    if (n < THREAD_HELD)
      n++;
    else if (keeps <= h->dom.retained[lp_edge_to(held[n - 1])])
      continue;
    for (at = n - 1;
         at > 0 && h->dom.retained[lp_edge_to(held[at - 1])] < keeps; at--)
      held[at] = held[at - 1];
    held[at] = e;
  }
  return n;
}

/* Append what a stack holds: the names of slots, and what is in them. */
static void thread_holds(LpBuf *b, const LpHeap *h, uint32_t thread)
{
  const LpEdge *held[THREAD_HELD];
  size_t i, n = thread_held(h, thread, held);
  for (i = 0; i < n; i++) {
    uint32_t id = lp_edge_to(held[i]);
    lp_buf_puts(b, i ? "; " : "");
    lp_path_step(b, &h->dump, thread, held[i]);
    lp_buf_puts(b, " ");
    lp_shape_nameof(b, h, id);
    lp_buf_puts(b, " (");
    lp_text_size(b, h->dom.retained[id], 1);
    lp_buf_puts(b, ")");
  }
}

/* All coroutines. */
static void threads_table(LpTable *t, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  uint32_t id;
  (void)opt;
  table_keeps(t, h);
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "object", "object", LP_UNIT_TEXT);
  lp_table_column(t, "name", "path", LP_UNIT_TEXT);
  lp_table_column(t, "holds", "its stack holds, with what that keeps",
                  LP_UNIT_TEXT);
  for (id = 1; h && id < h->dump.graph.n; id++) {
    if (h->dump.graph.type[id] != LJM_TYPE_THREAD)
      continue;
    lp_table_row(t);
    table_kept(t, 0, h, h->dom.retained[id]);
    lp_table_number(t, 2, lp_graph_size(&h->dump.graph, id));
    table_name(t, 3, h, id, lp_shape_nameof);
    table_name(t, 4, h, id, lp_heap_place);
    table_name(t, 5, h, id, thread_holds);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_threads = {.view = "threads",
                                         .of = LP_OF_HEAP,
                                         .takes =
                                             LP_TAKES_ROWS | LP_TAKES_HUMAN,
                                         .table = threads_table};

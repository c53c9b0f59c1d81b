/*
** Threads of a heap dump: where each one waits, and what its stack holds.
*/

#include "heap_columns.h"
#include "heap_report.h"
#include "printable.h"
#include "text.h"

#define THREAD_FRAMES 8 /* Of a stack that are shown, */
#define THREAD_HELD   3 /* and of what it holds, so many objects. */

/* -- Stacks ---------------------------------------------------------------- */

/* Append a frame of a function, which waits in LINE; 0: that is not known. */
static void thread_frame(LpBuf *b, const LpDump *d, uint32_t fn, uint64_t line)
{
  LpBuf name = {0}, file = {0};
  uint32_t proto = lp_dump_link(d, fn, LP_EDGE_PROTO);
  const LpProto *pt = proto == LP_NONE ? NULL : lp_dump_proto(d, proto);
  LpStr chunk;
  if (!pt || pt->line == LP_PROTO_BUILTIN) {
    lp_buf_puts(b, proto == LP_NONE ? "[C]" : "function");
    if (proto == LP_NONE)
      lp_identifiers_add(b, d, fn);
    else
      lp_path_proto(b, d, proto);
    return;
  }
  lp_identifiers_add(&name, d, proto);
  chunk.s = lp_intern_get(&d->graph.names, pt->chunk, &chunk.n);
  lp_printable_file(&file, chunk);
  lp_heap_function(b, name.n ? name.s + 1 : "", file.n ? file.s : "?", pt->line,
                   line);
  lp_buf_free(&name);
  lp_buf_free(&file);
}

/* The function that a coroutine is to begin with, or LP_NONE. */
static uint32_t thread_first(const LpGraph *g, uint32_t thread)
{
  const LpEdge *e = lp_graph_first(g, thread);
  for (; e; e = lp_graph_next(e))
    if (lp_edge_kind(e) == LP_EDGE_SLOT)
      return g->type[lp_edge_to(e)] == LJM_TYPE_FUNCTION ? lp_edge_to(e)
                                                         : LP_NONE;
  return LP_NONE;
}

/* Append the functions on a stack, the innermost first. */
static void thread_stack(LpBuf *b, const void *view, const void *row)
{
  const LpDump *d = &((const LpHeap *)view)->dump;
  uint32_t thread = ((const LpHeapRow *)row)->id, first;
  const LpEdge *e = lp_graph_first(&d->graph, thread);
  unsigned n = 0;
  for (; e && n <= THREAD_FRAMES; e = lp_graph_next(e)) {
    if (lp_edge_kind(e) != LP_EDGE_FRAME)
      continue;
    lp_buf_puts(b, n ? " < " : "");
    if (n++ == THREAD_FRAMES)
      lp_buf_puts(b, "...");
    else
      thread_frame(b, d, lp_edge_to(e), lp_edge_detail(e));
  }
  first = n ? LP_NONE : thread_first(&d->graph, thread);
  if (first == LP_NONE)
    return;
  lp_buf_puts(b, "not begun: ");
  thread_frame(b, d, first, 0);
}

/* -- What stacks hold ------------------------------------------------------ */

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
static void thread_holds(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  uint32_t thread = ((const LpHeapRow *)row)->id;
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

/* -- The view -------------------------------------------------------------- */

static const LpField thread_waits = {
    LP_FIELD_TEXT("stack", "waits at", thread_stack)};
static const LpField thread_column = {LP_FIELD_TEXT(
    "holds", "its stack holds, with what that keeps", thread_holds)};

/* All coroutines. */
static void threads_table(LpTable *t, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_retained, &lp_col_bytes,
                                        &lp_col_object,   &lp_col_path,
                                        &thread_waits,    &thread_column};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  uint32_t id;
  (void)opt;
  for (id = 1; h && id < h->dump.graph.n; id++) {
    LpHeapRow r;
    if (h->dump.graph.type[id] != LJM_TYPE_THREAD)
      continue;
    r = lp_heap_row(h, id);
    lp_columns_row(&c, &r, NULL);
  }
  lp_table_sort(t, 0);
}

const LpReport lp_report_heap_threads = {.view = "threads",
                                         .of = LP_OF_HEAP,
                                         .takes =
                                             LP_TAKES_ROWS | LP_TAKES_HUMAN,
                                         .table = threads_table};

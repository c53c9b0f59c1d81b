/*
** Shared by the reports of heap dumps.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "heap_queue.h"
#include "heap_report.h"
#include "text.h"

#define HOLDERS 4 /* That are named. */

void lp_heap_place(LpBuf *b, const LpHeap *h, uint32_t id)
{
  lp_path_name(b, &h->dump, &h->paths, id, LP_HEAP_STEPS);
}

int lp_heap_enough(const LpHeap *h, const LpReportOptions *opt, uint64_t n)
{
  return lp_report_enough(opt, n, lp_heap_bytes(h));
}

uint64_t lp_heap_least(const LpHeap *h, const LpReportOptions *opt)
{
  uint64_t low = 0, high = lp_heap_bytes(h) + 1; /* Not enough, enough. */
  high = high > opt->least ? high : opt->least;
  while (high - low > 1) {
    uint64_t mid = low + (high - low) / 2;
    if (lp_heap_enough(h, opt, mid))
      high = mid;
    else
      low = mid;
  }
  return high;
}

/* -- Suspects -------------------------------------------------------------- */

/* Code of the JIT compiler: where it starts. */
static void suspect_traces(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  uint32_t at = s->id;
  while (at != LP_GRAPH_ROOT && h->dump.graph.type[at] != LJM_TYPE_PROTO)
    at = h->paths.from[at];
  lp_buf_puts(b, "code of the JIT compiler");
  if (s->chain)
    lp_buf_printf(b, ": %" PRIu64 " traces", s->chain);
  if (at != LP_GRAPH_ROOT) {
    lp_buf_puts(b, " that start in");
    lp_path_proto(b, &h->dump, at);
  }
}

/* Where it is, and the code that has it. */
static void suspect_place(LpBuf *b, const LpHeap *h, uint32_t id)
{
  uint32_t code = lp_path_code(&h->dump, &h->paths, id);
  lp_heap_place(b, h, id);
  if (code != LP_NONE) {
    lp_buf_puts(b, " (in");
    lp_path_proto(b, &h->dump, code);
    lp_buf_puts(b, ")");
  }
}

/* The one object that keeps it. */
static void suspect_keeper(LpBuf *b, const LpHeap *h, uint32_t id)
{
  lp_buf_puts(b, "kept by ");
  suspect_place(b, h, id);
  lp_buf_puts(b, ", a ");
  lp_shape_nameof(b, h, id);
}

/* One of several: an object, or a reference of it. */
static void suspect_holder(LpBuf *b, const LpHeap *h, const LpHolder *holder)
{
  if (holder->edge == LP_NONE) {
    suspect_place(b, h, holder->id);
    return;
  }
  lp_heap_place(b, h, holder->id);
  lp_path_step(b, &h->dump, holder->id, &h->dump.graph.edge[holder->edge]);
}

/* The objects that keep it together. */
static void suspect_holders(LpBuf *b, const LpHeap *h, const LpShared *g)
{
  size_t shown = g->nholder > HOLDERS + 1 ? HOLDERS : g->nholder, i;
  lp_buf_puts(b, "kept by ");
  for (i = 0; i < shown; i++) {
    if (i)
      lp_buf_puts(b, i + 1 == g->nholder ? " and " : ", ");
    suspect_holder(b, h, &g->holder[i]);
  }
  if (shown < g->nholder)
    lp_buf_printf(b, " and %zu more", g->nholder - shown);
  lp_buf_puts(b, " together");
}

/* What would be free without one of them, and without all. */
static void suspect_dropped(LpBuf *b, const LpHeap *h, const LpShared *g)
{
  LpDomTree tree = lp_heap_tree(h);
  uint64_t all = lp_heap_reached(h);
  double first = lp_text_percent(lp_holder_keeps(&tree, g->holder), all);
  lp_buf_puts(b, "; dropping one frees ");
  if (g->nholder == 2)
    lp_buf_printf(b, "%.1f%% or %.1f%%, both", first,
                  lp_text_percent(lp_holder_keeps(&tree, g->holder + 1), all));
  else
    lp_buf_printf(b, "at most %.1f%%, all", first);
  lp_buf_printf(b, " %.1f%%", lp_text_percent(g->freed, all));
}

void lp_heap_doubt(LpBuf *b, const LpHeap *h)
{
  int least;
  uint64_t n = lp_dump_missing(&h->dump, &least);
  if (h->doubt == LP_DOUBT_MADE)
    lp_buf_puts(b, "the VM may have been making it");
  else if (h->doubt == LP_DOUBT_REGISTERS)
    lp_buf_puts(b, "objects may be in registers alone");
  else if (h->doubt == LP_DOUBT_LOST && n)
    lp_buf_printf(b, "%s%" PRIu64 " object%s lost", least ? "at least " : "", n,
                  n == 1 ? " was" : "s were");
  else if (h->doubt == LP_DOUBT_LOST)
    lp_buf_puts(b, "a part of the dump is missing");
}

int lp_heap_cankeep(LpTable *t, const LpHeap *h)
{
  if (lp_heap_keeps(h))
    return 1;
  lp_buf_puts(&t->note, ": unknown, ");
  lp_heap_doubt(&t->note, h);
  return 0;
}

/* Append what is shared. */
static void suspect_things(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  int most = s->retained > s->bytes / 2;
  if (s->shape == LP_NONE)
    return;
  if (!most)
    lp_buf_printf(b, ": %zu objects, of which ", s->shared->n);
  if (most && s->objects == 1)
    lp_buf_puts(b, ": a ");
  else
    lp_buf_printf(b, "%s%" PRIu64 " x ", most ? ": " : "", s->objects);
  lp_shape_name(b, h, s->shape);
  if (!most) {
    lp_buf_puts(b, " keep most, ");
    lp_text_size(b, s->retained, 1);
    return;
  }
  if (s->inner != LP_NONE) {
    lp_buf_printf(b, ", with %" PRIu64 " x ", s->inners);
    lp_shape_name(b, h, s->inner);
  }
}

/* Append what a suspect keeps. */
static void suspect_kept(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  if (s->chain) {
    lp_buf_printf(b, ": a chain of %" PRIu64 " such objects", s->chain);
  } else if (s->shape != LP_NONE && s->objects == 1) {
    lp_buf_puts(b, ": in small parts, of which a ");
    lp_shape_name(b, h, s->shape);
    lp_buf_puts(b, " keeps most, ");
    lp_text_size(b, s->retained, 1);
  } else if (s->shape != LP_NONE && s->retained > s->bytes / 10) {
    lp_buf_printf(b, ": %" PRIu64 " x ", s->objects);
    lp_shape_name(b, h, s->shape);
    lp_buf_puts(b, " keep ");
    lp_text_size(b, s->retained, 1);
    if (s->inner != LP_NONE) {
      lp_buf_printf(b, ", with %" PRIu64 " x ", s->inners);
      lp_shape_name(b, h, s->inner);
    }
  }
}

void lp_heap_suspect(LpBuf *b, const LpHeap *h, const LpSuspect *s)
{
  lp_buf_printf(b, "%.1f%% (", lp_text_percent(s->bytes, lp_heap_reached(h)));
  lp_text_size(b, s->bytes, 1);
  lp_buf_puts(b, ") is ");
  if (s->shared) {
    suspect_holders(b, h, s->shared);
    suspect_things(b, h, s);
    suspect_dropped(b, h, s->shared);
  } else if (h->dump.graph.type[s->id] == LJM_TYPE_TRACE) {
    suspect_traces(b, h, s);
  } else {
    suspect_keeper(b, h, s->id);
    suspect_kept(b, h, s);
  }
}

/* -- The largest objects --------------------------------------------------- */

uint32_t *lp_heap_largest(const LpHeap *h, const LpReportOptions *opt,
                          const uint64_t *figure, size_t *n)
{
  size_t most = opt->top ? opt->top : LP_HEAP_ROWS, at;
  LpQueue q = {.last = 1};
  uint32_t id, *list;
  for (id = 1; id < h->dump.graph.n; id++) {
    LpWaiting w = {figure[id], id, 0};
    if (!figure[id] || !lp_heap_enough(h, opt, figure[id]) ||
        (q.n == most && !lp_queue_before(&w, q.w)))
      continue;
    if (q.n == most)
      lp_queue_take(&q);
    lp_queue_put(&q, w);
  }
  *n = at = q.n;
  list = lp_alloc((at + 1) * sizeof(*list));
  while (at > 0)
    list[--at] = lp_queue_take(&q).id;
  free(q.w);
  return list;
}

/* Does the line of another object say the same? An upvalue keeps what it holds;
** and each link of a list keeps the rest of the list.
*/
static int retained_again(const LpHeap *h, uint32_t id)
{
  const LpGraph *g = &h->dump.graph;
  uint32_t parent = h->dom.parent[id], shape = h->shapes.of[id];
  if (g->type[id] == LJM_TYPE_UPVALUE)
    return h->kids.first[id] != LP_NONE;
  return shape != LP_NONE && parent != LP_GRAPH_ROOT && parent != LP_NONE &&
         h->shapes.of[parent] == shape &&
         h->dom.retained[id] >= h->dom.retained[parent] / 2;
}

uint64_t *lp_heap_figures(const LpHeap *h)
{
  uint64_t *figure = lp_zalloc(h->dump.graph.n, sizeof(*figure));
  uint32_t id;
  for (id = 1; id < h->dump.graph.n; id++)
    if (lp_dominators_has(&h->dom, id) && !retained_again(h, id))
      figure[id] = h->dom.retained[id];
  return figure;
}

uint32_t *lp_heap_retained(const LpHeap *h, const LpReportOptions *opt,
                           size_t *n)
{
  uint64_t *figure = lp_heap_figures(h);
  uint32_t *id = lp_heap_largest(h, opt, figure, n);
  free(figure);
  return id;
}

/*
** Shared by the reports of heap dumps.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "heap_queue.h"
#include "heap_report.h"
#include "text.h"

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

/* -- What is not known ----------------------------------------------------- */

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

void lp_heap_function(LpBuf *b, const char *name, const char *file,
                      uint64_t first, uint64_t line)
{
  int placed = 1;
  if (*name && line)
    lp_buf_puts(b, name);
  else if (first)
    lp_buf_printf(b, "%s of line %" PRIu64, *name ? name : "function", first);
  else
    placed = 0;
  lp_buf_puts(b, placed ? " (" : "");
  lp_buf_puts(b, file);
  if (line)
    lp_buf_printf(b, ":%" PRIu64, line);
  lp_buf_puts(b, placed ? ")" : "");
}

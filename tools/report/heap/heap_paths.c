/*
** --path: the shortest ways from the roots to an object, by its address or by
** a path to it, or to the largest objects of a shape. Weak references keep
** nothing, so they are no way.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "find.h"
#include "heap_columns.h"
#include "heap_report.h"

#define PATHS_MOST  5   /* Of a shape, if nothing else is said. */
#define PATHS_STEPS 100 /* Of one, before its middle is left out. */

/* -- What is meant --------------------------------------------------------- */

/* The objects that are meant, largest first. */
static uint32_t *paths_objects(const LpHeap *h, const LpReportOptions *opt,
                               size_t *n)
{
  LpReportOptions most = {.top = opt->top ? opt->top : PATHS_MOST};
  uint32_t *all = lp_heap_named(h, opt->path, n), *found;
  uint64_t *figure;
  size_t i;
  if (*n < 2)
    return all;
  figure = lp_zalloc(h->dump.graph.n, sizeof(*figure));
  for (i = 0; i < *n; i++)
    figure[all[i]] = h->dom.retained[all[i]]
                         ? h->dom.retained[all[i]]
                         : lp_graph_size(&h->dump.graph, all[i]);
  found = lp_heap_largest(h, &most, figure, n);
  free(figure);
  free(all);
  return found;
}

/* -- The table ------------------------------------------------------------- */

/* A row. */
typedef struct Step {
  LpHeapRow r;
  uint64_t path; /* Which one of several. */
  unsigned line; /* Lines before it. */
  size_t gap;    /* Objects that are left out here, or 0. */
} Step;

/* Append an object's address. */
static void step_address(LpBuf *b, const void *view, const void *row)
{
  const Step *s = row;
  if (s->gap)
    lp_buf_puts(b, "...");
  else
    lp_col_address.text(b, view, &s->r);
}

/* Append how the object is reached, and what it is. */
static void step_name(LpBuf *b, const void *view, const void *row)
{
  const LpHeap *h = view;
  const LpGraph *g = &h->dump.graph;
  const Step *s = row;
  uint32_t id = s->r.id;
  lp_buf_printf(b, "%*s", (int)(2 * s->line), "");
  if (s->gap) {
    lp_buf_printf(b, "... %zu objects", s->gap);
    return;
  }
  if (lp_dominators_has(&h->dom, id))
    lp_path_step(b, &h->dump, h->paths.from[id], &g->edge[h->paths.edge[id]]);
  else
    lp_buf_puts(b, "(unreachable)");
  lp_buf_puts(b, "  ");
  if (g->type[id] == LJM_TYPE_TABLE || g->type[id] == LJM_TYPE_CDATA ||
      g->type[id] == LJM_TYPE_THREAD)
    lp_shape_nameof(b, h, id);
  else
    lp_path_object(b, &h->dump, id);
}

static const LpField step_addressfield = {
    LP_FIELD_TEXT("address", "address", step_address)};
static const LpField step_path = {
    LP_FIELD_NUMBER("path", "path", LP_UNIT_COUNT, Step, path, .extra = 1)};
static const LpField step_namefield = {
    LP_FIELD_TEXT("name", "path", step_name)};

/* The row of the N objects that are left out in the middle of a long way. */
static Step step_gap(const LpHeap *h, const uint32_t *id, size_t n)
{
  Step s = {.r = lp_heap_row(h, id[n - 1]), .gap = n};
  size_t i;
  for (i = 0; i + 1 < n; i++)
    s.r.bytes += lp_graph_size(&h->dump.graph, id[i]);
  return s;
}

/* Add the objects on the way to one, from the root on. */
static void paths_way(const LpColumns *c, const LpHeap *h, uint32_t id,
                      size_t path)
{
  uint32_t *up = NULL, at;
  size_t n = 0, cap = 0, i, half = PATHS_STEPS / 2;
  unsigned line = 0;
  for (at = id; at != LP_NONE && at != LP_GRAPH_ROOT; at = h->paths.from[at]) {
    up = lp_grow(up, &cap, n + 1, sizeof(*up));
    up[n++] = at;
  }
  for (i = 0; i < n; i++) {
    size_t gap = i == half && n > PATHS_STEPS ? n - 2 * half : 0;
    Step s = {.gap = 0};
    if (gap)
      s = step_gap(h, up + half, gap);
    else
      s.r = lp_heap_row(h, up[n - 1 - i]);
    s.path = path;
    s.r.depth = i;
    s.line = line++;
    lp_columns_row(c, &s, NULL);
    i += gap ? gap - 1 : 0;
  }
  free(up);
}

/* The shortest paths to what --path names. */
static void paths_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_keeps,      &lp_col_bytes,
                                        &step_addressfield, &step_path,
                                        &lp_col_depth,      &step_namefield};
  const LpHeap *h = subject->heap;
  LpColumns c = lp_heap_columns(t, h, list, LP_NFIELDS(list), 0);
  uint32_t *id;
  size_t n, i;
  if (!h || !opt->path)
    return;
  t->topped = 1;
  id = paths_objects(h, opt, &n);
  for (i = 0; i < n; i++)
    paths_way(&c, h, id[i], i + 1);
  free(id);
}

const LpReport lp_report_heap_paths = {.view = "paths",
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_PATH | LP_TAKES_TOP |
                                                LP_TAKES_HUMAN,
                                       .table = paths_table};

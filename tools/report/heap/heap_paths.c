/*
** --path: the shortest ways from the roots to an object, by its address or by
** a path to it, or to the largest objects of a shape. Weak references keep
** nothing, so they are no way.
*/

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"
#include "heap_columns.h"
#include "heap_report.h"

#define PATHS_MOST  5   /* Of a shape, if nothing else is said. */
#define PATHS_STEPS 100 /* Of one, before its middle is left out. */

/* -- What is meant --------------------------------------------------------- */

/* The object at an address, 0x and digits; or LP_NONE. */
static uint32_t paths_address(const LpHeap *h, const char *s)
{
  const LpGraph *g = &h->dump.graph;
  uint64_t addr;
  char *end;
  uint32_t id;
  errno = 0;
  addr = strtoull(s, &end, 16);
  if (strncmp(s, "0x", 2) != 0 || *end || errno)
    return LP_NONE;
  for (id = 1; id < g->n; id++)
    if (g->node[id].addr == addr && (g->flags[id] & LP_NODE_DEFINED))
      return id;
  return LP_NONE;
}

/* The shapes whose names contain a text. The caller frees the array. */
static char *paths_shapes(const LpHeap *h, const char *text)
{
  char *is = lp_zalloc(h->shapes.keys.n + 1, 1);
  LpBuf b = {0};
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    b.n = 0;
    lp_shape_name(&b, h, i);
    is[i] = strstr(b.s, text) ? 1 : 0;
  }
  lp_buf_free(&b);
  return is;
}

/* The objects that are meant, largest first; *N of *ALL. */
static uint32_t *paths_objects(const LpHeap *h, const LpReportOptions *opt,
                               size_t *n)
{
  LpReportOptions most = {.top = opt->top ? opt->top : PATHS_MOST};
  uint32_t one = paths_address(h, opt->path), id, *found;
  uint64_t *figure;
  char *is;
  if (one == LP_NONE)
    one = lp_heap_find_path(h, opt->path).most;
  if (one != LP_NONE) {
    *n = 1;
    found = lp_alloc(sizeof(*found));
    *found = one;
    return found;
  }
  is = paths_shapes(h, opt->path);
  figure = lp_zalloc(h->dump.graph.n, sizeof(*figure));
  for (id = 1; id < h->dump.graph.n; id++)
    if (h->shapes.of[id] != LP_NONE && is[h->shapes.of[id]])
      figure[id] = h->dom.retained[id] ? h->dom.retained[id]
                                       : lp_graph_size(&h->dump.graph, id);
  found = lp_heap_largest(h, &most, figure, n);
  free(figure);
  free(is);
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
  if (!n)
    lp_buf_puts(&t->note, ": no object has that address, path or shape");
  free(id);
}

const LpReport lp_report_heap_paths = {.view = "paths",
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_PATH | LP_TAKES_TOP |
                                                LP_TAKES_HUMAN,
                                       .table = paths_table};

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

/* One object on the way; LINE counts the lines before it. */
static void paths_step(LpTable *t, const LpHeap *h, uint32_t id, size_t path,
                       size_t depth, unsigned line)
{
  const LpGraph *g = &h->dump.graph;
  LpBuf b = {0}, addr = {0};
  lp_table_row(t);
  lp_heap_kept(t, 0, h, h->dom.retained[id]);
  lp_table_number(t, 1, lp_graph_size(g, id));
  lp_buf_printf(&addr, "0x%" PRIx64, g->node[id].addr);
  lp_table_string(t, 2, addr.s);
  lp_table_number(t, 3, path);
  lp_table_number(t, 4, depth);
  lp_buf_printf(&b, "%*s", (int)(2 * line), "");
  if (lp_dominators_has(&h->dom, id))
    lp_path_step(&b, &h->dump, h->paths.from[id], &g->edge[h->paths.edge[id]]);
  else
    lp_buf_puts(&b, "(unreachable)");
  lp_buf_puts(&b, "  ");
  if (g->type[id] == LJM_TYPE_TABLE || g->type[id] == LJM_TYPE_CDATA ||
      g->type[id] == LJM_TYPE_THREAD)
    lp_shape_nameof(&b, h, id);
  else
    lp_path_object(&b, &h->dump, id);
  lp_table_string(t, 5, b.s);
}

/* The N objects that are left out in the middle of a long way. */
static void paths_gap(LpTable *t, const LpHeap *h, const uint32_t *id, size_t n,
                      size_t path, size_t depth)
{
  uint64_t bytes = 0;
  LpBuf b = {0};
  size_t i;
  for (i = 0; i < n; i++)
    bytes += lp_graph_size(&h->dump.graph, id[i]);
  lp_table_row(t);
  lp_heap_kept(t, 0, h, h->dom.retained[id[n - 1]]);
  lp_table_number(t, 1, bytes);
  lp_table_string(t, 2, lp_strdup("..."));
  lp_table_number(t, 3, path);
  lp_table_number(t, 4, depth);
  lp_buf_printf(&b, "%*s... %zu objects", PATHS_STEPS, "", n);
  lp_table_string(t, 5, b.s);
}

/* The objects on the way to one, from the root on. */
static void paths_way(LpTable *t, const LpHeap *h, uint32_t id, size_t path)
{
  uint32_t *up = NULL, at;
  size_t n = 0, cap = 0, i, half = PATHS_STEPS / 2;
  unsigned line = 0;
  for (at = id; at != LP_NONE && at != LP_GRAPH_ROOT; at = h->paths.from[at]) {
    up = lp_grow(up, &cap, n + 1, sizeof(*up));
    up[n++] = at;
  }
  for (i = 0; i < n; i++) {
    if (i == half && n > PATHS_STEPS) {
      paths_gap(t, h, up + half, n - 2 * half, path, i);
      i = n - half;
      line++;
    }
    paths_step(t, h, up[n - 1 - i], path, i, line++);
  }
  free(up);
}

/* The shortest paths to what --path names. */
static void paths_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpHeap *h = subject->heap;
  uint32_t *id;
  size_t n, i;
  lp_heap_keeping(t, subject->heap);
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "address", "address", LP_UNIT_TEXT);
  lp_table_column(t, "path", "path", LP_UNIT_COUNT)->extra = 1;
  lp_table_column(t, "depth", "depth", LP_UNIT_COUNT)->extra = 1;
  lp_table_column(t, "name", "path", LP_UNIT_TEXT);
  if (!h || !opt->path)
    return;
  t->topped = 1;
  id = paths_objects(h, opt, &n);
  for (i = 0; i < n; i++)
    paths_way(t, h, id[i], i + 1);
  if (!n)
    lp_buf_puts(&t->note, ": no object has that address, path or shape");
  free(id);
}

const LpReport lp_report_heap_paths = {.view = "paths",
                                       .of = LP_OF_HEAP,
                                       .takes = LP_TAKES_PATH | LP_TAKES_TOP |
                                                LP_TAKES_HUMAN,
                                       .table = paths_table};

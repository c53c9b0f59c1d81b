/*
** --view=tree of a heap dump: the dominator tree, in which objects of the same
** shape with the same dominator are one line, and so are lists of them.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap_report.h"

#define TREE_DEEP 40 /* Lines below each other. */

/* Objects that are one line. */
typedef struct Group {
  uint32_t *id;
  size_t n, cap;
  uint32_t shape;
  uint64_t retained, bytes;
  int apart; /* One object with a line of its own, whatever its shape. */
} Group;

/* Lines that are still to be written, the next one last. */
typedef struct Line {
  Group g;
  unsigned depth;
} Line;

typedef struct Tree {
  const LpHeap *h;
  const LpReportOptions *opt;
  LpTable *t;
  Line *line;
  size_t n, cap;
} Tree;

/* -- Groups ---------------------------------------------------------------- */

static void group_add(Group *g, const LpHeap *h, uint32_t id)
{
  g->id = lp_grow(g->id, &g->cap, g->n + 1, sizeof(*g->id));
  g->id[g->n++] = id;
  g->bytes += lp_graph_size(&h->dump.graph, id);
}

/* Takes in what the objects keep that looks like them, over and over: lists and
** trees become one line. A shape that says little is only followed along a
** list.
*/
static void group_absorb(Group *g, const LpHeap *h)
{
  size_t at;
  for (at = 0; at < g->n; at++) {
    uint32_t kid = h->kids.first[g->id[at]];
    uint64_t half = h->dom.retained[g->id[at]] / 2;
    for (; kid != LP_NONE; kid = h->kids.next[kid])
      if (h->shapes.of[kid] == g->shape &&
          (lp_shape_isplain(h, g->shape)
               ? !g->apart && h->dom.retained[kid] > half
               : 1))
        group_add(g, h, kid);
  }
}

/* Is it in the group? Only those with the same shape can be. */
static int group_has(const Group *g, const LpHeap *h, uint32_t kid,
                     uint32_t parent)
{
  if (h->shapes.of[kid] != g->shape)
    return 0;
  return !lp_shape_isplain(h, g->shape) ||
         (!g->apart && h->dom.retained[kid] > h->dom.retained[parent] / 2);
}

static int group_before(const void *a, const void *b)
{
  const Line *x = a, *y = b;
  if (x->g.retained != y->g.retained)
    return x->g.retained < y->g.retained ? -1 : 1; /* The largest last. */
  return x->g.id[0] > y->g.id[0] ? -1 : x->g.id[0] < y->g.id[0];
}

/* -- Lines ----------------------------------------------------------------- */

static void tree_push(Tree *tr, unsigned depth, uint32_t shape, int apart)
{
  tr->line = lp_grow(tr->line, &tr->cap, tr->n + 1, sizeof(*tr->line));
  tr->line[tr->n++] = (Line){{.shape = shape, .apart = apart}, depth};
}

/* Puts a kid into the lines from FIRST on. One that is kept by one object only
** and is large enough has its own.
*/
static void tree_sort_in(Tree *tr, LpIdMap *lines, size_t first, unsigned depth,
                         uint32_t kid, int apart)
{
  const LpHeap *h = tr->h;
  uint32_t shape = h->shapes.of[kid];
  uint32_t at = apart ? LP_NONE : lp_idmap_get(lines, shape);
  if (at == LP_NONE) {
    at = (uint32_t)(tr->n - first);
    tree_push(tr, depth, shape, apart);
    if (!apart)
      lp_idmap_put(lines, shape, at);
  }
  group_add(&tr->line[first + at].g, h, kid);
  tr->line[first + at].g.retained += h->dom.retained[kid];
}

/* The lines below a group, in their order. Small ones are left out. */
static void tree_below(Tree *tr, const Group *g, unsigned depth)
{
  const LpHeap *h = tr->h;
  LpIdMap lines = {0};
  size_t first = tr->n, i, kept = first;
  for (i = 0; i < g->n; i++) {
    uint32_t kid = h->kids.first[g->id[i]];
    for (; kid != LP_NONE; kid = h->kids.next[kid])
      if (!group_has(g, h, kid, g->id[i]))
        tree_sort_in(tr, &lines, first, depth, kid,
                     g->n == 1 &&
                         lp_heap_enough(h, tr->opt, h->dom.retained[kid]));
  }
  lp_idmap_free(&lines);
  for (i = first; i < tr->n; i++) {
    if (lp_heap_enough(h, tr->opt, tr->line[i].g.retained))
      tr->line[kept++] = tr->line[i];
    else
      free(tr->line[i].g.id);
  }
  tr->n = kept;
  if (kept > first)
    qsort(tr->line + first, kept - first, sizeof(*tr->line), group_before);
}

/* Appends what a line is called. */
static void tree_name(LpBuf *b, const LpHeap *h, const Group *g, unsigned depth)
{
  uint32_t id = g->id[0];
  lp_buf_printf(b, "%*s", (int)(2 * depth), "");
  if (g->n > 1) {
    lp_buf_printf(b, "%zu x ", g->n);
  } else if (h->paths.from[id] == h->dom.parent[id]) {
    lp_path_step(b, &h->dump, h->paths.from[id],
                 &h->dump.graph.edge[h->paths.edge[id]]);
    lp_buf_puts(b, "  ");
  } else {
    lp_heap_place(b, h, id);
    lp_buf_puts(b, "  ");
  }
  if (g->shape != LP_NONE && g->n > 1)
    lp_shape_name(b, h, g->shape);
  else
    lp_shape_nameof(b, h, id);
}

static void tree_row(Tree *tr, const Line *l)
{
  const LpHeap *h = tr->h;
  LpBuf b = {0};
  lp_table_row(tr->t);
  lp_table_number(tr->t, 0, l->g.retained);
  lp_table_percent(tr->t, 1, l->g.retained, lp_heap_bytes(h));
  lp_table_number(tr->t, 2, l->g.bytes);
  lp_table_number(tr->t, 3, l->g.n);
  lp_table_number(tr->t, 4, l->depth);
  tree_name(&b, h, &l->g, l->depth);
  lp_table_string(tr->t, 5, b.s);
}

static void tree_table(LpTable *t, const LpProfile *prof,
                       const LpReportOptions *opt)
{
  Tree tr = {prof->heap, opt, t, NULL, 0, 0};
  Group root = {.shape = LP_NONE};
  lp_table_column(t, "retained", "retained", LP_UNIT_BYTES)->alone = 1;
  lp_table_column(t, "retained-percent", "%", LP_UNIT_PERCENT)->alone = 1;
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "objects", "objects", LP_UNIT_COUNT);
  lp_table_column(t, "depth", "depth", LP_UNIT_COUNT)->extra = 1;
  lp_table_column(t, "name", "who keeps it", LP_UNIT_TEXT);
  if (!tr.h)
    return;
  group_add(&root, tr.h, LP_GRAPH_ROOT);
  tree_below(&tr, &root, 0);
  free(root.id);
  while (tr.n) {
    Line l = tr.line[--tr.n];
    group_absorb(&l.g, tr.h);
    tree_row(&tr, &l);
    if (l.depth + 1 < TREE_DEEP)
      tree_below(&tr, &l.g, l.depth + 1);
    free(l.g.id);
  }
  free(tr.line);
}

const LpReport lp_report_heap_tree = {.view = "tree",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_HUMAN,
                                      .table = tree_table};

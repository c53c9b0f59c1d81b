/*
** --view=tree of a heap dump: the dominator tree, in which objects of the same
** shape with the same dominator are one line, and so are lists of them.
*/

#include <stdlib.h>

#include "groups.h"
#include "heap_report.h"

#define TREE_DEEP  40 /* Lines below each other. */
#define TREE_APART 8  /* One part of so many has a line of its own. */

/* Lines that are still to be written, the next one last. */
typedef struct Line {
  LpGroup g;
  unsigned depth;
} Line;

typedef struct Tree {
  const LpHeap *h;
  LpTable *t;
  uint64_t least; /* Bytes of a line. */
  Line *line;
  size_t n, cap;
} Tree;

/* The lines below a group, in their order. Small ones are left out. Below the
** root, each large enough object has a line of its own.
*/
static void tree_below(Tree *tr, const LpGroup *g, unsigned depth)
{
  uint64_t part = depth ? g->retained / TREE_APART : 0;
  LpGroups below =
      lp_groups_below(tr->h, g, tr->least, part > tr->least ? part : tr->least);
  size_t i;
  for (i = below.n; i-- > 0;) {
    tr->line = lp_grow(tr->line, &tr->cap, tr->n + 1, sizeof(*tr->line));
    tr->line[tr->n++] = (Line){below.g[i], depth};
    below.g[i].id = NULL;
  }
  lp_groups_free(&below);
}

/* Put a row. */
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
  lp_buf_printf(&b, "%*s", (int)(2 * l->depth), "");
  lp_group_name(&b, h, &l->g);
  lp_table_string(tr->t, 5, b.s);
}

/* The dominator tree, with the largest first. */
static void tree_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  Tree tr = {.h = subject->heap, .t = t};
  LpGroup root;
  lp_table_column(t, "retained", "retained", LP_UNIT_BYTES)->alone = 1;
  lp_table_column(t, "retained-percent", "%", LP_UNIT_PERCENT)->alone = 1;
  lp_table_column(t, "bytes", "bytes", LP_UNIT_BYTES);
  lp_table_column(t, "objects", "objects", LP_UNIT_COUNT);
  lp_table_column(t, "depth", "depth", LP_UNIT_COUNT)->extra = 1;
  lp_table_column(t, "name", "who keeps it", LP_UNIT_TEXT);
  if (!tr.h || !lp_heap_cankeep(t, tr.h))
    return;
  tr.least = lp_heap_least(tr.h, opt);
  root = lp_group_root(tr.h);
  tree_below(&tr, &root, 0);
  lp_group_free(&root);
  while (tr.n) {
    Line l = tr.line[--tr.n];
    lp_group_absorb(&l.g, tr.h);
    tree_row(&tr, &l);
    if (l.depth + 1 < TREE_DEEP)
      tree_below(&tr, &l.g, l.depth + 1);
    lp_group_free(&l.g);
  }
  free(tr.line);
}

const LpReport lp_report_heap_tree = {.view = "tree",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_HUMAN,
                                      .table = tree_table};

/*
** --view=tree of a heap dump: the dominator tree, in which objects of the same
** shape with the same dominator are one line, and so are lists of them.
*/

#include <stdlib.h>

#include "groups.h"
#include "heap_columns.h"
#include "heap_suspects.h"

#define TREE_DEEP  40 /* Lines below each other. */
#define TREE_APART 8  /* One part of so many has a line of its own. */

/* Lines that are still to be written, the next one last. */
typedef struct Line {
  LpGroup g;
  unsigned depth;
} Line;

typedef struct Tree {
  const LpHeap *h;
  uint64_t least;  /* Bytes of a line. */
  uint8_t *shared; /* By object: see lp_sharing_of. */
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

/* A row, and the line that it is. */
typedef struct Row {
  LpHeapRow r;
  const LpGroup *g;
  const LpShared *shared; /* What several objects keep, which it is, or NULL. */
} Row;

/* Append how the group is reached, and what it is. */
static void row_name(LpBuf *b, const void *view, const void *row)
{
  const Row *r = row;
  lp_buf_printf(b, "%*s", (int)(2 * r->r.depth), "");
  lp_group_name(b, view, r->g);
  if (!r->shared || r->shared->nholder > LP_SUSPECT_HOLDERS)
    return;
  lp_buf_puts(b, ", kept by ");
  lp_heap_together(b, view, r->shared);
}

static const LpField row_namefield = {
    LP_FIELD_TEXT("name", "who keeps it", row_name)};

/* Add the row of a line. */
static void tree_row(const LpColumns *c, const Tree *tr, const Line *l)
{
  Row r = {.r = {.retained = l->g.retained,
                 .bytes = l->g.bytes,
                 .objects = l->g.n,
                 .depth = l->depth},
           .g = &l->g,
           .shared = lp_group_shared(tr->h, &l->g, tr->shared)};
  lp_columns_row(c, &r, NULL);
}

/* The dominator tree, with the largest first. */
static void tree_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_retained, &lp_col_bytes,
                                        &lp_col_objects, &lp_col_depth,
                                        &row_namefield};
  Tree tr = {.h = subject->heap};
  LpColumns c = lp_heap_columns(t, tr.h, list, LP_NFIELDS(list), 0);
  LpGroup root;
  if (!tr.h || !lp_heap_cankeep(t, tr.h))
    return;
  tr.least = lp_heap_least(tr.h, opt);
  tr.shared = lp_sharing_of(&tr.h->sharing, tr.h->dump.graph.n);
  root = lp_group_root(tr.h);
  tree_below(&tr, &root, 0);
  lp_group_free(&root);
  while (tr.n) {
    Line l = tr.line[--tr.n];
    lp_group_absorb(&l.g, tr.h);
    tree_row(&c, &tr, &l);
    if (l.depth + 1 < TREE_DEEP)
      tree_below(&tr, &l.g, l.depth + 1);
    lp_group_free(&l.g);
  }
  free(tr.line);
  free(tr.shared);
}

const LpReport lp_report_heap_tree = {.view = "tree",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_HUMAN,
                                      .table = tree_table};

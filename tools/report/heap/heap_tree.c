/*
** --view=tree of a heap dump: the dominator tree, in which objects of the same
** shape with the same dominator are one line, and so are lists of them. Of two
** dumps that are compared, the lines that have changed, or that keep such
** lines.
*/

#include <stdlib.h>

#include "heap_columns.h"
#include "heap_suspects.h"
#include "pairs.h"

#define TREE_DEEP    40 /* Lines below each other. */
#define TREE_APART   8  /* One part of so many has a line of its own; */
#define TREE_CHANGED 25 /* and one of so many in a comparison. */

/* A line. */
typedef struct Line {
  LpPair pair;
  unsigned depth;
} Line;

typedef struct Lines {
  Line *line;
  size_t n, cap;
} Lines;

typedef struct Tree {
  LpPairing heaps;
  uint64_t least;  /* Bytes of a line: what it keeps, or how that changed. */
  uint8_t *shared; /* By object of now: see lp_sharing_of. */
  Lines next;      /* Still to be looked at, the next one last. */
  Lines all;       /* In their order. */
} Tree;

/* Add a line. */
static void lines_add(Lines *l, Line line)
{
  l->line = lp_grow(l->line, &l->cap, l->n + 1, sizeof(*l->line));
  l->line[l->n++] = line;
}

/* What a line is worth: what it keeps, or how much more or less that is. */
static uint64_t tree_weight(const Tree *tr, const LpPair *p)
{
  uint64_t now = p->g[LP_NOW].retained, base = p->g[LP_BASE].retained;
  return tr->heaps.h[LP_BASE] ? lp_size(now - base) : now;
}

/* For qsort_r: what is worth most comes first. */
static int tree_before(const void *a, const void *b, void *ctx)
{
  const Tree *tr = ctx;
  uint64_t n = tree_weight(tr, a), m = tree_weight(tr, b);
  return (n < m) - (n > m);
}

/* The lines below a pair, in their order. What keeps little is left out. Below
** the root, each large enough object has a line of its own.
*/
static void tree_below(Tree *tr, const LpPair *p, unsigned depth)
{
  uint64_t parts = tr->heaps.h[LP_BASE] ? TREE_CHANGED : TREE_APART;
  uint64_t part = depth ? lp_pair_retained(p) / parts : 0;
  LpPairs below = lp_pairs_below(&tr->heaps, p, tr->least,
                                 part > tr->least ? part : tr->least);
  size_t i;
  if (below.n && tr->heaps.h[LP_BASE])
    qsort_r(below.p, below.n, sizeof(*below.p), tree_before, tr);
  for (i = below.n; i-- > 0;) {
    lines_add(&tr->next, (Line){below.p[i], depth});
    below.p[i] = (LpPair){0};
  }
  lp_pairs_free(&below);
}

/* A row, and the line that it is. */
typedef struct Row {
  LpHeapRow r;
  const LpPair *pair;
  const LpShared *shared; /* What several objects keep, which it is, or NULL. */
} Row;

/* Append how the group is reached, and what it is. */
static void row_name(LpBuf *b, const void *view, const void *row)
{
  const LpPairing *heaps = view;
  const Row *r = row;
  lp_buf_printf(b, "%*s", (int)(2 * r->r.depth), "");
  lp_pair_name(b, heaps, r->pair);
  if (!r->shared || r->shared->nholder > LP_SUSPECT_HOLDERS)
    return;
  lp_buf_puts(b, ", kept by ");
  lp_heap_together(b, heaps->h[LP_NOW], r->shared);
}

static const LpField row_namefield = {
    LP_FIELD_TEXT("name", "who keeps it", row_name)};

/* The figures of a line in one of the dumps. */
static LpHeapRow tree_side(const Line *l, LpSide side)
{
  const LpGroup *g = &l->pair.g[side];
  return (LpHeapRow){.retained = g->retained,
                     .bytes = g->bytes,
                     .objects = g->n,
                     .depth = l->depth};
}

/* Add the row of a line. */
static void tree_row(const LpColumns *c, const Tree *tr, const Line *l)
{
  const LpGroup *now = &l->pair.g[LP_NOW];
  LpHeapRow base = tree_side(l, LP_BASE);
  Row r = {.r = tree_side(l, LP_NOW), .pair = &l->pair};
  if (now->n)
    r.shared = lp_group_shared(tr->heaps.h[LP_NOW], now, tr->shared);
  lp_columns_row(c, &r, &base);
}

/* Find all lines. */
static void tree_lines(Tree *tr)
{
  LpPair root = lp_pair_root(&tr->heaps);
  tree_below(tr, &root, 0);
  lp_pair_free(&root);
  while (tr->next.n) {
    Line l = tr->next.line[--tr->next.n];
    lp_pair_absorb(&l.pair, &tr->heaps);
    lines_add(&tr->all, l);
    if (l.depth + 1 < TREE_DEEP)
      tree_below(tr, &l.pair, l.depth + 1);
  }
  free(tr->next.line);
}

/* Which lines are shown: those that are worth enough, and what keeps them. The
** caller frees the array.
*/
static char *tree_shown(const Tree *tr)
{
  char *shown = lp_zalloc(tr->all.n + 1, 1);
  unsigned above = 0; /* Depth of the last one: less deep is what keeps it. */
  size_t i;
  for (i = tr->all.n; i-- > 0;) {
    const Line *l = &tr->all.line[i];
    if (l->depth >= above && tree_weight(tr, &l->pair) < tr->least)
      continue;
    shown[i] = 1;
    above = l->depth;
  }
  return shown;
}

/* The rows of all lines. */
static void tree_rows(const LpColumns *c, Tree *tr)
{
  char *shown;
  size_t i;
  tree_lines(tr);
  shown = tree_shown(tr);
  for (i = 0; i < tr->all.n; i++) {
    if (shown[i])
      tree_row(c, tr, &tr->all.line[i]);
    lp_pair_free(&tr->all.line[i].pair);
  }
  free(shown);
  free(tr->all.line);
}

/* The dominator tree, with the largest first. */
static void tree_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  static const LpField *const list[] = {&lp_col_retained, &lp_col_bytes,
                                        &lp_col_objects, &lp_col_depth,
                                        &row_namefield};
  const LpHeap *h = subject->heap, *base = subject->baseheap;
  LpColumns c =
      lp_heap_columns(t, h, list, LP_NFIELDS(list), opt->base != NULL);
  Tree tr = {.least = 0};
  if (!h || !lp_heap_cankeep(t, h) || (opt->base && !base) ||
      (base && !lp_heap_cankeep(t, base)))
    return;
  c.view = &tr.heaps;
  tr.heaps = lp_pairing(h, base);
  tr.least = lp_heap_least(h, opt);
  tr.shared = lp_sharing_of(&h->sharing, h->dump.graph.n);
  tree_rows(&c, &tr);
  lp_pairing_close(&tr.heaps);
  free(tr.shared);
}

const LpReport lp_report_heap_tree = {.view = "tree",
                                      .of = LP_OF_HEAP,
                                      .takes = LP_TAKES_MIN | LP_TAKES_HUMAN |
                                               LP_TAKES_DIFF,
                                      .table = tree_table};

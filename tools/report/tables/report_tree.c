/*
** --view=tree: who called what, from the outside in; --view=callers: from the
** inside out.
*/

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "fit.h"
#include "report.h"
#include "text.h"

/* What a column shows of a metric. */
typedef enum TreeWhat {
  TREE_TOTAL,
  TREE_SELF,
  TREE_BASE,
  TREE_CHANGE
} TreeWhat;

typedef struct TreeColumn {
  LpMetric metric;
  TreeWhat what;
  int width;
  int decimals; /* Of the percentage behind it; 0: there is none. */
  const char *title;
} TreeColumn;

#define TREE_COLUMNS 3
#define TREE_WIDE    100 /* A terminal with room for all columns. */
#define TREE_NARROW  9   /* Digits of a column on one: 1023.9KiB. */
#define TREE_LONGER  16  /* So much wider a column may be, of huge numbers. */

typedef struct TreeText {
  LpOut *out;
  const LpProfile *prof;
  const LpReportOptions *opt;
  LpMetric metric;
  int callers; /* From the inside out. */
  TreeColumn col[TREE_COLUMNS];
  int ncol;
  LpTree tree;
  uint64_t *moved; /* By node: the change of its total. */
  uint64_t all;    /* What that is compared with. */
  char **label;    /* By site. */
  int levels;      /* Nodes that are deeper have no lines. */
  uint64_t *bytes; /* By depth: of lines, while they are measured. NULL: they
                   ** are written. */
} TreeText;

/* -- Columns -------------------------------------------------------------- */

/* The default metrics of memory. */
static const TreeColumn tree_usual[TREE_COLUMNS] = {
    {LP_METRIC_BYTES, TREE_TOTAL, 14, 2, "bytes"},
    {LP_METRIC_ALLOCATIONS, TREE_TOTAL, 12, 0, "allocations"},
    {LP_METRIC_LIVE, TREE_TOTAL, 14, 2, "live bytes"}};

/* Is that what is shown? */
static int tree_is_usual(const TreeText *t)
{
  return lp_metrics[t->metric].of == LP_OF_MEMORY && !t->opt->chosen &&
         !t->callers && !t->prof->baseline.present;
}

/* On a terminal columns are narrower, and those that a narrow one has no room
** for, or that are all 0, are left out.
*/
static void tree_fit(TreeText *t)
{
  int i, n = 0, wide = t->opt->screen.columns >= TREE_WIDE;
  for (i = 0; i < t->ncol; i++) {
    TreeColumn c = t->col[i];
    if (!i || c.decimals || c.what != TREE_TOTAL || wide) {
      c.width = lp_metrics[c.metric].unit == LP_UNIT_BYTES && !t->opt->human
                    ? 13
                    : TREE_NARROW;
      c.width = c.width < (int)strlen(c.title) ? (int)strlen(c.title) : c.width;
      c.decimals = c.decimals ? 1 : 0;
      t->col[n++] = c;
    }
  }
  t->ncol = n;
}

/* Choose the columns. */
static void tree_choose(TreeText *t)
{
  int width = lp_metrics[t->metric].unit == LP_UNIT_BYTES ? 14 : 12, i = 0;
  if (tree_is_usual(t)) {
    t->metric = LP_METRIC_BYTES;
    memcpy(t->col, tree_usual, sizeof(tree_usual));
    t->ncol = TREE_COLUMNS;
    return;
  }
  t->col[i++] =
      (TreeColumn){t->metric, TREE_TOTAL, width, !t->prof->baseline.present,
                   t->callers ? "self" : "total"};
  if (t->prof->baseline.present) {
    t->col[i++] = (TreeColumn){t->metric, TREE_BASE, width, 0, "base"};
    t->col[i++] = (TreeColumn){t->metric, TREE_CHANGE, width, 0, "change"};
  } else if (!t->callers) {
    t->col[i++] = (TreeColumn){t->metric, TREE_SELF, width, 1, "self"};
  }
  t->ncol = i;
}

/* The same, for the terminal if there is one. */
static void tree_columns(TreeText *t)
{
  tree_choose(t);
  if (t->opt->screen.columns)
    tree_fit(t);
}

/* The metrics that columns need. */
static unsigned tree_metrics(const TreeText *t)
{
  unsigned metrics = 0;
  int i;
  for (i = 0; i < t->ncol; i++)
    metrics |= LP_METRIC_BIT(t->col[i].metric);
  return metrics;
}

/* What node I has of a metric: itself, or with all further in. */
static uint64_t tree_value(const TreeText *t, LpSide side, LpMetric m, int self,
                           uint32_t i)
{
  const LpTreeColumn *c = &t->tree.col[side][m];
  return lp_value_round(self ? c->self[i] : c->total[i]);
}

/* By how much that has changed. */
static uint64_t tree_change(const TreeText *t, LpMetric m, int self, uint32_t i)
{
  return tree_value(t, LP_NOW, m, self, i) - tree_value(t, LP_BASE, m, self, i);
}

/* What node I has in a column. */
static uint64_t tree_number(const TreeText *t, const TreeColumn *c, uint32_t i)
{
  if (c->what == TREE_CHANGE)
    return tree_change(t, c->metric, 0, i);
  return tree_value(t, c->what == TREE_BASE ? LP_BASE : LP_NOW, c->metric,
                    c->what == TREE_SELF, i);
}

/* -- Order, and what is left out ------------------------------------------ */

/* By what nodes have themselves. Those of callers have it in total. */
static int tree_by_self(const TreeText *t, uint32_t a, uint32_t b)
{
  if (t->prof->baseline.present)
    return lp_most_first(lp_size(tree_change(t, t->metric, 1, a)),
                         lp_size(tree_change(t, t->metric, 1, b)));
  return lp_most_first(tree_value(t, LP_NOW, t->metric, 1, a),
                       tree_value(t, LP_NOW, t->metric, 1, b));
}

/* By the columns of totals. */
static int tree_by_total(const TreeText *t, uint32_t a, uint32_t b)
{
  int i, cmp = 0;
  if (t->prof->baseline.present)
    cmp = lp_most_first(lp_size(tree_change(t, t->metric, 0, a)),
                        lp_size(tree_change(t, t->metric, 0, b)));
  for (i = 0; i < t->ncol && !cmp; i++)
    if (t->col[i].what == TREE_TOTAL && (t->col[i].decimals || !i))
      cmp = lp_most_first(tree_number(t, &t->col[i], a),
                          tree_number(t, &t->col[i], b));
  return cmp;
}

/* As --sort says, then by name. */
static int tree_order(const LpTree *tree, uint32_t a, uint32_t b, void *ctx)
{
  const TreeText *t = ctx;
  const char *sort = t->opt->sort ? t->opt->sort : "total";
  int cmp = 0;
  if (strcmp(sort, "self") == 0 && !t->callers)
    cmp = tree_by_self(t, a, b);
  if (!cmp && strcmp(sort, "name") != 0)
    cmp = tree_by_total(t, a, b);
  if (cmp || tree->node[a].site == LP_NONE || tree->node[b].site == LP_NONE)
    return cmp;
  return strcmp(t->label[tree->node[a].site], t->label[tree->node[b].site]);
}

/* Is N of the metric enough to be shown? */
static int tree_enough(uint64_t n, void *ctx)
{
  const TreeText *t = ctx;
  return lp_report_enough(t->opt, n, t->all);
}

/* Is a node shown? In a diff, if enough changed in it or its callees, even if
** increases and decreases cancel.
*/
static int tree_shown(TreeText *t, uint32_t i)
{
  int col;
  if (t->callers)
    return 1;
  if (t->moved)
    return tree_enough(t->moved[i], t);
  for (col = 0; col < t->ncol; col++) {
    const TreeColumn *c = &t->col[col];
    if (c->what == TREE_TOTAL && c->decimals &&
        lp_report_enough(t->opt, tree_number(t, c, i),
                         tree_number(t, c, LP_NODE_ROOT)))
      return 1;
  }
  return 0;
}

/* Make the tree, in order. */
static void tree_open(TreeText *t)
{
  LpTreeOf of = {tree_metrics(t), LP_MERGE_NONE, t->opt->shape, 0, 0};
  LpTree *tree = &t->tree;
  uint32_t i;
  lp_tree_open(tree, t->prof, &of);
  lp_tree_total(tree);
  t->all = lp_tree_totals(tree, LP_NODE_ROOT, t->metric);
  if (t->prof->baseline.present) {
    uint64_t base = tree_value(t, LP_BASE, t->metric, 0, LP_NODE_ROOT);
    if ((int64_t)base > (int64_t)t->all)
      t->all = base;
    t->moved = lp_zalloc(tree->n, sizeof(uint64_t));
    for (i = tree->n; i-- > 0;) {
      t->moved[i] += lp_size(tree_change(t, t->metric, 1, i));
      if (i)
        t->moved[tree->node[i].parent] += t->moved[i];
    }
  }
  if (t->callers) {
    LpTree whole = *tree;
    lp_callers_open(tree, &whole, t->metric, tree_enough, t);
    lp_tree_close(&whole);
  }
  lp_tree_sort(tree, tree_order, t);
}

/* -- Text ----------------------------------------------------------------- */

/* The columns that numbers take. */
static size_t tree_width(const TreeText *t)
{
  int col, sum = 0;
  for (col = 0; col < t->ncol; col++)
    sum += t->col[col].width + (col > 0) +
           (t->col[col].decimals ? 6 + t->col[col].decimals : 0);
  return (size_t)sum;
}

/* Write a name, indented by depth, and end the line. On a terminal at least
** half of the room is for the name; what is deeper has its depth in brackets.
*/
static void tree_name(const TreeText *t, int depth, const char *name)
{
  size_t used = tree_width(t) + 2, columns = t->opt->screen.columns;
  size_t room = columns > used + 16 ? columns - used : 16;
  size_t indent = 2 * (size_t)depth;
  LpBuf b = {0};
  if (!columns) {
    lp_out_printf(t->out, "  %*s%s\n", 2 * depth, "", name);
    return;
  }
  if (indent > room / 2) {
    indent = room / 2;
    lp_buf_printf(&b, "[%d] ", depth);
  }
  lp_fit_name(&b, &t->opt->screen, name, room - indent - b.n);
  lp_out_printf(t->out, "  %*s%s\n", (int)indent, "", b.s);
  lp_buf_free(&b);
}

/* The bytes of a line that is not cut to the width of a terminal, at most. */
static uint64_t tree_bytes(const TreeText *t, int depth, const char *name)
{
  return tree_width(t) + (uint64_t)t->ncol * TREE_LONGER +
         2 * ((uint64_t)depth + 1) + strlen(name) + 1;
}

/* The line of a node with those numbers; its name is indented by depth. */
static void tree_line(const TreeText *t, const uint64_t *n, int depth,
                      const char *name)
{
  LpBuf b = {0};
  int col;
  if (t->bytes) {
    t->bytes[depth] += tree_bytes(t, depth, name);
    return;
  }
  for (col = 0; col < t->ncol; col++) {
    const TreeColumn *c = &t->col[col];
    b.n = 0;
    if (c->what == TREE_CHANGE && (int64_t)n[col] > 0)
      lp_buf_puts(&b, "+");
    lp_text_size(&b, n[col],
                 t->opt->human && lp_metrics[c->metric].unit == LP_UNIT_BYTES);
    lp_out_printf(t->out, "%s%*s", col ? " " : "", c->width, b.s);
    if (c->decimals) {
      uint64_t of = tree_value(t, LP_NOW, c->metric, 0, LP_NODE_ROOT);
      double percent =
          (int64_t)of > 0 ? 100.0 * (double)(int64_t)n[col] / (double)of : 0;
      lp_out_printf(t->out, " %*.*f%%", 4 + c->decimals, c->decimals, percent);
    }
  }
  tree_name(t, depth, name);
  lp_buf_free(&b);
}

/* The line of node I. */
static void tree_node(const TreeText *t, uint32_t i, int depth)
{
  uint32_t site = t->tree.node[i].site;
  uint64_t n[TREE_COLUMNS];
  int col;
  for (col = 0; col < t->ncol; col++)
    n[col] = tree_number(t, &t->col[col], i);
  tree_line(t, n, depth, site == LP_NONE ? "(all)" : t->label[site]);
}

/* Are siblings shown after I? */
static int tree_more(TreeText *t, uint32_t i)
{
  while ((i = t->tree.node[i].next))
    if (tree_shown(t, i))
      return 1;
  return 0;
}

/* One line for node I and its next siblings. Returns the last of them. */
static uint32_t tree_others(TreeText *t, uint32_t i, int depth)
{
  uint64_t n[TREE_COLUMNS] = {0}, others = 0;
  char name[40];
  int col;
  for (;; i = t->tree.node[i].next) {
    if (tree_shown(t, i)) {
      others++;
      for (col = 0; col < t->ncol; col++)
        n[col] += tree_number(t, &t->col[col], i);
    }
    if (!t->tree.node[i].next)
      break;
  }
  snprintf(name, sizeof(name), "(%" PRIu64 " others)", others);
  tree_line(t, n, depth, name);
  return i;
}

/* What the tree is of, and what was left out. */
static void tree_note(const TreeText *t, LpBuf *b, unsigned takes)
{
  if (!tree_is_usual(t) &&
      (t->metric != LP_METRIC_SAMPLES || lp_profile_joint(t->prof)))
    lp_buf_printf(b, " by %s", lp_metrics[t->metric].title);
  if (t->opt->sort)
    lp_buf_printf(b, ", sorted by %s", t->opt->sort);
  lp_report_left(b, t->opt, takes, t->metric);
  if (t->callers && t->tree.n == LP_CALLERS_MAX)
    lp_buf_printf(b, ", only the first %u lines", LP_CALLERS_MAX);
  if (t->levels < INT_MAX)
    lp_buf_printf(b, ", only the first %d levels", t->levels + 1);
  if (t->prof->guess.n)
    lp_buf_printf(b, " (approximate: %s)", t->prof->guess.s);
}

/* What is before the tree. On a terminal the note is a line of its own. */
static void tree_head(const TreeText *t, unsigned takes)
{
  const LpScreen *screen = &t->opt->screen;
  LpBuf b = {0}, note = {0};
  int col;
  lp_text_head(t->out, t->prof);
  tree_note(t, &note, takes);
  if (screen->columns && note.n)
    lp_text_sentence(t->out, note.s);
  for (col = 0; col < t->ncol; col++) {
    const TreeColumn *c = &t->col[col];
    lp_buf_printf(&b, "%s%*s", col ? " " : "", c->width, c->title);
    if (c->decimals)
      lp_buf_printf(&b, " %*s", 5 + c->decimals, "%");
  }
  lp_buf_puts(&b, t->callers ? "  CALLERS" : "  CALL TREE");
  if (!screen->columns && note.n)
    lp_buf_puts(&b, note.s);
  lp_text_bold(t->out, screen, b.s);
  lp_buf_free(&b);
  lp_buf_free(&note);
}

/* All lines. Of the nodes with the same parent, only the first ones may have a
** line of their own.
*/
static void tree_lines(TreeText *t)
{
  size_t *rank = NULL, room = 0;
  uint32_t i = LP_NODE_ROOT;
  int depth = 0, in = 1, shown = 1;
  tree_node(t, i, 0);
  for (;;) {
    rank = lp_grow(rank, &room, (size_t)depth + 2, sizeof(size_t));
    if (shown)
      rank[depth + 1] = 0;
    i = lp_tree_next(&t->tree, i, in, &depth);
    if (i == LP_NODE_ROOT)
      break;
    in = shown = depth <= t->levels && tree_shown(t, i);
    if (!shown)
      continue;
    if (!t->opt->top || ++rank[depth] <= t->opt->top || !tree_more(t, i)) {
      tree_node(t, i, depth);
    } else {
      i = tree_others(t, i, depth);
      in = 0;
    }
  }
  free(rank);
}

/* Choose how many levels are shown: all, unless their lines would be too large,
** as deep ones are, which are indented. The numbers of a node include what is
** below it, so they stay what they are. Lines on a terminal are short.
*/
static void tree_measure(TreeText *t)
{
  uint64_t room = lp_report_most(t->opt);
  uint32_t depth;
  t->levels = INT_MAX;
  if (t->opt->screen.columns)
    return;
  t->bytes = lp_zalloc(t->tree.n, sizeof(uint64_t));
  tree_lines(t);
  for (depth = 0; depth < t->tree.n && t->bytes[depth] <= room; depth++)
    room -= t->bytes[depth];
  if (depth < t->tree.n) {
    t->levels = depth ? (int)depth - 1 : 0;
    t->out->cut = "the deepest levels are left out";
  }
  free(t->bytes);
  t->bytes = NULL;
}

/* The whole report. */
static void tree_all(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt, const LpReport *r)
{
  TreeText t = {.out = out, .prof = prof, .opt = opt};
  t.callers = r == &lp_report_callers;
  t.label = lp_text_labels(prof, lp_label_whole);
  t.metric = lp_report_metric(prof, opt);
  tree_columns(&t);
  tree_open(&t);
  tree_measure(&t);
  tree_head(&t, r->takes);
  tree_lines(&t);
  lp_tree_close(&t.tree);
  lp_text_free(t.label, prof);
  free(t.moved);
}

/* From the outermost functions inwards. */
static void tree_write(LpOut *out, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  tree_all(out, prof, opt, &lp_report_tree);
}

/* From the innermost functions outwards. */
static void callers_write(LpOut *out, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  tree_all(out, prof, opt, &lp_report_callers);
}

const LpReport lp_report_tree = {
    .format = "text",
    .view = "tree",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_SHAPE | LP_TAKES_FIGURES,
    .write = tree_write,
};
const LpReport lp_report_callers = {
    .format = "text",
    .view = "callers",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_SHAPE | LP_TAKES_FIGURES,
    .write = callers_write,
};

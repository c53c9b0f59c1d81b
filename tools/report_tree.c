/*
** --view=tree: who called what allocates, from the outside in.
*/

#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "text.h"

typedef struct TreeText {
  LpOut *out;
  const LpReportOptions *opt;
  LpTree tree;
  char **label; /* By site. */
} TreeText;

/* Most bytes first, then most live ones, then by name. */
static int tree_order(const LpTree *tree, uint32_t a, uint32_t b, void *ctx)
{
  const TreeText *t = ctx;
  uint64_t x = lp_tree_totals(tree, a, LP_METRIC_BYTES);
  uint64_t y = lp_tree_totals(tree, b, LP_METRIC_BYTES);
  int64_t live = (int64_t)lp_tree_totals(tree, a, LP_METRIC_LIVE);
  int64_t other = (int64_t)lp_tree_totals(tree, b, LP_METRIC_LIVE);
  if (x != y)
    return x > y ? -1 : 1;
  if (live != other)
    return live > other ? -1 : 1;
  if (tree->node[a].site == LP_NONE || tree->node[b].site == LP_NONE)
    return 0;
  return strcmp(t->label[tree->node[a].site], t->label[tree->node[b].site]);
}

/* What a node has of all, in percent. */
static double tree_percent(const TreeText *t, uint32_t i, LpMetric of)
{
  int64_t all = (int64_t)lp_tree_totals(&t->tree, LP_NODE_ROOT, of);
  int64_t one = (int64_t)lp_tree_totals(&t->tree, i, of);
  return all > 0 ? 100.0 * (double)one / (double)all : 0;
}

/* Does a node have enough bytes, or live bytes, to be shown? One that has none
** at all never is.
*/
static int tree_shown(const TreeText *t, uint32_t i)
{
  return (lp_tree_totals(&t->tree, i, LP_METRIC_BYTES) &&
          tree_percent(t, i, LP_METRIC_BYTES) >= t->opt->min) ||
         (lp_tree_totals(&t->tree, i, LP_METRIC_LIVE) &&
          tree_percent(t, i, LP_METRIC_LIVE) >= t->opt->min);
}

/* A size, and spaces before it. */
static void tree_size(const TreeText *t, uint64_t n, int width)
{
  LpBuf b = {0};
  lp_text_size(&b, n, t->opt->human);
  lp_out_printf(t->out, "%*s ", width, b.s);
  lp_buf_free(&b);
}

/* What is before the tree. */
static void tree_head(const TreeText *t, const LpProfile *prof)
{
  lp_text_samples(t->out, prof);
  lp_out_printf(t->out, "%14s %7s %12s %14s %7s  CALL TREE", "bytes", "%",
                "allocations", "live bytes", "%");
  lp_text_min(t->out, t->opt->min);
  lp_text_guess(t->out, prof);
  lp_out_puts(t->out, "\n");
}

/* The line of a node: figures, then its name, further in than its caller's. */
static void tree_line(const TreeText *t, uint32_t i, int depth)
{
  uint32_t site = t->tree.node[i].site;
  tree_size(t, lp_tree_totals(&t->tree, i, LP_METRIC_BYTES), 14);
  lp_out_printf(t->out, "%6.2f%% %12" PRIu64 " ",
                tree_percent(t, i, LP_METRIC_BYTES),
                lp_tree_totals(&t->tree, i, LP_METRIC_ALLOCATIONS));
  tree_size(t, lp_tree_totals(&t->tree, i, LP_METRIC_LIVE), 14);
  lp_out_printf(t->out, "%6.2f%%  %*s%s\n", tree_percent(t, i, LP_METRIC_LIVE),
                2 * depth, "", site == LP_NONE ? "(all)" : t->label[site]);
}

/* The whole report. */
static void tree_write(LpOut *out, const LpProfile *prof,
                       const LpReportOptions *opt)
{
  static const LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_BYTES) |
                                  LP_METRIC_BIT(LP_METRIC_ALLOCATIONS) |
                                  LP_METRIC_BIT(LP_METRIC_LIVE),
                              LP_MERGE_NONE, NULL};
  TreeText t = {.out = out, .opt = opt, .label = lp_text_labels(prof, 1)};
  uint32_t i = LP_NODE_ROOT;
  int depth = 0;
  lp_tree_open(&t.tree, prof, &of);
  lp_tree_total(&t.tree);
  lp_tree_sort(&t.tree, tree_order, &t);
  tree_head(&t, prof);
  tree_line(&t, i, 0);
  for (;;) {
    int in = i == LP_NODE_ROOT || tree_shown(&t, i);
    i = lp_tree_next(&t.tree, i, in, &depth);
    if (i == LP_NODE_ROOT)
      break;
    if (tree_shown(&t, i))
      tree_line(&t, i, depth);
  }
  lp_tree_close(&t.tree);
  lp_text_free(t.label, prof);
}

const LpReport lp_report_tree = {
    .format = "text",
    .view = "tree",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_MIN,
    .write = tree_write,
};

/*
** --view=tree of a CPU profile: who called whom, and how much time that took.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

typedef struct Calls {
  LpOut *out;
  const LpReportOptions *opt;
  LpTree tree;
  char **label; /* By site. */
} Calls;

/* Most time first, then by name. */
static int calls_order(const LpTree *t, uint32_t a, uint32_t b, void *ctx)
{
  const Calls *c = ctx;
  uint64_t x = lp_tree_totals(t, a, LP_METRIC_SAMPLES);
  uint64_t y = lp_tree_totals(t, b, LP_METRIC_SAMPLES);
  if (x != y)
    return x > y ? -1 : 1;
  if (t->node[a].site == LP_NONE || t->node[b].site == LP_NONE)
    return 0;
  return strcmp(c->label[t->node[a].site], c->label[t->node[b].site]);
}

/* What a node has of all, in percent. */
static double calls_percent(const Calls *c, uint64_t n)
{
  return lp_text_percent(
      n, lp_tree_totals(&c->tree, LP_NODE_ROOT, LP_METRIC_SAMPLES));
}

/* Has a node enough samples to be shown? */
static int calls_shown(const Calls *c, uint32_t i)
{
  uint64_t n = lp_tree_totals(&c->tree, i, LP_METRIC_SAMPLES);
  return n && calls_percent(c, n) >= c->opt->min;
}

/* The line of a node: its name is further in than its caller's. */
static void calls_line(const Calls *c, uint32_t i, int depth)
{
  uint64_t total = lp_tree_totals(&c->tree, i, LP_METRIC_SAMPLES);
  uint64_t self = lp_tree_self(&c->tree, i, LP_METRIC_SAMPLES);
  uint32_t site = c->tree.node[i].site;
  lp_out_printf(c->out, "%12" PRIu64 " %5.1f%% %12" PRIu64 " %5.1f%%  %*s%s\n",
                total, calls_percent(c, total), self, calls_percent(c, self),
                2 * depth, "", site == LP_NONE ? "(all)" : c->label[site]);
}

/* Make the tree, in order. */
static void calls_open(Calls *c, const LpProfile *prof)
{
  static const LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_SAMPLES), LP_MERGE_NONE,
                              NULL};
  lp_tree_open(&c->tree, prof, &of);
  lp_tree_total(&c->tree);
  lp_tree_sort(&c->tree, calls_order, c);
}

/* The whole report. */
static void calls_write(LpOut *out, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  Calls c = {.out = out, .opt = opt, .label = lp_text_labels(prof, 1)};
  uint32_t i = LP_NODE_ROOT;
  int depth = 0, in = 1;
  calls_open(&c, prof);
  lp_text_books(out, prof);
  lp_out_printf(out, "%12s %6s %12s %6s  CALL TREE", "total", "%", "self", "%");
  lp_text_min(out, opt->min);
  lp_out_puts(out, "\n");
  calls_line(&c, i, 0);
  while ((i = lp_tree_next(&c.tree, i, in, &depth)) != LP_NODE_ROOT) {
    in = calls_shown(&c, i);
    if (in)
      calls_line(&c, i, depth);
  }
  lp_tree_close(&c.tree);
  lp_text_free(c.label, prof);
}

const LpReport lp_report_calls = {
    .format = "text",
    .view = "tree",
    .of = LP_OF_CPU,
    .takes = LP_TAKES_MIN,
    .write = calls_write,
};

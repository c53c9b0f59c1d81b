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
  uint64_t *self; /* By node. */
  char **label;   /* By site. */
} Calls;

/* Most time first, then by name. */
static int calls_order(const LpTreeNode *a, const LpTreeNode *b, void *ctx)
{
  const Calls *c = ctx;
  uint64_t x = a->n[LP_METRIC_SAMPLES], y = b->n[LP_METRIC_SAMPLES];
  if (x != y)
    return x > y ? -1 : 1;
  if (a->site == LP_NONE || b->site == LP_NONE)
    return 0;
  return strcmp(c->label[a->site], c->label[b->site]);
}

/* What a node has of all, in percent. */
static double calls_percent(const Calls *c, uint64_t n)
{
  return lp_text_percent(n, c->tree.node[LP_NODE_ROOT].n[LP_METRIC_SAMPLES]);
}

/* Has a node enough samples to be shown? */
static int calls_shown(const Calls *c, uint32_t i)
{
  uint64_t n = c->tree.node[i].n[LP_METRIC_SAMPLES];
  return n && calls_percent(c, n) >= c->opt->min;
}

/* The line of a node: its name is further in than its caller's. */
static void calls_line(const Calls *c, uint32_t i, int depth)
{
  const LpTreeNode *n = &c->tree.node[i];
  lp_out_printf(c->out, "%12" PRIu64 " %5.1f%% %12" PRIu64 " %5.1f%%  %*s%s\n",
                n->n[LP_METRIC_SAMPLES],
                calls_percent(c, n->n[LP_METRIC_SAMPLES]), c->self[i],
                calls_percent(c, c->self[i]), 2 * depth, "",
                n->site == LP_NONE ? "(all)" : c->label[n->site]);
}

/* Make the tree, in order. */
static void calls_open(Calls *c, const LpProfile *prof)
{
  uint32_t i;
  lp_tree_open(&c->tree, prof, 0);
  c->self = lp_alloc(c->tree.n * sizeof(uint64_t));
  for (i = 0; i < c->tree.n; i++)
    c->self[i] = c->tree.node[i].n[LP_METRIC_SAMPLES];
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
  free(c.self);
}

const LpReport lp_report_calls = {"text", "tree", LP_OF_CPU, LP_TAKES_MIN,
                                  calls_write};

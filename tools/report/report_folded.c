/*
** --format=folded: one line for each stack, for flamegraph.pl and similar
** tools. In a diff it has two numbers: of the baseline, and of the profile.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "report.h"
#include "text.h"

typedef struct Folded {
  LpOut *out;
  LpTree tree;
  char **label; /* By site. */
  LpBuf line;   /* Frames, each with a ';' before it. */
} Folded;

/* By name. */
static int folded_order(const LpTree *t, uint32_t a, uint32_t b, void *ctx)
{
  const Folded *f = ctx;
  if (t->node[a].site == LP_NONE || t->node[b].site == LP_NONE)
    return 0;
  return strcmp(f->label[t->node[a].site], f->label[t->node[b].site]);
}

/* The names of frames, without the separator of frames and without marks of
** approximate lines.
*/
static char **folded_labels(const LpProfile *prof,
                            void (*of)(LpBuf *, const LpProfile *, uint32_t))
{
  char **label = lp_alloc(prof->sitekeys.n * sizeof(char *));
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    LpBuf b = {0};
    of(&b, prof, i);
    label[i] = b.s;
  }
  return label;
}

/* Go to a node's parent and remove its frame from the line. */
static uint32_t folded_up(Folded *f, uint32_t i)
{
  const LpTreeNode *n = &f->tree.node[i];
  f->line.n -= strlen(f->label[n->site]) + 1;
  f->line.s[f->line.n] = '\0';
  return n->parent;
}

/* The self value of a node; readers expect no negative numbers. */
static uint64_t folded_self(const Folded *f, LpSide side, LpMetric metric,
                            uint32_t i)
{
  const LpValue *self = f->tree.col[side][metric].self;
  uint64_t n = self ? lp_value_round(self[i]) : 0;
  return (int64_t)n > 0 ? n : 0;
}

/* The line of a node, if it has a self value. */
static void folded_node(Folded *f, uint32_t i, LpMetric metric)
{
  uint64_t now = folded_self(f, LP_NOW, metric, i);
  uint64_t base = folded_self(f, LP_BASE, metric, i);
  lp_buf_puts(&f->line, ";");
  lp_buf_puts(&f->line, f->label[f->tree.node[i].site]);
  if (!now && !base)
    return;
  lp_out_printf(f->out, "%s", f->line.s + 1);
  if (f->tree.col[LP_BASE][metric].self)
    lp_out_printf(f->out, " %" PRIu64, base);
  lp_out_printf(f->out, " %" PRIu64 "\n", now);
}

/* All nodes below the root. */
static void folded_walk(Folded *f, LpMetric metric)
{
  const LpTreeNode *node = f->tree.node;
  uint32_t i = node[LP_NODE_ROOT].child;
  while (i) {
    folded_node(f, i, metric);
    if (node[i].child) {
      i = node[i].child;
      continue;
    }
    while (i && !node[i].next)
      i = folded_up(f, i);
    if (i) {
      uint32_t next = node[i].next;
      folded_up(f, i);
      i = next;
    }
  }
}

/* The whole report. The format of frames depends on the kind of profile. */
static void folded_write(LpOut *out, const LpProfile *prof,
                         const LpReportOptions *opt)
{
  LpMetric metric = lp_report_metric(prof, opt);
  LpTreeOf of = {LP_METRIC_BIT(metric), LP_MERGE_LINES, opt->shape};
  Folded f = {.out = out};
  f.label = folded_labels(prof, metric == LP_METRIC_SAMPLES ? lp_label_call
                                                            : lp_label_frame);
  lp_tree_open(&f.tree, prof, &of);
  lp_tree_whole(&f.tree);
  lp_tree_sort(&f.tree, folded_order, &f);
  folded_walk(&f, metric);
  lp_tree_close(&f.tree);
  lp_text_free(f.label, prof);
  lp_buf_free(&f.line);
}

const LpReport lp_report_folded = {
    .format = "folded",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_DIFF |
             LP_TAKES_TEMPORARY | LP_TAKES_YOUNG,
    .write = folded_write,
};

/*
** --format=folded: one line for each stack, for flamegraph.pl and its friends.
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

/* The names of frames: nothing in them can be taken for the end of a frame, and
** they do not tell where a line is approximate.
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

/* Go to a node's parent, taking its frame off the line. */
static uint32_t folded_up(Folded *f, uint32_t i)
{
  const LpTreeNode *n = &f->tree.node[i];
  f->line.n -= strlen(f->label[n->site]) + 1;
  f->line.s[f->line.n] = '\0';
  return n->parent;
}

/* The line of a node, if it has something itself. */
static void folded_node(Folded *f, uint32_t i, LpMetric metric)
{
  const LpTreeNode *n = &f->tree.node[i];
  int64_t value = (int64_t)lp_tree_self(&f->tree, i, metric);
  lp_buf_puts(&f->line, ";");
  lp_buf_puts(&f->line, f->label[n->site]);
  if (value > 0)
    lp_out_printf(f->out, "%s %" PRId64 "\n", f->line.s + 1, value);
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

/* The whole report, one number for each stack. */
static void folded_all(LpOut *out, const LpProfile *prof, LpMetric metric,
                       char **label)
{
  LpTreeOf of = {LP_METRIC_BIT(metric), LP_MERGE_LINES, NULL};
  Folded f = {.out = out, .label = label};
  lp_tree_open(&f.tree, prof, &of);
  lp_tree_whole(&f.tree);
  lp_tree_sort(&f.tree, folded_order, &f);
  folded_walk(&f, metric);
  lp_tree_close(&f.tree);
  lp_text_free(f.label, prof);
  lp_buf_free(&f.line);
}

/* Of memory. */
static void folded_write(LpOut *out, const LpProfile *prof,
                         const LpReportOptions *opt)
{
  folded_all(out, prof, opt->metric, folded_labels(prof, lp_label_frame));
}

/* Of the CPU. */
static void folded_write_cpu(LpOut *out, const LpProfile *prof,
                             const LpReportOptions *opt)
{
  (void)opt;
  folded_all(out, prof, LP_METRIC_SAMPLES, folded_labels(prof, lp_label_call));
}

const LpReport lp_report_folded_cpu = {
    .format = "folded",
    .of = LP_OF_CPU,
    .write = folded_write_cpu,
};
const LpReport lp_report_folded = {
    .format = "folded",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_METRIC | LP_TAKES_TEMPORARY | LP_TAKES_YOUNG,
    .write = folded_write,
};

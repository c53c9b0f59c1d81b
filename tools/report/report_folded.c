/*
** --format=folded: one line for each stack, for flamegraph.pl and similar
** tools. In a diff it has two numbers: of the baseline, and of the profile.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "text.h"

#define FOLDED_NUMBERS 43 /* Bytes of two numbers, and of what is around. */

typedef struct Folded {
  LpOut *out;
  LpTree tree;
  LpMetric metric;
  LpStacks stacks;
  char **label;     /* By site. */
  uint64_t *length; /* By node: bytes of its frames. */
  LpBuf line;       /* Frames, each with a ';' before it. */
} Folded;

/* By name. */
static int folded_order(const LpTree *t, uint32_t a, uint32_t b, void *ctx)
{
  const Folded *f = ctx;
  if (t->node[a].site == LP_NONE || t->node[b].site == LP_NONE)
    return 0;
  return strcmp(f->label[t->node[a].site], f->label[t->node[b].site]);
}

/* A line: frames, and what they have. */
static void folded_line(const Folded *f, const char *frames, uint64_t base,
                        uint64_t now)
{
  lp_out_puts(f->out, frames);
  if (f->tree.col[LP_BASE][f->metric].self)
    lp_out_printf(f->out, " %" PRIu64, base);
  lp_out_printf(f->out, " %" PRIu64 "\n", now);
}

/* All nodes below the root. Those around one are at the beginning of its line.
 */
static void folded_walk(Folded *f)
{
  size_t *end = NULL, room = 0; /* By depth: of its frame in the line. */
  uint32_t i = LP_NODE_ROOT;
  int depth = 0;
  while ((i = lp_tree_next(&f->tree, i, 1, &depth)) != LP_NODE_ROOT) {
    end = lp_grow(end, &room, (size_t)depth + 1, sizeof(size_t));
    f->line.n = end[depth - 1];
    lp_buf_printf(&f->line, ";%s", f->label[f->tree.node[i].site]);
    end[depth] = f->line.n;
    if (f->stacks.shown[i])
      folded_line(f, f->line.s + 1,
                  lp_stacks_self(&f->tree, LP_BASE, f->metric, i),
                  lp_stacks_self(&f->tree, LP_NOW, f->metric, i));
  }
  free(end);
}

/* The line of all stacks that have none. */
static void folded_rest(const Folded *f)
{
  if (f->stacks.rest)
    folded_line(f, LP_STACKS_REST,
                lp_stacks_rest(&f->stacks, &f->tree, LP_BASE, f->metric),
                lp_stacks_rest(&f->stacks, &f->tree, LP_NOW, f->metric));
  if (f->stacks.cut)
    f->out->cut = LP_STACKS_CUT;
}

/* The length of a node's line. */
static uint64_t folded_cost(void *ctx, uint32_t node)
{
  const Folded *f = ctx;
  return f->length[node] + FOLDED_NUMBERS;
}

/* Measure the frames of all nodes; parents come first. */
static void folded_measure(Folded *f)
{
  const LpTreeNode *node = f->tree.node;
  uint32_t i;
  f->length = lp_zalloc(f->tree.n, sizeof(uint64_t));
  for (i = 1; i < f->tree.n; i++)
    f->length[i] =
        f->length[node[i].parent] + strlen(f->label[node[i].site]) + 1;
}

/* The whole report. The format of frames depends on the kind of profile. */
static void folded_write(LpOut *out, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  LpMetric metric = lp_report_metric(prof, opt);
  LpTreeOf of = {LP_METRIC_BIT(metric), LP_MERGE_LINES, opt->shape, 0, 0};
  Folded f = {.out = out, .metric = metric};
  /* Without the separator of frames, and without marks of approximate lines. */
  f.label = lp_text_labels(prof, metric == LP_METRIC_SAMPLES ? lp_label_call
                                                             : lp_label_frame);
  lp_tree_open(&f.tree, prof, &of);
  lp_tree_whole(&f.tree);
  lp_tree_sort(&f.tree, folded_order, &f);
  folded_measure(&f);
  lp_stacks_open(&f.stacks, &f.tree, metric, opt, folded_cost, &f);
  folded_walk(&f);
  folded_rest(&f);
  lp_stacks_close(&f.stacks);
  lp_tree_close(&f.tree);
  lp_text_free(f.label, prof);
  lp_buf_free(&f.line);
  free(f.length);
}

const LpReport lp_report_folded = {
    .format = "folded",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_METRIC | LP_TAKES_STACKS | LP_TAKES_MIN | LP_TAKES_DIFF |
             LP_TAKES_AGES,
    .write = folded_write,
};

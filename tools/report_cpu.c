/*
** --view=functions and --view=lines: where CPU time went, in each itself, and
** with all that it called.
**
** The total of a row has every stack once, however often the row is in it: on
** the way through the tree, only its outermost node counts.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "report.h"
#include "text.h"

typedef struct CpuRow {
  uint64_t self, total;
  uint32_t site;   /* The first one met. */
  uint32_t inside; /* Nodes of this row around the one that is visited. */
  int unsure;      /* Some of it may belong to another function. */
  char *label;
} CpuRow;

typedef struct Cpu {
  const LpProfile *prof;
  const LpReportOptions *opt;
  int lines; /* A row is a line, not a function. */
  LpTree tree;
  CpuRow *row;
  uint32_t *path; /* Rows of the node that is visited and those around it. */
  size_t npath;   /* Room. */
} Cpu;

/* How many rows there may be. */
static size_t cpu_rows(const Cpu *c)
{
  return c->lines ? c->prof->sitekeys.n
                  : (size_t)LP_SITE_FIRST + c->prof->funckeys.n;
}

/* The row of a site; special sites are no functions, but have rows. */
static uint32_t cpu_row(const Cpu *c, uint32_t site)
{
  if (c->lines || site < LP_SITE_FIRST)
    return site;
  return LP_SITE_FIRST + c->prof->row[site].func;
}

/* Count node I, that is DEPTH deep; what is that deep or deeper was left. */
static void cpu_visit(Cpu *c, uint32_t i, int depth, int *was)
{
  const LpTreeNode *n = &c->tree.node[i];
  uint64_t self = lp_tree_self(&c->tree, i, LP_METRIC_SAMPLES);
  uint32_t row = cpu_row(c, n->site);
  CpuRow *r = &c->row[row];
  for (; *was >= depth; --*was)
    c->row[c->path[*was]].inside--;
  c->path = lp_grow(c->path, &c->npath, (size_t)depth + 1, sizeof(c->path[0]));
  c->path[depth] = row;
  *was = depth;
  if (!r->inside++)
    r->total += lp_tree_totals(&c->tree, i, LP_METRIC_SAMPLES);
  r->self += self;
  r->site = n->site;
  r->unsure |= self && (c->prof->row[n->site].marks & LJM_SITE_UNSURE);
}

/* Fill in all rows. */
static void cpu_fill(Cpu *c)
{
  static const LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_SAMPLES), LP_MERGE_NONE,
                              NULL};
  uint32_t i = LP_NODE_ROOT;
  int depth = 0, was = -1;
  lp_tree_open(&c->tree, c->prof, &of);
  lp_tree_total(&c->tree);
  lp_tree_link(&c->tree);
  c->row = lp_zalloc(cpu_rows(c), sizeof(CpuRow));
  while ((i = lp_tree_next(&c->tree, i, 1, &depth)) != LP_NODE_ROOT)
    cpu_visit(c, i, depth - 1, &was);
}

/* Most first, then by name. */
static int cpu_before(const void *a, const void *b, void *ctx)
{
  const CpuRow *x = a, *y = b;
  const Cpu *c = ctx;
  uint64_t p = c->opt->bytotal ? x->total : x->self;
  uint64_t q = c->opt->bytotal ? y->total : y->self;
  if (p != q)
    return p > q ? -1 : 1;
  if (x->self != y->self || x->total != y->total)
    return x->self > y->self || (x->self == y->self && x->total > y->total) ? -1
                                                                            : 1;
  return strcmp(x->label, y->label);
}

/* What a row is called. */
static char *cpu_label(const Cpu *c, const CpuRow *r)
{
  LpBuf b = {0};
  if (c->lines) {
    lp_label_whole(&b, c->prof, r->site);
    return b.s;
  }
  if (r->unsure)
    lp_buf_puts(&b, "~");
  lp_label_func(&b, c->prof, r->site);
  return b.s;
}

/* Bring the rows that are shown to the front, in order. Returns how many. */
static size_t cpu_sort(Cpu *c)
{
  size_t i, n = 0, all = cpu_rows(c);
  for (i = 0; i < all; i++) {
    CpuRow r = c->row[i];
    if (!r.total ||
        lp_text_percent(r.total, c->prof->cpu.samples) < c->opt->min)
      continue;
    r.label = cpu_label(c, &r);
    c->row[n++] = r;
  }
  qsort_r(c->row, n, sizeof(CpuRow), cpu_before, c);
  return n;
}

/* The whole report. */
static void cpu_write(LpOut *out, const LpProfile *prof,
                      const LpReportOptions *opt, int lines)
{
  Cpu c = {.prof = prof, .opt = opt, .lines = lines};
  uint64_t all = prof->cpu.samples;
  size_t i, n;
  cpu_fill(&c);
  n = cpu_sort(&c);
  lp_text_books(out, prof);
  lp_out_printf(out, "%12s %6s %12s %6s  %s", "self", "%", "total", "%",
                lines ? "LINE" : "FUNCTION");
  lp_text_min(out, opt->min);
  lp_out_puts(out, "\n");
  for (i = 0; i < n; i++) {
    const CpuRow *r = &c.row[i];
    lp_out_printf(out, "%12" PRIu64 " %5.1f%% %12" PRIu64 " %5.1f%%  %s\n",
                  r->self, lp_text_percent(r->self, all), r->total,
                  lp_text_percent(r->total, all), r->label);
    free(r->label);
  }
  lp_tree_close(&c.tree);
  free(c.row);
  free(c.path);
}

static void functions_write(LpOut *out, const LpProfile *prof,
                            const LpReportOptions *opt)
{
  cpu_write(out, prof, opt, 0);
}

static void lines_write(LpOut *out, const LpProfile *prof,
                        const LpReportOptions *opt)
{
  cpu_write(out, prof, opt, 1);
}

const LpReport lp_report_functions = {
    .format = "text",
    .view = "functions",
    .of = LP_OF_CPU,
    .takes = LP_TAKES_MIN | LP_TAKES_SORT,
    .write = functions_write,
};
const LpReport lp_report_lines = {
    .format = "text",
    .view = "lines",
    .of = LP_OF_CPU,
    .takes = LP_TAKES_MIN | LP_TAKES_SORT,
    .write = lines_write,
};

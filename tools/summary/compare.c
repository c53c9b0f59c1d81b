/*
** Which lines of a summary have most: shares, order, what leaks.
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"

#define COMPARE_LITTLE (1u << 20) /* Leaked bytes. */
#define COMPARE_LEAST  0.001      /* Share of a line that is a row. */

/* Of a figure: what there is, or by how much it changed. */
static uint64_t compare_size(const LpSummary *s, const LpSummaryLine *l,
                             LpSummaryFigure f)
{
  uint64_t n = s->prof->baseline.present ? lp_size(lp_summary_change(l, f))
                                         : l->n[LP_NOW][f];
  return (int64_t)n > 0 ? n : 0;
}

/* N of ALL, which may be below 0. */
static double compare_part(uint64_t n, uint64_t all)
{
  return (int64_t)n > 0 && (int64_t)all > 0 ? (double)n / (double)all : 0;
}

/* Recordings of the CPU need not be equally long: a change is one of shares. */
static double compare_samples(const LpSummary *s, const LpSummaryLine *l,
                              LpSummaryFigure f)
{
  double now =
      compare_part(l->n[LP_NOW][f], s->all.n[LP_NOW][LP_SUMMARY_TOTAL]);
  if (!s->prof->baseline.present)
    return now;
  return fabs(now - compare_part(l->n[LP_BASE][f],
                                 s->all.n[LP_BASE][LP_SUMMARY_TOTAL]));
}

double lp_summary_share(const LpSummary *s, const LpSummaryLine *l,
                        LpSummaryFigure f)
{
  if (f >= LP_SUMMARY_SAMPLES)
    return compare_samples(s, l, f);
  return compare_part(compare_size(s, l, f), s->prof->baseline.present
                                                 ? s->changed[f]
                                                 : s->all.n[LP_NOW][f]);
}

/* -- Order ---------------------------------------------------------------- */

typedef struct Order {
  const LpSummary *s;
  unsigned figures;
} Order;

/* The largest share of a line. */
static double compare_best(const Order *o, const LpSummaryLine *l)
{
  double best = 0;
  LpSummaryFigure f;
  for (f = 0; f < LP_NSUMMARY; f++)
    if (o->figures & 1u << f)
      best = fmax(best, lp_summary_share(o->s, l, f));
  return best;
}

/* Insert a line into the N rows that have most, of which there are at most
** MOST. Of equal ones the first one stays first. Returns their number.
*/
static size_t compare_insert(const Order *o, LpSummaryLine *row, size_t n,
                             size_t most, const LpSummaryLine *l)
{
  size_t at = n;
  while (at > 0 && compare_best(o, &row[at - 1]) < compare_best(o, l))
    at--;
  if (at == most)
    return n;
  n -= n == most;
  memmove(&row[at + 1], &row[at], (n - at) * sizeof(*row));
  row[at] = *l;
  return n + 1;
}

/* The figures that rows are chosen by. In a diff also what is live: it may be
** little of all that is allocated.
*/
static unsigned compare_figures(const LpSummary *s)
{
  unsigned f = 0;
  if (s->prof->of & LP_OF_CPU)
    f |= 1u << LP_SUMMARY_SAMPLES;
  if (s->prof->of & LP_OF_MEMORY)
    f |= 1u << LP_SUMMARY_BYTES;
  if ((s->prof->of & LP_OF_MEMORY) && s->prof->baseline.present)
    f |= 1u << LP_SUMMARY_LIVE;
  return f;
}

/* CPU time outside of Lua is stated for all of it: it is no row. */
static int compare_outside(const LpSummary *s, const LpSummaryLine *l)
{
  Order memory = {s, compare_figures(s) & ~(1u << LP_SUMMARY_SAMPLES)};
  return (s->prof->of & LP_OF_CPU) && !lp_summary_lua(s->prof, l->site) &&
         compare_best(&memory, l) < COMPARE_LEAST;
}

/* The lines that have most of some figures. */
static size_t compare_rows(const LpSummary *s, unsigned figures,
                           LpSummaryLine *row, size_t most)
{
  Order o = {s, figures};
  size_t i, n = 0;
  for (i = 0; i < s->n; i++) {
    const LpSummaryLine *l = &s->line[i];
    if (compare_best(&o, l) < COMPARE_LEAST || compare_outside(s, l))
      continue;
    n = compare_insert(&o, row, n, most, l);
  }
  return n;
}

/* Have the line that has most of a figure among N rows, as the last one. */
static void compare_include(const LpSummary *s, LpSummaryFigure f,
                            LpSummaryLine *row, size_t n)
{
  LpSummaryLine first;
  size_t i;
  if (!n || !compare_rows(s, 1u << f, &first, 1))
    return;
  for (i = 0; i < n; i++)
    if (row[i].site == first.site)
      return;
  row[n - 1] = first;
}

size_t lp_summary_rows(const LpSummary *s, LpSummaryLine *row, size_t most)
{
  size_t n = compare_rows(s, compare_figures(s), row, most);
  /* The first one has most of one of both. */
  if (n > 1 && lp_profile_joint(s->prof) && !s->prof->baseline.present) {
    compare_include(s, LP_SUMMARY_SAMPLES, row, n);
    compare_include(s, LP_SUMMARY_BYTES, row, n);
  }
  return n;
}

/* -- Leaks ---------------------------------------------------------------- */

uint64_t lp_summary_leaked(const LpSummary *s, const LpSummaryLine *l)
{
  return s->aged ? l->quarter[0] + l->quarter[1] + l->quarter[2]
                 : l->n[LP_NOW][LP_SUMMARY_LIVE];
}

/* Are two sites in one function? What is no function is itself alone. */
static int leak_same(const LpProfile *prof, uint32_t a, uint32_t b)
{
  uint32_t func = prof->row[a].func;
  return a == b || (func != LP_FUNC_NONE && func == prof->row[b].func);
}

/* The line of the function that leaks most; LP_NONE if none does. */
static uint32_t leak_function(const LpSummary *s)
{
  const LpProfile *prof = s->prof;
  uint64_t *sum = lp_zalloc(prof->funckeys.n + 1u, sizeof(uint64_t)), most = 0;
  uint32_t best = LP_NONE;
  size_t i;
  for (i = 0; i < s->n; i++) {
    uint32_t site = s->line[i].site, func = prof->row[site].func;
    uint64_t n = lp_summary_leaked(s, &s->line[i]);
    if ((int64_t)n <= 0)
      continue;
    sum[func] = func == LP_FUNC_NONE ? n : sum[func] + n;
    if (sum[func] > most) {
      most = sum[func];
      best = site;
    }
  }
  free(sum);
  return best;
}

/* How leaked bytes came, by quarters. */
static LpSummaryGrowth leak_growth(const LpSummary *s, const uint64_t *quarter)
{
  uint64_t all = quarter[0] + quarter[1] + quarter[2];
  int i;
  if (!s->aged || (int64_t)all <= 0)
    return LP_GROWTH_UNKNOWN;
  for (i = 0; i < 3 && quarter[i] >= all / 6;)
    i++;
  if (i == 3)
    return LP_GROWTH_STEADY;
  return quarter[0] >= all - all / 10 ? LP_GROWTH_START : LP_GROWTH_OTHER;
}

LpSummaryLeak lp_summary_leak(const LpSummary *s)
{
  LpSummaryLeak leak = {.site = leak_function(s)};
  uint64_t quarter[3] = {0, 0, 0}, most = 0;
  uint32_t of = leak.site;
  size_t i;
  int q;
  for (i = 0; i < s->n && of != LP_NONE; i++) {
    const LpSummaryLine *l = &s->line[i];
    uint64_t n = lp_summary_leaked(s, l);
    if ((int64_t)n <= 0 || !leak_same(s->prof, of, l->site))
      continue;
    leak.lines++;
    leak.bytes += n;
    for (q = 0; q < 3; q++)
      quarter[q] += l->quarter[q];
    if (n > most) {
      most = n;
      leak.site = l->site;
    }
  }
  leak.growth = leak_growth(s, quarter);
  return leak;
}

int lp_summary_tight(const LpSummary *s)
{
  uint64_t leaked = lp_summary_leaked(s, &s->all);
  return (int64_t)leaked <= 0 ||
         (leaked < COMPARE_LITTLE &&
          leaked < s->all.n[LP_NOW][LP_SUMMARY_BYTES] / 1000);
}

/*
** Tables of a ladder of heap dumps: what objects keep in each of them, and what
** shapes have.
*/

#include <stdlib.h>
#include <string.h>

#include "growth.h"

#define GROWTH_TAKES (LP_TAKES_ROWS | LP_TAKES_MIN | LP_TAKES_HUMAN)

/* The columns; of the dumps, if there are any. */
static void growth_columns(LpTable *t, const LpLadder *l)
{
  size_t i;
  lp_table_column(t, "growth", "growth", LP_UNIT_BYTES)->change = 1;
  for (i = 0; l && i < l->n; i++)
    lp_table_column(t, l->rung[i].key, l->rung[i].title, LP_UNIT_BYTES);
  lp_table_column(t, "verdict", "verdict", LP_UNIT_TEXT);
  lp_table_column(t, "name", "name", LP_UNIT_TEXT);
}

/* Is a change of one of the steps, or the growth, large enough to be shown? */
static int growth_enough(const LpLadder *l, const LpGrowths *g, uint32_t row,
                         const LpReportOptions *opt)
{
  const uint64_t *bytes = lp_growths_bytes(g, row);
  uint64_t least = UINT64_MAX, most = 0, all = l->rung[l->n - 1].reached;
  size_t i;
  for (i = 0; i < l->n; i++) {
    if (bytes[i] == LP_LADDER_UNKNOWN)
      continue;
    least = bytes[i] < least ? bytes[i] : least;
    most = bytes[i] > most ? bytes[i] : most;
  }
  return most > least && lp_report_enough(opt, most - least, all);
}

/* A copy of N bytes. */
static char *growth_text(const char *s, size_t n)
{
  LpBuf b = {0};
  lp_buf_add(&b, s, n);
  return b.s ? b.s : lp_strdup("");
}

/* Add a row. */
static void growth_row(LpTable *t, const LpLadder *l, const LpGrowths *g,
                       uint32_t row)
{
  const uint64_t *bytes = lp_growths_bytes(g, row);
  unsigned col = 0;
  size_t i, n;
  const char *name = lp_intern_get(&g->names, row, &n);
  lp_table_row(t);
  if (g->row[row].verdict == LP_UNCOMPARABLE)
    col++;
  else
    lp_table_number(t, col++, (uint64_t)lp_growths_change(g, row));
  for (i = 0; i < l->n; i++, col++)
    if (bytes[i] != LP_LADDER_UNKNOWN)
      lp_table_number(t, col, bytes[i]);
  lp_table_string(t, col++, lp_strdup(lp_verdict_word(g->row[row].verdict)));
  lp_table_string(t, col, growth_text(name, n));
}

/* For qsort_r: what changed most comes first, what cannot be compared last. */
static int growth_before(const void *a, const void *b, void *ctx)
{
  const LpGrowths *g = ctx;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  int strange = g->row[i].verdict == LP_UNCOMPARABLE;
  uint64_t n = lp_size((uint64_t)lp_growths_change(g, i));
  uint64_t m = lp_size((uint64_t)lp_growths_change(g, k));
  if (strange != (g->row[k].verdict == LP_UNCOMPARABLE))
    return strange ? 1 : -1;
  if (!strange && n != m)
    return n > m ? -1 : 1;
  return i < k ? -1 : i > k;
}

uint32_t *lp_growth_shown(const LpLadder *l, const LpGrowths *g,
                          const LpReportOptions *opt, int together, size_t *n)
{
  uint32_t *list = lp_alloc((g->names.n + 1) * sizeof(*list)), row;
  *n = 0;
  for (row = 0; row < g->names.n; row++)
    if ((g->row[row].together != LP_NONE) == together &&
        growth_enough(l, g, row, opt))
      list[(*n)++] = row;
  qsort_r(list, *n, sizeof(*list), growth_before, (void *)g);
  return list;
}

/* The rows that have changed enough: of objects that keep something together,
** or all others.
*/
static void growth_table(LpTable *t, const LpLadder *l, const LpGrowths *g,
                         const LpReportOptions *opt, int together)
{
  uint32_t *list;
  size_t i, n;
  growth_columns(t, l);
  if (!l)
    return;
  list = lp_growth_shown(l, g, opt, together, &n);
  for (i = 0; i < n; i++)
    growth_row(t, l, g, list[i]);
  free(list);
}

/* What objects keep, by path. */
static void paths_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpLadder *l = subject->ladder;
  growth_table(t, l, l ? &l->paths : NULL, opt, 0);
}

const LpReport lp_report_growth_paths = {.view = "retained",
                                         .of = LP_OF_LADDER,
                                         .takes = GROWTH_TAKES,
                                         .table = paths_table};

/* What several objects keep together. */
static void shared_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  const LpLadder *l = subject->ladder;
  growth_table(t, l, l ? &l->paths : NULL, opt, 1);
}

const LpReport lp_report_growth_shared = {.view = "shared",
                                          .of = LP_OF_LADDER,
                                          .takes = GROWTH_TAKES,
                                          .table = shared_table};

/* What shapes have. */
static void shapes_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  const LpLadder *l = subject->ladder;
  growth_table(t, l, l ? &l->shapes : NULL, opt, 0);
}

const LpReport lp_report_growth_shapes = {.view = "shapes",
                                          .of = LP_OF_LADDER,
                                          .takes = GROWTH_TAKES,
                                          .table = shapes_table};

/* What lines made, of what is in use. */
static void makers_table(LpTable *t, const LpSubject *subject,
                         const LpReportOptions *opt)
{
  const LpLadder *l = subject->ladder;
  growth_table(t, l, l ? &l->makers.lines : NULL, opt, 0);
}

const LpReport lp_report_growth_makers = {.view = "makers",
                                          .of = LP_OF_LADDER,
                                          .takes = GROWTH_TAKES,
                                          .table = makers_table};

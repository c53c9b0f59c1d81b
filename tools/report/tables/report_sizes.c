/*
** --view=sizes: a table of what was allocated, by size.
*/

#include "report.h"

/* Columns. */
enum {
  SIZES_FROM,
  SIZES_TO,
  SIZES_ALLOCATIONS,
  SIZES_BYTES,
  SIZES_DEALLOCATIONS,
  SIZES_FREED,
  SIZES_LIVE_OBJECTS,
  SIZES_LIVE
};

/* Live objects and bytes of a size class. */
static LpWeight sizes_live(const LpSizeClass *s)
{
  LpWeight live = s->come;
  lp_weight_sub(&live, &s->gone);
  lp_weight_add(&live, &s->older);
  return live;
}

/* A number of objects and one of bytes. */
static void sizes_pair(LpTable *t, unsigned col, const LpWeight *w)
{
  lp_table_number(t, col, lp_round(w->n, w->npart));
  lp_table_number(t, col + 1, lp_round(w->bytes, w->bytespart));
}

/* The table: all size classes that are not empty. */
static void sizes_table(LpTable *t, const LpSubject *subject,
                        const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  unsigned i;
  (void)opt;
  lp_table_column(t, "from", "from", LP_UNIT_BYTES);
  lp_table_column(t, "to", "to", LP_UNIT_BYTES);
  lp_table_metric(t, LP_METRIC_ALLOCATIONS);
  lp_table_metric(t, LP_METRIC_BYTES);
  lp_table_metric(t, LP_METRIC_DEALLOCATIONS);
  lp_table_metric(t, LP_METRIC_FREED);
  lp_table_metric(t, LP_METRIC_LIVE_OBJECTS);
  lp_table_metric(t, LP_METRIC_LIVE);
  for (i = 0; prof->size && i < LP_NSIZES; i++) {
    const LpSizeClass *s = &prof->size[i];
    LpWeight live = sizes_live(s);
    if (!s->come.n && !s->gone.n)
      continue;
    lp_table_row(t);
    lp_table_number(t, SIZES_FROM, lp_sizes_from(i));
    lp_table_number(t, SIZES_TO, lp_sizes_from(i + 1) - 1);
    sizes_pair(t, SIZES_ALLOCATIONS, &s->come);
    sizes_pair(t, SIZES_DEALLOCATIONS, &s->gone);
    sizes_pair(t, SIZES_LIVE_OBJECTS, &live);
  }
}

const LpReport lp_report_sizes = {
    .view = "sizes",
    .of = LP_OF_MEMORY,
    .takes = LP_TAKES_HUMAN | LP_TAKES_SORT,
    .wants = LP_WANT_SIZES,
    .table = sizes_table,
};

/*
** --view=time: a table of the time series.
*/

#include "report.h"

/* Columns of memory profiles, behind the time. */
static void time_columns(LpTable *t)
{
  lp_table_metric(t, LP_METRIC_LIVE);
  lp_table_column(t, "highest", "highest", LP_UNIT_BYTES);
  lp_table_metric(t, LP_METRIC_ALLOCATIONS);
  lp_table_metric(t, LP_METRIC_BYTES);
  lp_table_metric(t, LP_METRIC_DEALLOCATIONS);
  lp_table_metric(t, LP_METRIC_FREED);
}

/* Fill them in. Returns the next column. */
static unsigned time_memory(LpTable *t, unsigned col, const LpStep *s)
{
  lp_table_number(t, col++, lp_fixed_round(s->live));
  lp_table_number(t, col++, lp_fixed_round(s->highest));
  lp_table_number(t, col++, lp_round(s->come.n, s->come.npart));
  lp_table_number(t, col++, lp_round(s->come.bytes, s->come.bytespart));
  lp_table_number(t, col++, lp_round(s->gone.n, s->gone.npart));
  lp_table_number(t, col++, lp_round(s->gone.bytes, s->gone.bytespart));
  return col;
}

/* The steps of a series, without those before --from. */
static void time_steps(LpTable *t, const LpProfile *prof, const LpTimeSeries *c)
{
  size_t i;
  lp_table_column(t, "ns", "seconds", LP_UNIT_NS);
  if (prof->of & LP_OF_MEMORY)
    time_columns(t);
  if (prof->of & LP_OF_CPU)
    lp_table_metric(t, LP_METRIC_SAMPLES);
  for (i = c->width ? prof->wanted.from / c->width : 0; i < c->n; i++) {
    unsigned col = 1;
    lp_table_row(t);
    lp_table_number(t, 0, (i + 1) * c->width);
    if (prof->of & LP_OF_MEMORY)
      col = time_memory(t, col, &c->step[i]);
    if (prof->of & LP_OF_CPU)
      lp_table_number(t, col, c->step[i].samples);
  }
}

/* The time series. */
static void time_table(LpTable *t, const LpSubject *subject,
                       const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  (void)opt;
  time_steps(t, prof, &prof->timeseries);
}

void lp_time_base(LpTable *t, const LpProfile *prof)
{
  time_steps(t, prof, &prof->baseline.timeseries);
}

const LpReport lp_report_time = {
    .view = "time",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_HUMAN,
    .wants = LP_WANT_TIME,
    .table = time_table,
};

/*
** From bytes in memory to a report, for tests.
*/

#ifndef RUN_H
#define RUN_H

#include "craft.h"
#include "input.h"
#include "report.h"
#include "ingest.h"

typedef struct Run {
  LpProfile *prof;
  LpStream st;
  LpStatus status;
  uint64_t events;
  LpBuf text;
} Run;

extern const LpReportOptions run_plain;

/* An empty profile whose samples are of native functions. */
LpProfile *run_profile(void);

Run run_memory(const void *p, size_t n);
void run_add(Run *r, LpInput *in);
Run run_input(LpInput *in);
Run run_craft(Craft *c);
const char *run_text(Run *r, const LpReportOptions *opt);
const char *run_report(Run *r, const char *format, const char *view,
                       const LpReportOptions *opt);
LpBuf run_golden(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const LpRow *run_row(const Run *r, const char *label);
void run_reports(Run *r);
void run_books(const Run *r);
void run_close(Run *r);

/* What must hold of reports of rows and of callers (run_rows.c). */
void run_rows(const Run *r, const char *view, LpMetric m);
void run_callers(const Run *r);
void run_change(const Run *r, int same);

/* Objects that are live. */
static inline uint64_t run_figure_live(const LpFigures *f)
{
  return lp_round(f->n[LP_ALLOCS] + f->n[LP_REALLOCS] - f->n[LP_FREES] -
                      f->n[LP_MOVES],
                  f->part[LP_ALLOCS] + f->part[LP_REALLOCS] -
                      f->part[LP_FREES] - f->part[LP_MOVES]);
}

#endif

/*
** Numbers -> one output. A report reads no stream and knows no other report.
*/

#ifndef LP_REPORT_H
#define LP_REPORT_H

#include "calltree.h"
#include "out.h"
#include "profile.h"
#include "table.h"

typedef struct LpReportOptions {
  int human;            /* Sizes for people: 6.2KiB. */
  int leakonly;         /* Nothing but what is live at the end. */
  double min;           /* Percent that a node of a tree must have. */
  LpMetric metric;      /* What one number is told of. */
  int bytotal;          /* Rows with most in total first, not in themselves. */
  const LpShape *shape; /* What is left out; NULL: nothing is. */
} LpReportOptions;

#define LP_REPORT_MIN 0.5 /* LpReportOptions.min, if nothing else is said. */

/* Options that some reports take. */
enum {
  LP_TAKES_HUMAN = 1,
  LP_TAKES_LEAKONLY = 2,
  LP_TAKES_MIN = 4,
  LP_TAKES_METRIC = 8,
  LP_TAKES_SORT = 16,
  LP_TAKES_TEMPORARY = 32,
  LP_TAKES_YOUNG = 64,
  LP_TAKES_SNAP = 128
};

/* A report is a view that all formats of tables can print, or is written in one
** format in a way of its own.
*/
typedef struct LpReport {
  const char *format; /* NULL: any that prints tables. */
  const char *view;   /* Or NULL, if the format has no views. */
  unsigned of;        /* LP_OF_*: of which profiles. */
  unsigned takes;     /* LP_TAKES_*. */
  unsigned wants;     /* LP_WANT_*: what must be counted. */
  void (*table)(LpTable *t, const LpProfile *prof, const LpReportOptions *opt);
  void (*write)(LpOut *out, const LpProfile *prof, const LpReportOptions *opt);
} LpReport;

extern const LpReport lp_report_sites;
extern const LpReport lp_report_types;
extern const LpReport lp_report_sizes;
extern const LpReport lp_report_time;
extern const LpReport lp_report_snapshots;
extern const LpReport lp_report_tree;
extern const LpReport lp_report_folded;
extern const LpReport lp_report_functions;
extern const LpReport lp_report_lines;
extern const LpReport lp_report_threads;
extern const LpReport lp_report_calls;
extern const LpReport lp_report_folded_cpu;
extern const LpReport lp_report_json;
extern const LpReport lp_report_pprof;
extern const LpReport lp_report_speedscope;

void lp_report_snaps(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt);
const LpReport *lp_report_find(const char *format, const char *view,
                               unsigned of);
const LpReport *lp_report_choose(const char *format, const char *view,
                                 unsigned given, unsigned of, LpBuf *why);
void lp_report_write(const char *format, const char *view, LpOut *out,
                     const LpProfile *prof, const LpReportOptions *opt);

#endif

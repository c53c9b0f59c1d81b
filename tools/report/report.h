/*
** Reports: each writes a profile in one format. Reports read no streams and do
** not depend on each other.
*/

#ifndef LP_REPORT_H
#define LP_REPORT_H

#include "calltree.h"
#include "out.h"
#include "page/sources.h"
#include "profile.h"
#include "screen.h"
#include "subject.h"
#include "table.h"

typedef struct LpReportOptions {
  int human;            /* Sizes for people: 6.2KiB. */
  int leakonly;         /* Nothing but what is live at the end. */
  double min;           /* Percent that a row or a node must have, */
  uint64_t least;       /* and how much. */
  LpMetric metric;      /* See lp_report_metric. */
  int chosen;           /* That metric was asked for. */
  const char *sort;     /* Key of what rows are sorted by; NULL: the default. */
  size_t top;           /* Most rows that are shown, or 0. */
  const LpShape *shape; /* What is left out; NULL: nothing is. */
  const char *path; /* Of a heap dump: what object is looked for, or NULL. */
  int group;        /* Coroutines with the same stack are one row. */
  int summary;      /* Text begins with sentences (summary_report.h). */
  const char *focus, *ignore, *base; /* What of that is to be said, or NULL. */
  const char *columns; /* Keys of a table's columns, with commas; NULL: the
                       ** usual ones. */
  LpScreen screen;     /* Where text goes. */
  LpSources sources;   /* Of a page: where files of Lua code are. */
  uint64_t most; /* Bytes of stacks or trees, at most; 0: LP_REPORT_MOST. */
} LpReportOptions;

#define LP_REPORT_MIN 0.5 /* LpReportOptions.min, if nothing else is said. */

/* Bytes that stacks written in full, or the lines of a tree, have at most. A
** small recording of deep stacks could be gigabytes otherwise.
*/
#define LP_REPORT_MOST (UINT64_C(256) << 20)

/* Options that some reports take. */
enum {
  LP_TAKES_HUMAN = 1,
  LP_TAKES_LEAKONLY = 2,
  LP_TAKES_MIN = 4,
  LP_TAKES_METRIC = 8,
  LP_TAKES_SORT = 16,
  LP_TAKES_TOP = 32,
  LP_TAKES_FOCUS = 64,
  LP_TAKES_IGNORE = 128,
  LP_TAKES_DIFF = 256,
  LP_TAKES_TEMPORARY = 512,
  LP_TAKES_YOUNG = 1024,
  LP_TAKES_SNAP = 2048,
  LP_TAKES_PATH = 4096,
  LP_TAKES_SOURCE = 8192,
  LP_TAKES_ALL = 16384,
  LP_TAKES_GROUP = 32768
};

/* Most reports take the whole shape; those of any metric all of these. */
#define LP_TAKES_STACKS (LP_TAKES_FOCUS | LP_TAKES_IGNORE)
#define LP_TAKES_ROWS   (LP_TAKES_SORT | LP_TAKES_TOP)
#define LP_TAKES_AGES   (LP_TAKES_TEMPORARY | LP_TAKES_YOUNG)
#define LP_TAKES_SHAPE  (LP_TAKES_STACKS | LP_TAKES_ROWS | LP_TAKES_MIN)
#define LP_TAKES_FIGURES                                                       \
  (LP_TAKES_METRIC | LP_TAKES_HUMAN | LP_TAKES_DIFF | LP_TAKES_AGES)

/* A report is a view that all formats of tables can print, or is written in one
** format in a way of its own.
*/
typedef struct LpReport {
  const char *format; /* NULL: any that prints tables. */
  const char *view;   /* Or NULL, if the format has no views. */
  unsigned of;        /* LP_OF_*: of which profiles. */
  unsigned takes;     /* LP_TAKES_*. */
  unsigned wants;     /* LP_WANT_*: what must be counted. */
  int binary;         /* It is no text. */
  void (*table)(LpTable *t, const LpSubject *subject,
                const LpReportOptions *opt);
  void (*write)(LpOut *out, const LpSubject *subject,
                const LpReportOptions *opt);
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
extern const LpReport lp_report_processes;
extern const LpReport lp_report_callers;
extern const LpReport lp_report_json;
extern const LpReport lp_report_html;
extern const LpReport lp_report_pprof;
extern const LpReport lp_report_speedscope;
extern const LpReport lp_report_tarantool;

/* Of heap dumps (heap/). */
extern const LpReport lp_report_heap;
extern const LpReport lp_report_heap_types;
extern const LpReport lp_report_heap_shapes;
extern const LpReport lp_report_heap_retained;
extern const LpReport lp_report_heap_sparse;
extern const LpReport lp_report_heap_shared;
extern const LpReport lp_report_heap_threads;
extern const LpReport lp_report_heap_weak;
extern const LpReport lp_report_heap_rss;
extern const LpReport lp_report_heap_tree;
extern const LpReport lp_report_heap_paths;
extern const LpReport lp_report_heap_owners;
extern const LpReport lp_report_heap_list;
extern const LpReport lp_report_heap_objects;
extern const LpReport lp_report_heap_keepers;
extern const LpReport lp_report_heap_makers;
extern const LpReport lp_report_heap_stacks;
extern const LpReport lp_report_heap_html;
extern const LpReport lp_report_heap_pprof;
extern const LpReport lp_report_heap_snapshot;

/* Of several heap dumps (growth/). */
extern const LpReport lp_report_growth;
extern const LpReport lp_report_growth_paths;
extern const LpReport lp_report_growth_shared;
extern const LpReport lp_report_growth_shapes;
extern const LpReport lp_report_growth_makers;
extern const LpReport lp_report_growth_html; /* (heap/page/) */

/* Fill a table as that of lp_report_time with the time series of the
** baseline.
*/
void lp_time_base(LpTable *t, const LpProfile *prof);

/* Write all snapshots as text; nothing if there are none. */
void lp_report_snaps(LpOut *out, const LpProfile *prof,
                     const LpReportOptions *opt);

/* The report of a format and a view for profiles of one kind (LP_OF_*), or
** NULL. A VIEW of NULL is the default.
*/
const LpReport *lp_report_find(const char *format, const char *view,
                               unsigned of);

/* The bit (LP_TAKES_*) of the option with this long name, or 0. */
unsigned lp_report_takes(const char *name);

/* As lp_report_find, if the report takes all options GIVEN (LP_TAKES_*). Else
** returns NULL and appends the reason to WHY.
*/
const LpReport *lp_report_choose(const char *format, const char *view,
                                 unsigned given, unsigned of, LpBuf *why);

/* Are the values of the options valid for a report? If not, the reason is
** appended to WHY.
*/
int lp_report_check(const LpReport *r, unsigned of, const LpReportOptions *opt,
                    LpBuf *why);

/* Write the report that lp_report_find returns, which must not be NULL. */
void lp_report_write(const char *format, const char *view, LpOut *out,
                     const LpSubject *subject, const LpReportOptions *opt);

/* Has the table of R no rows, but some without --min? Then the largest number
** of its main column is appended to B, which is "total" if there is one.
*/
int lp_report_largest(LpBuf *b, const LpReport *r, const LpSubject *subject,
                      const LpReportOptions *opt);

/* -- Options of reports (report_shape.c) ---------------------------------- */

/* The metric of a report: opt->metric if the profile has it and it was chosen
** or the profile is of one kind; else samples of CPU time, or bytes.
*/
LpMetric lp_report_metric(const LpProfile *prof, const LpReportOptions *opt);

/* The metrics (bits) that --columns names. */
unsigned lp_report_columns(const LpReportOptions *opt);

/* Does N of ALL reach --min? 0 never does, negative numbers only without
** --min.
*/
int lp_report_enough(const LpReportOptions *opt, uint64_t n, uint64_t all);

/* The bytes that stacks or lines of trees may have, of formats that write each
** in full. A report that leaves something out for that sets LpOut.cut.
*/
uint64_t lp_report_most(const LpReportOptions *opt);

/* Append a description of what is left out by the options that the report takes
** (LP_TAKES_*).
*/
void lp_report_left(LpBuf *b, const LpReportOptions *opt, unsigned takes,
                    LpMetric metric);

/* -- Formats (a file each) ------------------------------------------------ */

/* Write a table as text: whole lines, or what fits opt->screen. */
void lp_table_text(LpOut *out, const LpTable *t, const LpReportOptions *opt);

/* Write a table as CSV. The first line has the keys of the columns. */
void lp_csv_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                  const LpReportOptions *opt);

/* Write a table as a JSON document. */
void lp_json_table(LpOut *out, const LpTable *t, const LpProfile *prof,
                   const LpReportOptions *opt);

/* Write a whole profile as one JSON document. BOTH: with a second call tree
** "native", where samples are charged to Lua lines.
*/
void lp_json_document(LpOut *out, const LpSubject *subject,
                      const LpReportOptions *opt, int both);

#endif

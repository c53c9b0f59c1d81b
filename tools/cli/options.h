/*
** Command line options.
*/

#ifndef LP_OPTIONS_H
#define LP_OPTIONS_H

#include <regex.h>

#include "limit.h"
#include "report.h"

struct argp_option;
struct argp_state;

/* Names of files, in order. */
typedef struct LpNames {
  const char **name;
  size_t n;
  size_t room;
} LpNames;

typedef struct LpOptions {
  const char *out; /* NULL: standard output. */
  LpNames file;
  const char *format;
  const char *view;       /* NULL: the default, see lp_options_view. */
  int summary;            /* 1: --summary, -1: --no-summary, or 0. */
  int growth;             /* --growth: FILEs are a ladder of heap dumps. */
  const char *recording;  /* With --growth: that they were taken in; or NULL. */
  int dump;               /* --dump: of heap dumps, all objects. */
  unsigned given;         /* LP_TAKES_*: options for certain reports. */
  uint64_t most;          /* Bytes that are read of a file; 0: all. */
  double follow;          /* Seconds between two reports; 0: the FILE has
                          ** ended. */
  LpColour colour;        /* --color */
  int nopager;            /* --no-pager */
  int exact;              /* --exact */
  int verbose;            /* --verbose: offsets of unfinished files. */
  LpWanted wanted;        /* But .what depends on the report. */
  LpReportOptions report; /* All but its shape, which a profile must have. */
  regex_t focus, ignore;  /* If the report's are not NULL. */
  LpNames base;           /* Files to compare with. */
  LpBuf basenames;        /* All of them, for people. */
  LpLimit *limit;
  size_t nlimit;
  size_t limits; /* Room. */
} LpOptions;

/* Written by lp_options_parse only. */
extern LpOptions lp_options;

/* Say in one line what is wrong with the command line, as printf would, and
** exit with status 64. STATE is argp's, or NULL before argp runs.
*/
void lp_option_error(const struct argp_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* Exit with status 64 and a suggestion if a word of ARGV is no option of argp
** or in OPTIONS, is ambiguous, or misses its value (option_check.c).
*/
void lp_option_check(const struct argp_option *options, char **argv);

/* Parse the command line into lp_options. Exits with status 64 on errors. */
void lp_options_parse(int argc, char **argv);

/* The report of a profile of kind OF (LP_OF_*) that takes all options given.
** Returns NULL and appends the reason to WHY if there is none.
*/
const LpReport *lp_options_report(unsigned of, LpBuf *why);

/* The view of a profile of kind OF (LP_OF_*), or NULL for the format's default.
** Other options may imply one.
*/
const char *lp_options_view(unsigned of);

/* Does the report begin with a summary? On a terminal, unless --no-summary is
** given; elsewhere with --summary.
*/
int lp_options_summary(void);

/* The counters (LP_WANT_*) that a report and all limits need. */
unsigned lp_options_wants(const LpReport *r);

/* -- Values of options (option_values.c) ---------------------------------- */

/* An invalid value ends the program with status 64; STATE is argp's. */

/* --min: a percentage ("2%") or an amount. */
void lp_option_min(const char *arg, struct argp_state *state);

/* --max-size: returns a number of bytes, at least 1. */
uint64_t lp_option_size(const char *arg, struct argp_state *state);

/* --top: a number of rows. */
void lp_option_top(const char *arg, struct argp_state *state);

/* --metric: the key of a metric. */
void lp_option_metric(const char *arg, struct argp_state *state);

/* --limit: appended to lp_options.limit. */
void lp_option_limit(const char *arg, struct argp_state *state);

/* --color: ARG may be NULL for "always". */
LpColour lp_option_colour(const char *arg, struct argp_state *state);

/* --follow: returns seconds. ARG may be NULL for the default. */
double lp_option_follow(const char *arg, struct argp_state *state);

/* --ignore-youngest: returns a percentage from 0 to 100. */
double lp_option_percent(const char *arg, struct argp_state *state);

/* --from, --to: seconds on the command line. Returns nanoseconds. */
uint64_t lp_option_seconds(const char *arg, struct argp_state *state);

/* --heap-snap-interval: seconds on the command line. Returns nanoseconds. */
uint64_t lp_option_interval(const char *arg, struct argp_state *state);

/* --group: returns 1, if ARG is a key by which rows can be grouped. */
int lp_option_group(const char *arg, struct argp_state *state);

/* --temporary: returns a number of allocations, at least 1. */
uint64_t lp_option_number(const char *arg, struct argp_state *state);

/* --focus, --ignore: compile ARG into RE. OLD is the expression that RE holds
** already, or NULL; it is freed. NAME is the option's. Returns ARG.
*/
const char *lp_option_regex(regex_t *re, const char *old, const char *name,
                            const char *arg, struct argp_state *state);

/* -- Names of files (option_files.c); errors end the program, too --------- */

/* Append a name, which is not copied. */
void lp_names_add(LpNames *names, const char *name);

/* --files-from, --diff-from: append the names in the file LIST, one a line, or
** separated by NUL if it contains one. They are never freed.
*/
void lp_option_list(const char *list, LpNames *names, struct argp_state *state);

/* Check all names, and build lp_options.basenames. To be called when the whole
** command line was parsed.
*/
void lp_option_files(struct argp_state *state);

/* --source: append a folder, which must be there, to those of the report. */
void lp_option_source(const char *arg, const struct argp_state *state);

/* --map: append OLD=NEW to lp_options.wanted.map. */
void lp_option_map(char *arg, const struct argp_state *state);

/* -- Whose samples count (option_pick.c) ----------------------------------- */

/* Add a condition, --pid=GLOB and so on. GLOB belongs to the command line. Ends
** the program if it is none.
*/
void lp_option_pick(LpPickKey key, const char *glob,
                    const struct argp_state *state);

/* The same for --label=KEY=GLOB. */
void lp_option_label(const char *arg, const struct argp_state *state);

/* If the conditions leave no sample, append why, and what there would be.
** Returns whether that is so.
*/
int lp_option_nothing(LpBuf *b, const LpProfile *prof);

#endif

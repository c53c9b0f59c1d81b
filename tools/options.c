/*
** What the command line asks for.
*/

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include "options.h"

LpOptions lp_options = {.format = "text",
                        .wanted = {.to = UINT64_MAX},
                        .report.min = LP_REPORT_MIN,
                        .report.metric = LP_METRIC_BYTES};

#define FOLLOW_SECONDS 2     /* Of --follow, if nothing else is said. */
#define FOLLOW_MAX     86400 /* A day. */

enum {
  OPT_DUMP = 256,
  OPT_FORMAT,
  OPT_VIEW,
  OPT_MIN,
  OPT_METRIC,
  OPT_SORT,
  OPT_FOLLOW,
  OPT_TEMPORARY,
  OPT_YOUNG,
  OPT_SNAP,
  OPT_FROM,
  OPT_TO
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is reported:", 1},
    {"view", OPT_VIEW, "VIEW", 0,
     "Memory: sites: events by site, and what each still holds (default); "
     "types: a table by type of object; sizes: by size; tree: who called what "
     "allocates; time: the course of things; snapshots. "
     "CPU: functions (default), lines, tree, threads, time",
     1},
    {"format", OPT_FORMAT, "FORMAT", 0,
     "text (default); folded: a line for each stack, for flamegraph.pl", 1},
    {"output", 'o', "FILE", 0, "Write the report to FILE", 1},
    {"follow", OPT_FOLLOW, "SECONDS", OPTION_ARG_OPTIONAL,
     "FILE still grows: report again and again, every 2 SECONDS if nothing else "
     "is said, until the recording ends, or Ctrl-C",
     1},
    {NULL, 0, NULL, 0, "Text:", 2},
    {"human-readable", 'H', NULL, 0, "Print sizes as 6.2KiB", 2},
    {"leak-only", 'l', NULL, 0,
     "Sites: print only what is still live at the end", 2},
    {"min", OPT_MIN, "PERCENT", 0,
     "Leave out what has less of all bytes, and of all live bytes, or of all "
     "samples (default 0.5)",
     2},
    {"sort", OPT_SORT, "ORDER", 0,
     "Functions, lines: most first in themselves (self, default), or with all "
     "that they called (total)",
     2},
    {NULL, 0, NULL, 0, "Folded:", 3},
    {"metric", OPT_METRIC, "METRIC", 0,
     "Memory: bytes that were allocated (default), allocations, or live bytes",
     3},
    {NULL, 0, NULL, 0, "What is counted:", 4},
    {"from", OPT_FROM, "SEC", 0,
     "As if the recording had begun so many seconds after it did", 4},
    {"to", OPT_TO, "SEC", 0, "As if it had ended then", 4},
    {"temporary", OPT_TEMPORARY, "N", 0,
     "What goes before N other allocations come is temporary (default: as many "
     "as were live at once)",
     4},
    {"ignore-youngest", OPT_YOUNG, "PERCENT", 0,
     "The last allocations are too young to be leaked (default 0)", 4},
    {"heap-snap-interval", OPT_SNAP, "SEC", 0,
     "Sites, snapshots: what was held every SEC seconds", 4},
    {NULL, 0, NULL, 0, "Others:", 5},
    {"dump", OPT_DUMP, NULL, 0,
     "Accepted and implied: kinds of streams are recognised", 5},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {0},
};

static const char doc[] =
    "Report what a LuaJIT memory profile tells: allocations, reallocations and "
    "deallocations, and what is still held; or where a CPU profile's time went."
    "\v"
    "FILE - is standard input. Several FILEs become one report. They may be "
    "packed with gzip or zstd.\n"
    "\n"
    "Examples:\n"
    "  lj-parse-memprof mem.ljm           the whole report\n"
    "  lj-parse-memprof -l -H mem.ljm     what is still held, for people\n"
    "  lj-parse-memprof --view=tree mem.ljm\n"
    "  lj-parse-memprof --format=folded mem.ljm | flamegraph.pl > mem.svg\n"
    "  lj-parse-memprof cpu.ljp           self and total by function\n"
    "  lj-parse-memprof -o report.txt mem.ljm.gz\n"
    "  lj-parse-memprof --follow mem.ljm  what a program does that still runs\n"
    "\n"
    "Exit status: 0 all was read; 1 a part was read, a warning says where and "
    "why it ends; 2 a FILE could not be read, or the report not written; 64 "
    "usage.";

/* --min */
static double parse_percent(const char *arg, struct argp_state *state)
{
  char *end;
  double percent = strtod(arg, &end);
  if (end == arg || *end || !(percent >= 0 && percent <= 100))
    argp_error(state, "expected a PERCENT from 0 to 100, not %s", arg);
  return percent;
}

/* --from, --to, --heap-snap-interval: nanoseconds. */
static uint64_t parse_seconds(const char *arg, struct argp_state *state)
{
  char *end;
  double ns = strtod(arg, &end) * 1e9;
  if (end == arg || *end || !(ns >= 0))
    argp_error(state, "expected a number of seconds, not %s", arg);
  return ns < 0x1p63 ? (uint64_t)(ns + 0.5) : (uint64_t)1 << 63;
}

/* --heap-snap-interval */
static uint64_t parse_interval(const char *arg, struct argp_state *state)
{
  uint64_t ns = parse_seconds(arg, state);
  if (ns < 1000000)
    argp_error(state, "expected an interval of at least 0.001 seconds, not %s",
               arg);
  return ns;
}

/* --temporary */
static uint64_t parse_number(const char *arg, struct argp_state *state)
{
  char *end;
  unsigned long long n = strtoull(arg, &end, 10);
  if (end == arg || *end || *arg == '-' || !n)
    argp_error(state, "expected a number of allocations, not %s", arg);
  return n;
}

/* --metric */
static LpMetric parse_metric(const char *arg, struct argp_state *state)
{
  LpBuf names = {0};
  LpMetric m = lp_metric_find(arg);
  if (m < LP_NMETRIC)
    return m;
  for (m = 0; m < LP_NMETRIC; m++)
    lp_buf_printf(&names, "%s%s", m ? ", " : "", lp_metrics[m].key);
  argp_error(state, "expected a METRIC (%s), not %s", names.s, arg);
  lp_buf_free(&names);
  return LP_METRIC_BYTES;
}

/* --sort */
static int parse_sort(const char *arg, struct argp_state *state)
{
  int total = strcmp(arg, "total") == 0;
  if (!total && strcmp(arg, "self") != 0)
    argp_error(state, "expected an ORDER: self or total, not %s", arg);
  return total;
}

/* --follow */
static double parse_follow(const char *arg, struct argp_state *state)
{
  char *end;
  double seconds = arg ? strtod(arg, &end) : FOLLOW_SECONDS;
  if (arg && (end == arg || *end || !(seconds > 0 && seconds <= FOLLOW_MAX)))
    argp_error(state, "expected SECONDS from above 0 to %d, not %s", FOLLOW_MAX,
               arg);
  return seconds;
}

/* Only a file can be followed, and only one; so must be what is replaced. */
static void parse_files(struct argp_state *state)
{
  struct stat st;
  if (lp_options.follow > 0 && lp_options.nfile != 1)
    argp_error(state, "--follow is for one FILE, not %d", lp_options.nfile);
  if (lp_options.follow > 0 && strcmp(lp_options.file[0], "-") == 0)
    argp_error(state, "--follow is not for standard input");
  if (lp_options.follow > 0 && lp_options.out &&
      stat(lp_options.out, &st) == 0 && !S_ISREG(st.st_mode))
    argp_error(state, "--follow writes a FILE anew, and %s is none",
               lp_options.out);
}

/* Some report must take every option. Which one it is depends on what FILEs are
** profiles of.
*/
static void parse_report(struct argp_state *state)
{
  LpBuf why = {0}, other = {0};
  int memory =
      lp_report_find(lp_options.format, lp_options.view, LP_OF_MEMORY) != NULL;
  if (!lp_report_choose(lp_options.format, lp_options.view, lp_options.given,
                        LP_OF_MEMORY, &why) &&
      !lp_report_choose(lp_options.format, lp_options.view, lp_options.given,
                        LP_OF_CPU, &other))
    argp_error(state, "%s", memory ? why.s : other.s);
  lp_buf_free(&why);
  lp_buf_free(&other);
}

/* One option about what is counted. */
static error_t parse_wanted(int key, const char *arg, struct argp_state *state)
{
  LpWanted *wanted = &lp_options.wanted;
  switch (key) {
  case OPT_FROM:
    wanted->from = parse_seconds(arg, state);
    break;
  case OPT_TO:
    wanted->to = parse_seconds(arg, state);
    break;
  case OPT_TEMPORARY:
    lp_options.given |= LP_TAKES_TEMPORARY;
    wanted->what |= LP_WANT_TEMPORARY;
    wanted->temporary = parse_number(arg, state);
    break;
  case OPT_YOUNG:
    lp_options.given |= LP_TAKES_YOUNG;
    wanted->what |= LP_WANT_YOUNG;
    wanted->young = parse_percent(arg, state);
    break;
  case OPT_SNAP:
    lp_options.given |= LP_TAKES_SNAP;
    wanted->what |= LP_WANT_SNAPS;
    wanted->snap = parse_interval(arg, state);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* One option. */
/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case 'o':
    lp_options.out = arg;
    break;
  case 'H':
    lp_options.given |= LP_TAKES_HUMAN;
    lp_options.report.human = 1;
    break;
  case 'l':
    lp_options.given |= LP_TAKES_LEAKONLY;
    lp_options.report.leakonly = 1;
    break;
  case OPT_MIN:
    lp_options.given |= LP_TAKES_MIN;
    lp_options.report.min = parse_percent(arg, state);
    break;
  case OPT_METRIC:
    lp_options.given |= LP_TAKES_METRIC;
    lp_options.report.metric = parse_metric(arg, state);
    break;
  case OPT_SORT:
    lp_options.given |= LP_TAKES_SORT;
    lp_options.report.bytotal = parse_sort(arg, state);
    break;
  case OPT_FORMAT:
    lp_options.format = arg;
    break;
  case OPT_VIEW:
    lp_options.view = arg;
    break;
  case OPT_FOLLOW:
    lp_options.follow = parse_follow(arg, state);
    break;
  case OPT_DUMP:
    break;
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    break;
  case ARGP_KEY_ARGS:
    lp_options.file = state->argv + state->next;
    lp_options.nfile = state->argc - state->next;
    break;
  case ARGP_KEY_END:
    if (lp_options.wanted.from >= lp_options.wanted.to)
      argp_error(state, "expected a time for --from that is before that of "
                        "--to");
    parse_files(state);
    parse_report(state);
    break;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a FILE, or - for standard input");
    break;
  default:
    return parse_wanted(key, arg, state);
  }
  return 0;
}

/* Read the command line into lp_options; what is wrong with it ends the
** program, with status 64.
*/
void lp_options_parse(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "FILE...", doc,
                                   NULL,    NULL,  NULL};
  argp_program_version = "lj-parse-memprof " LP_VERSION;
  argp_err_exit_status = EX_USAGE;
  argp_parse(&argp, argc, argv, 0, NULL, NULL);
}

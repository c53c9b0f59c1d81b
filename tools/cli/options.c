/*
** Command line options.
*/

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "kind.h"
#include "options.h"

LpOptions lp_options = {.format = "text",
                        .wanted = {.to = UINT64_MAX},
                        .report.min = LP_REPORT_MIN,
                        .report.metric = LP_METRIC_BYTES};

/* Keys of options without a letter, in the order of the list below. */
enum {
  OPT_VIEW = 256,
  OPT_METRIC,
  OPT_NATIVE,
  OPT_DIFF,
  OPT_DIFFLIST,
  OPT_PATH,
  OPT_ALL,
  OPT_GROUP,
  OPT_GROWTH,
  OPT_FORMAT,
  OPT_SOURCE,
  OPT_FROM,
  OPT_TO,
  OPT_PID,
  OPT_COMM,
  OPT_THREAD,
  OPT_CGROUP,
  OPT_LABEL,
  OPT_TEMPORARY,
  OPT_YOUNG,
  OPT_SNAP,
  OPT_MAP,
  OPT_MAXSIZE,
  OPT_TOP,
  OPT_SORT,
  OPT_FOCUS,
  OPT_IGNORE,
  OPT_MIN,
  OPT_COLUMNS,
  OPT_SUMMARY,
  OPT_NOSUMMARY,
  OPT_EXACT,
  OPT_COLOUR,
  OPT_NOPAGER,
  OPT_LIST,
  OPT_FOLLOW,
  OPT_DUMP,
  OPT_LIMIT
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is reported:", 1},
    {"view", OPT_VIEW, "VIEW", 0,
     "Memory: sites: events and live bytes by site (default); types: by type "
     "of object; sizes: by size; snapshots. CPU: functions (default); threads. "
     "Both: processes; time: time series; functions, lines: self and total; "
     "tree: call tree; callers: inverted call tree. Heap dumps: summary "
     "(default); tree: who keeps what; retained: objects that keep most; "
     "shared: what several keep together; rss: the process's memory; types, "
     "shapes, sparse, threads, objects. A heap dump and its recording: keepers, makers: what each object keeps by who made it, and the reverse; "
     "stacks: the same with callers",
     1},
    {"metric", OPT_METRIC, "METRIC", 0,
     "Memory: bytes allocated (default), allocations, reallocations, "
     "deallocations, freed, live, live-objects, peak, peak-objects, leaked, "
     "leaked-objects, temporary, temporary-objects; CPU: samples, and parts of "
     "them: interpreted, compiled, c, alloc-gc, jit, kernel, unnamed",
     1},
    {"native", OPT_NATIVE, NULL, 0,
     "CPU: native and kernel functions; else their time is that of the Lua "
     "lines that called them",
     1},
    {"diff", OPT_DIFF, "BASE", 0,
     "Compare with the recording or heap dump BASE; several recordings are "
     "added up",
     1},
    {"growth", OPT_GROWTH, NULL, 0,
     "FILEs are heap dumps of one program, the oldest first: what grows from "
     "each one to the next",
     1},
    {"diff-from", OPT_DIFFLIST, "LIST", 0,
     "Compare with all recordings named in LIST", 1},
    {"path", OPT_PATH, "OBJECT", 0,
     "Heap dumps: the ways from the roots to the object at an address (0x...) "
     "or path (_G.cache), or to the largest objects of a shape that contains OBJECT",
     1},
    {"all", OPT_ALL, NULL, 0,
     "With --path: all ways from the roots, to all objects of the shape, in "
     "one tree",
     1},
    {"group", OPT_GROUP, "KEY", 0,
     "Threads of a heap dump: add up those with the same stack (KEY is stack)",
     1},
    {"format", OPT_FORMAT, "FORMAT", 0,
     "text (default); folded: a line for each stack, for flamegraph.pl; json: "
     "the whole profile, or a VIEW's table; csv: a VIEW's table (default: "
     "lines, if available); pprof: gzip, for pprof; speedscope; "
     "tarantool: the text of Tarantool's own tool; "
     "html: a page with flame graphs and tables, of a heap dump with who keeps "
     "what, as in pprof, of two (--diff) or more (--growth) with what "
     "changed; heapsnapshot: a heap dump, for Chrome's DevTools",
     1},
    {"source", OPT_SOURCE, "DIR", 0,
     "html: show the sources of Lua code that are in DIR with figures beside "
     "the lines; no others are read",
     1},
    {"output", 'o', "FILE", 0, "Write the report to FILE", 1},
    {NULL, 0, NULL, 0, "What is counted:", 2},
    {"from", OPT_FROM, "SEC", 0,
     "Report as if the recording had begun SEC seconds later", 2},
    {"to", OPT_TO, "SEC", 0,
     "Report as if it had ended SEC seconds after its start", 2},
    {"pid", OPT_PID, "PID", 0, "Only what was recorded of this process", 2},
    {"comm", OPT_COMM, "GLOB", 0, "Only processes with this name", 2},
    {"thread", OPT_THREAD, "GLOB", 0, "Only samples of threads with this name",
     2},
    {"cgroup", OPT_CGROUP, "GLOB", 0,
     "Only processes in this control group: a container, a service", 2},
    {"label", OPT_LABEL, "KEY=GLOB", 0,
     "The same, by pid, comm, thread, tid, cgroup or host. Several options are "
     "alternatives if they have the same key, or else all must fit",
     2},
    {"temporary", OPT_TEMPORARY, "N", 0,
     "Objects freed within N further allocations are temporary (default: the "
     "most objects live at once)",
     2},
    {"ignore-youngest", OPT_YOUNG, "PERCENT", 0,
     "Do not count the last allocations as leaked (default 0)", 2},
    {"heap-snap-interval", OPT_SNAP, "SEC", 0,
     "Sites, snapshots: live bytes every SEC seconds", 2},
    {"map", OPT_MAP, "OLD=NEW", 0,
     "Lua code in files below OLD is as if it were below NEW: it has moved "
     "since, or a --diff was recorded elsewhere",
     2},
    {"max-size", OPT_MAXSIZE, "SIZE", 0,
     "Read at most SIZE bytes of a file, unpacked (default: all; of a packed "
     "one, 64 MiB and 2048 bytes for each packed one)",
     2},
    {NULL, 0, NULL, 0, "Shaping:", 3},
    {"top", OPT_TOP, "N", 0,
     "Only the first N rows, in trees N children; the rest is added up", 3},
    {"sort", OPT_SORT, "KEY", 0,
     "Order of rows: self, total, name, or another column", 3},
    {"focus", OPT_FOCUS, "RE", 0,
     "Only stacks with a frame that matches a regular expression", 3},
    {"ignore", OPT_IGNORE, "RE", 0, "No stacks with a frame that matches", 3},
    {"min", OPT_MIN, "SIZE", 0,
     "Leave out rows with less: bytes, objects or samples (4096, 64K), or "
     "percent (0.5%, the default of text); folded, speedscope: add up stacks "
     "with less",
     3},
    {"columns", OPT_COLUMNS, "KEYS", 0,
     "Tables: the columns with these keys, in this order, e.g. name,self,live",
     3},
    {NULL, 0, NULL, 0, "Text:", 4},
    {"summary", OPT_SUMMARY, NULL, 0,
     "Begin with a few sentences: what was recorded, which lines have most, "
     "what grows (default on a terminal)",
     4},
    {"no-summary", OPT_NOSUMMARY, NULL, 0, "Begin with the report", 4},
    {"human-readable", 'H', NULL, 0,
     "Print sizes as 6.2KiB (on a terminal the default of tables and trees)",
     4},
    {"exact", OPT_EXACT, NULL, 0, "Print sizes in bytes on a terminal, too", 4},
    {"color", OPT_COLOUR, "WHEN", OPTION_ARG_OPTIONAL,
     "always (the default of WHEN), never, or auto (default): on a terminal, "
     "unless NO_COLOR is set or TERM is dumb",
     4},
    {"no-pager", OPT_NOPAGER, NULL, 0,
     "Do not show long reports in LJPROF_PAGER, PAGER or less", 4},
    {"leak-only", 'l', NULL, 0, "Sites: print only live bytes at the end", 4},
    {NULL, 0, NULL, 0, "Input:", 5},
    {"files-from", OPT_LIST, "LIST", 0,
     "Read names of more FILEs from LIST (-: standard input): one per line, or "
     "each followed by a NUL",
     5},
    {"follow", OPT_FOLLOW, "SECONDS", OPTION_ARG_OPTIONAL,
     "FILE is still being written: report every SECONDS (default 2) until the "
     "recording ends, or Ctrl-C",
     5},
    {"dump", OPT_DUMP, NULL, 0,
     "Heap dumps: --view=objects, each object with its references; kinds of "
     "streams are recognized",
     5},
    {NULL, 0, NULL, 0, "Limits:", 6},
    {"limit", OPT_LIMIT, "LIMIT", 0,
     "METRIC<=NUMBER or METRIC@GLOB<=NUMBER: status 3 if it is exceeded, by "
     "all or by chunks, modules and sites that match GLOB; of heap dumps "
     "retained@PATH<=NUMBER or shared@PATH<=NUMBER, with --growth "
     "growth@PATH<=NUMBER: between the last two",
     6},
    {NULL, 0, NULL, 0, "Others:", -1},
    {"verbose", 'v', NULL, 0,
     "Report at which byte an unfinished recording ends", -1},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {0},
};

static const char doc[] =
    "Report on recordings of LuaJIT: allocations, reallocations, deallocations "
    "and live bytes of memory profiles, CPU time of CPU profiles."
    "\v"
    "FILE - is standard input. Several FILEs become one report. They may be "
    "packed with gzip or zstd.\n"
    "\n"
    "Examples:\n"
    "  lj-parse-memprof mem.ljm           the report by sites\n"
    "  lj-parse-memprof -l -H mem.ljm     live bytes, with units\n"
    "  lj-parse-memprof --view=tree mem.ljm\n"
    "  lj-parse-memprof --view=functions --metric=peak --top=20 mem.ljm\n"
    "  lj-parse-memprof --view=callers --focus='^@app/' --min=64K mem.ljm\n"
    "  lj-parse-memprof --diff=old.ljm new.ljm\n"
    "  find fleet -name '*.ljm' -print0 | lj-parse-memprof --files-from=-\n"
    "  lj-parse-memprof --limit='live@app/*<=10MB' mem.ljm\n"
    "  lj-parse-memprof --format=folded mem.ljm | flamegraph.pl > mem.svg\n"
    "  lj-parse-memprof --format=pprof -o mem.pb.gz mem.ljm\n"
    "  lj-parse-memprof cpu.ljp           self and total by function\n"
    "  lj-parse-memprof -o report.txt mem.ljm.gz\n"
    "  lj-parse-memprof --follow mem.ljm  a program that is still running\n"
    "\n"
    "Exit status: 0 everything was read; 1 a part was read, or the report is "
    "cut to 256 MiB, see the warning; 2 a FILE could not be read, the report "
    "not written, or --path names nothing; 3 a limit was exceeded; 64 usage. "
    "Of several, the first of 64, 2, 3, 1.";

/* The options given that only some reports take, without those that limits
** use.
*/
static unsigned options_given(void)
{
  unsigned given = lp_options.given, wants = 0;
  size_t i;
  for (i = 0; i < lp_options.nlimit; i++)
    wants |= lp_limit_wants(&lp_options.limit[i]);
  if (wants & LP_WANT_TEMPORARY)
    given &= ~(unsigned)LP_TAKES_TEMPORARY;
  if (wants & LP_WANT_YOUNG)
    given &= ~(unsigned)LP_TAKES_YOUNG;
  return given;
}

/* Metrics that the RFC's report cannot show change the default view. */
const char *lp_options_view(unsigned of)
{
  int text = strcmp(lp_options.format, "text") == 0;
  if (lp_options.view)
    return lp_options.view;
  if (of & LP_OF_LADDER)
    return NULL;
  if (of & LP_OF_HEAP)
    return lp_options.given & LP_TAKES_ALL ? "owners"
           : lp_options.report.path        ? "paths"
           : lp_options.dump               ? "objects"
                                           : NULL;
  return text && ((lp_options.given & (LP_TAKES_METRIC | LP_TAKES_DIFF)) ||
                  lp_options.report.columns)
             ? "functions"
             : NULL;
}

/* The report of profiles of one kind that takes all options, or NULL
** and *WHY.
*/
const LpReport *lp_options_report(unsigned of, LpBuf *why)
{
  const LpReport *r = lp_report_choose(lp_options.format, lp_options_view(of),
                                       options_given(), of, why);
  size_t i;
  if (!r || !lp_report_check(r, of, &lp_options.report, why))
    return NULL;
  for (i = 0; i < lp_options.nlimit; i++) {
    if (lp_limit_of(&lp_options.limit[i]) & of)
      continue;
    lp_buf_printf(why, "there is no --limit=%s", lp_options.limit[i].text);
    if (lp_options.limit[i].keeps == LP_LIMIT_GROWTH)
      lp_buf_puts(why, ": it is for heap dumps with --growth");
    return NULL;
  }
  return r;
}

/* Standard output may become something else later; what it was counts. */
int lp_options_summary(void)
{
  static int terminal = -1;
  if (terminal < 0)
    terminal = isatty(STDOUT_FILENO);
  if (strcmp(lp_options.format, "text") != 0 || lp_options.summary < 0)
    return 0;
  return lp_options.summary ||
         (terminal && !lp_options.out && !(lp_options.follow > 0));
}

unsigned lp_options_wants(const LpReport *r)
{
  unsigned metrics = LP_METRIC_BIT(lp_options.report.metric) |
                     lp_report_columns(&lp_options.report);
  unsigned limits = 0;
  size_t i;
  for (i = 0; i < lp_options.nlimit; i++)
    limits |= lp_limit_wants(&lp_options.limit[i]);
  if (lp_options.file.n > 1 && (r->of & LP_OF_CPU)) /* Both, perhaps. */
    metrics |= LP_METRIC_BIT(LP_METRIC_PEAK);
  if (lp_options_summary())
    limits |= LP_WANT_AGES;
  return r->wants | limits | lp_metric_wants(metrics);
}

/* Does the report of memory explain an error? Not if the one of CPU time takes
** the options.
*/
static int parse_of_memory(void)
{
  const char *format = lp_options.format;
  const char *view = lp_options_view(LP_OF_MEMORY);
  unsigned given = options_given();
  LpBuf why = {0};
  int is = lp_report_choose(format, view, given, LP_OF_MEMORY, &why) ||
           (!lp_report_choose(format, view, given, LP_OF_CPU, &why) &&
            lp_report_find(format, view, LP_OF_MEMORY));
  lp_buf_free(&why);
  return is;
}

/* End with one of the reasons why there is no report: that of the kind of the
** first FILE, if it is known.
*/
static void parse_failed(struct argp_state *state, const char *memory,
                         const char *cpu)
{
  int kind = lp_options.file.n ? lp_kind_of(lp_options.file.name[0]) : 0;
  LpBuf heap = {0};
  if (kind == 'd')
    lp_options_report(LP_OF_HEAP, &heap);
  lp_option_error(state, "%s",
                  kind == 'd' && heap.n                         ? heap.s
                  : kind == 'm' || (!kind && parse_of_memory()) ? memory
                                                                : cpu);
}

/* All options are parsed. Reports as text leave out small rows. Some report
** must take all options; which one depends on the kinds of FILEs.
*/
static void parse_report(struct argp_state *state)
{
  LpBuf why = {0}, other = {0}, heap = {0};
  int text = strcmp(lp_options.format, "text") == 0;
  if (!text && !(lp_options.given & LP_TAKES_MIN))
    lp_options.report.min = 0;
  if (lp_options.growth) {
    if (!lp_options_report(LP_OF_LADDER, &why))
      lp_option_error(state, "%s, with --growth", why.s);
  } else if (!lp_options_report(LP_OF_MEMORY, &why) &&
             !lp_options_report(LP_OF_CPU, &other) &&
             !lp_options_report(LP_OF_HEAP, &heap) &&
             !lp_options_report(LP_OF_HEAP | LP_OF_JOINED, &heap) &&
             (lp_options.file.n < 2 ||
              !lp_options_report(LP_OF_MEMORY | LP_OF_CPU, &other)))
    parse_failed(state, why.s, other.s);
  lp_buf_free(&why);
  lp_buf_free(&other);
  lp_buf_free(&heap);
}

/* A terminal gets no bytes that are not text. */
static void parse_terminal(struct argp_state *state)
{
  const LpReport *r = lp_report_find(lp_options.format, NULL,
                                     LP_OF_MEMORY | LP_OF_CPU | LP_OF_HEAP);
  if (r && r->binary && !lp_options.out && isatty(STDOUT_FILENO))
    lp_option_error(state,
                    "--format=%s is binary and not for a terminal: write it to "
                    "a file with -o FILE",
                    lp_options.format);
}

/* All options were read: are they right together? */
static void parse_end(struct argp_state *state)
{
  lp_option_files(state);
  if (lp_options.summary > 0 && strcmp(lp_options.format, "text") != 0 &&
      strcmp(lp_options.format, "json") != 0)
    argp_error(state, "--summary is not for --format=%s", lp_options.format);
  if (lp_options.wanted.from >= lp_options.wanted.to)
    lp_option_error(state, "expected a time for --from that is before that of "
                           "--to");
  parse_report(state);
  parse_terminal(state);
}

/* The options, by the headings of the list above. */

/* What is reported. */
static error_t parse_reported(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case OPT_VIEW:
    lp_options.view = arg;
    break;
  case OPT_METRIC:
    lp_option_metric(arg, state);
    break;
  case OPT_NATIVE:
    lp_options.wanted.native = 1;
    break;
  case OPT_DIFF:
    lp_names_add(&lp_options.base, arg);
    break;
  case OPT_DIFFLIST:
    lp_option_list(arg, &lp_options.base, state);
    break;
  case OPT_ALL: /* It is among those that were given. */
    break;
  case OPT_GROUP:
    lp_options.report.group = lp_option_group(arg, state);
    break;
  case OPT_GROWTH:
    lp_options.growth = 1;
    break;
  case OPT_PATH:
    lp_options.report.path = arg;
    break;
  case OPT_FORMAT:
    lp_options.format = arg;
    break;
  case OPT_SOURCE:
    lp_option_source(arg, state);
    break;
  case 'o':
    lp_options.out = arg;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* Whose events are counted. */
static error_t parse_picked(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case OPT_PID:
    lp_option_pick(LP_PICK_PID, arg, state);
    break;
  case OPT_COMM:
    lp_option_pick(LP_PICK_COMM, arg, state);
    break;
  case OPT_THREAD:
    lp_option_pick(LP_PICK_THREAD, arg, state);
    break;
  case OPT_CGROUP:
    lp_option_pick(LP_PICK_CGROUP, arg, state);
    break;
  case OPT_LABEL:
    lp_option_label(arg, state);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* What else is said of what is counted. */
static error_t parse_counted(int key, char *arg, struct argp_state *state)
{
  LpWanted *wanted = &lp_options.wanted;
  switch (key) {
  case OPT_FROM:
    wanted->from = lp_option_seconds(arg, state);
    break;
  case OPT_TO:
    wanted->to = lp_option_seconds(arg, state);
    break;
  case OPT_TEMPORARY:
    wanted->what |= LP_WANT_TEMPORARY;
    wanted->temporary = lp_option_number(arg, state);
    break;
  case OPT_YOUNG:
    wanted->what |= LP_WANT_YOUNG;
    wanted->young = lp_option_percent(arg, state);
    break;
  case OPT_SNAP:
    wanted->what |= LP_WANT_SNAPS;
    wanted->snap = lp_option_interval(arg, state);
    break;
  case OPT_MAP:
    lp_option_map(arg, state);
    break;
  case OPT_MAXSIZE:
    lp_options.most = lp_option_size(arg, state);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* Shaping. */
static error_t parse_shaping(int key, char *arg, struct argp_state *state)
{
  LpReportOptions *report = &lp_options.report;
  switch (key) {
  case OPT_TOP:
    lp_option_top(arg, state);
    break;
  case OPT_SORT:
    report->sort = arg;
    break;
  case OPT_FOCUS:
    report->focus =
        lp_option_regex(&lp_options.focus, report->focus, "focus", arg, state);
    break;
  case OPT_IGNORE:
    report->ignore = lp_option_regex(&lp_options.ignore, report->ignore,
                                     "ignore", arg, state);
    break;
  case OPT_MIN:
    lp_option_min(arg, state);
    break;
  case OPT_COLUMNS:
    report->columns = arg;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* Text. */
static error_t parse_text(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case OPT_SUMMARY:
  case OPT_NOSUMMARY:
    lp_options.summary = key == OPT_SUMMARY ? 1 : -1;
    break;
  case 'H':
    lp_options.report.human = 1;
    break;
  case OPT_EXACT:
    lp_options.exact = 1;
    break;
  case OPT_COLOUR:
    lp_options.colour = lp_option_colour(arg, state);
    break;
  case OPT_NOPAGER:
    lp_options.nopager = 1;
    break;
  case 'l':
    lp_options.report.leakonly = 1;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* Input, limits and others, and what is no option. */
static error_t parse_rest(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case OPT_LIST:
    lp_option_list(arg, &lp_options.file, state);
    break;
  case OPT_FOLLOW:
    lp_options.follow = lp_option_follow(arg, state);
    break;
  case OPT_DUMP:
    lp_options.dump = 1;
    break;
  case OPT_LIMIT:
    lp_option_limit(arg, state);
    break;
  case 'v':
    lp_options.verbose = 1;
    break;
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    break;
  case ARGP_KEY_ARG:
    lp_names_add(&lp_options.file, arg);
    break;
  case ARGP_KEY_END:
    parse_end(state);
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* Note an option that only some reports take. */
static void parse_given(int key)
{
  const struct argp_option *o;
  for (o = options; o->doc || o->key; o++)
    if (o->key == key && o->name)
      lp_options.given |= lp_report_takes(o->name);
}

/* One option or argument. */
/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
  static error_t (*const parts[])(int, char *, struct argp_state *) = {
      parse_reported, parse_picked, parse_counted,
      parse_shaping,  parse_text,   parse_rest};
  error_t err = ARGP_ERR_UNKNOWN;
  size_t i;
  parse_given(key);
  for (i = 0; err && i < sizeof(parts) / sizeof(parts[0]); i++)
    err = parts[i](key, arg, state);
  return err;
}

void lp_options_parse(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "[FILE...]", doc,
                                   NULL,    NULL,  NULL};
  argp_program_version = "lj-parse-memprof " LP_VERSION;
  argp_err_exit_status = EX_USAGE;
  lp_option_check(options, argv);
  argp_parse(&argp, argc, argv, 0, NULL, NULL);
}

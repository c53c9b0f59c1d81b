/*
** lj-parse-memprof: options, files, exit status.
*/

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sysexits.h>
#include <unistd.h>

#include "hash.h"
#include "reader.h"
#include "report.h"
#include "stream.h"

#ifndef LP_VERSION
#define LP_VERSION "unknown"
#endif

/* The exit status is LpStatus, of several streams the highest; a report that
** could not be written counts as LP_UNREADABLE.
*/

/* -- Options -------------------------------------------------------------- */

/* What the command line asks for. */
static struct Env {
  const char *out;
  char **file;
  int nfile;
  const char *format;
  const char *view; /* NULL: the format's default. */
  unsigned given;   /* LP_TAKES_*: options for certain reports. */
  LpReportOptions opt;
} env = {.format = "text", .opt.min = LP_REPORT_MIN};

enum { OPT_DUMP = 256, OPT_FORMAT, OPT_VIEW, OPT_MIN, OPT_METRIC, OPT_SORT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What is reported:", 1},
    {"view", OPT_VIEW, "VIEW", 0,
     "Memory: sites: events by site, and what each still holds (default); "
     "types: a table by type of object; tree: who called what allocates. "
     "CPU: functions (default), lines, tree, threads",
     1},
    {"format", OPT_FORMAT, "FORMAT", 0,
     "text (default); folded: a line for each stack, for flamegraph.pl", 1},
    {"output", 'o', "FILE", 0, "Write the report to FILE", 1},
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
    {NULL, 0, NULL, 0, "Others:", 4},
    {"dump", OPT_DUMP, NULL, 0,
     "Accepted and implied: kinds of streams are recognised", 4},
    {NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
    {0},
};

static const char doc[] =
    "Report what a LuaJIT memory profile tells: allocations, reallocations and "
    "deallocations, and what is still held; or where a CPU profile's time went."
    "\v"
    "FILE - is standard input. Several FILEs become one report.\n"
    "\n"
    "Examples:\n"
    "  lj-parse-memprof mem.ljm           the whole report\n"
    "  lj-parse-memprof -l -H mem.ljm     what is still held, for people\n"
    "  lj-parse-memprof --view=tree mem.ljm\n"
    "  lj-parse-memprof --format=folded mem.ljm | flamegraph.pl > mem.svg\n"
    "  lj-parse-memprof cpu.ljp           self and total by function\n"
    "  zcat mem.ljm.gz | lj-parse-memprof -o report.txt -\n"
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

/* --metric */
static LpMetric parse_metric(const char *arg, struct argp_state *state)
{
  static const char *const name[LP_NMETRIC] = {
      [LP_METRIC_BYTES] = "bytes",
      [LP_METRIC_ALLOCATIONS] = "allocations",
      [LP_METRIC_LIVE] = "live",
  };
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if (name[m] && strcmp(name[m], arg) == 0)
      return m;
  argp_error(state, "expected a METRIC: bytes, allocations or live, not %s",
             arg);
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

/* Some report must take every option. Which one it is depends on what FILEs are
** profiles of.
*/
static void parse_report(struct argp_state *state)
{
  LpBuf why = {0}, other = {0};
  int memory = lp_report_find(env.format, env.view, LP_OF_MEMORY) != NULL;
  if (!lp_report_choose(env.format, env.view, env.given, LP_OF_MEMORY, &why) &&
      !lp_report_choose(env.format, env.view, env.given, LP_OF_CPU, &other))
    argp_error(state, "%s", memory ? why.s : other.s);
  lp_buf_free(&why);
  lp_buf_free(&other);
}

/* One option. */
/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case 'o':
    env.out = arg;
    break;
  case 'H':
    env.given |= LP_TAKES_HUMAN;
    env.opt.human = 1;
    break;
  case 'l':
    env.given |= LP_TAKES_LEAKONLY;
    env.opt.leakonly = 1;
    break;
  case OPT_MIN:
    env.given |= LP_TAKES_MIN;
    env.opt.min = parse_percent(arg, state);
    break;
  case OPT_METRIC:
    env.given |= LP_TAKES_METRIC;
    env.opt.metric = parse_metric(arg, state);
    break;
  case OPT_SORT:
    env.given |= LP_TAKES_SORT;
    env.opt.bytotal = parse_sort(arg, state);
    break;
  case OPT_FORMAT:
    env.format = arg;
    break;
  case OPT_VIEW:
    env.view = arg;
    break;
  case OPT_DUMP:
    break;
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    break;
  case ARGP_KEY_ARGS:
    env.file = state->argv + state->next;
    env.nfile = state->argc - state->next;
    break;
  case ARGP_KEY_END:
    parse_report(state);
    break;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a FILE, or - for standard input");
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* -- Work ----------------------------------------------------------------- */

/* Something could not be done. */
static int failed(const char *name, int err)
{
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, name,
          strerror(err));
  return LP_UNREADABLE;
}

/* Say in one line what is wrong with a stream. */
static void warn(const char *name, const LpStream *st, int err)
{
  LpBuf b = {0};
  lp_buf_printf(&b, "%s: %s: offset %" PRIu64 ": ",
                program_invocation_short_name, name, st->damage.offset);
  if (err)
    lp_buf_printf(&b, "cannot be read on: %s", strerror(err));
  else
    lp_buf_puts(&b, st->damage.what);
  if (st->damage.bytes)
    lp_buf_printf(&b, "; %" PRIu64 " bytes lost", st->damage.bytes);
  if (st->damage.events)
    lp_buf_printf(&b, "; %" PRIu64 " %s lost", st->damage.events,
                  st->body == 'p' ? "records of samples" : "events");
  if (st->ndamage > 1)
    lp_buf_printf(&b, " (and %" PRIu64 " more)", st->ndamage - 1);
  fprintf(stderr, "%s\n", b.s);
  lp_buf_free(&b);
}

/* Once it is known what FILEs are profiles of, the report is chosen; it is no
** use to read on if there is none.
*/
static void check_body(void *ctx, int body)
{
  LpBuf why = {0};
  unsigned of;
  lp_stream_body(ctx, body);
  of = ((LpStream *)ctx)->prof->of;
  if (of == (LP_OF_MEMORY | LP_OF_CPU))
    lp_buf_puts(&why, "memory and CPU profiles cannot be in one report yet");
  else if (!lp_report_choose(env.format, env.view, env.given, of, &why))
    lp_buf_printf(&why, ", of a %s profile",
                  of == LP_OF_CPU ? "CPU" : "memory");
  else
    return;
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.s);
  exit(EX_USAGE);
}

/* Read one stream into the profile. */
static int read_stream(LpProfile *prof, const char *name, int fd)
{
  LpInput in;
  LpStream st;
  LpSink sink = lp_stream_open(&st, prof);
  sink.body = check_body;
  int res;
  lp_input_fd(&in, fd);
  lp_reader_run(&in, &sink);
  lp_stream_close(&st, lp_input_offset(&in));
  res = lp_stream_status(&st);
  if (in.error && lp_input_offset(&in) == 0)
    res = failed(name, in.error);
  else if (res != LP_WHOLE)
    warn(name, &st, in.error);
  lp_input_close(&in);
  return res;
}

/* Read one file into the profile. */
static int read_file(LpProfile *prof, const char *name)
{
  int fd, res;
  if (strcmp(name, "-") == 0)
    return read_stream(prof, "standard input", STDIN_FILENO);
  fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failed(name, errno);
  res = read_stream(prof, name, fd);
  close(fd);
  return res;
}

/* Write the report. */
static int write_report(const LpProfile *prof)
{
  const char *name = env.out ? env.out : "standard output";
  unsigned of = prof->of ? prof->of : LP_OF_MEMORY | LP_OF_CPU;
  int fd = STDOUT_FILENO;
  LpOut out;
  if (env.out)
    fd = open(env.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return failed(name, errno);
  lp_out_open(&out, fd);
  lp_report_find(env.format, env.view, of)->write(&out, prof, &env.opt);
  lp_out_close(&out);
  if (close(fd) != 0 && !out.error)
    out.error = errno;
  return out.error ? failed(name, out.error) : LP_WHOLE;
}

/* A secret that a stream's author could not know. */
static void draw_secret(void)
{
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random)
    memcpy(&lp_hash_secret, random, sizeof(lp_hash_secret));
  lp_hash_secret |= 1;
}

/* All of it. */
int main(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "FILE...", doc,
                                   NULL,    NULL,  NULL};
  int i, n = 0, res = LP_WHOLE;
  LpProfile *prof;
  argp_program_version = "lj-parse-memprof " LP_VERSION;
  argp_err_exit_status = EX_USAGE;
  argp_parse(&argp, argc, argv, 0, NULL, NULL);
  draw_secret();
  prof = lp_profile_new();
  for (i = 0; i < env.nfile; i++) {
    int one = read_file(prof, env.file[i]);
    n += one != LP_UNREADABLE;
    res = one > res ? one : res;
  }
  if (n) {
    int one = write_report(prof);
    res = one > res ? one : res;
  }
  lp_profile_free(prof);
  return res;
}

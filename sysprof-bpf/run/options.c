/*
** The command line of lj-sysprof.
*/

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

const char *argp_program_version = "lj-sysprof " LJPROF_VERSION;

static const char doc[] =
    "Sample the kernel, native and Lua stacks of running LuaJIT processes "
    "from outside.\n"
    "\v"
    "Examples:\n"
    "  lj-sysprof -p 1234              until Ctrl-C, to cpu.ljp\n"
    "  lj-parse-memprof cpu.ljp        its report\n"
    "  lj-sysprof -p 1234 -d 10 -f     folded stacks, for flame graphs\n"
    "  lj-sysprof -F 999 -- luajit app.lua\n"
    "  lj-sysprof -a -d 30 -o all.ljp  all LuaJIT processes of the machine\n"
    "\n"
    "Exit status: 0 done; 1 done, but --strict was missed; 2 nothing could be "
    "sampled, or the profile not written; 64 usage. With -- COMMAND, its "
    "status if sampling succeeded.";

static const char args_doc[] = "-p PID\n-a\n-- COMMAND [ARGUMENT...]";

enum {
  OPT_LUA_ONLY = 256,
  OPT_THREAD,
  OPT_DEPTH,
  OPT_STRICT,
  OPT_TAILS,
  OPT_ANY,
  OPT_CHILDREN
};

/* Long options, in the groups of --help. */
static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is sampled:", 1},
    {"pid", 'p', "PID", 0, "Sample this process; can be given several times",
     1},
    {"all", 'a', 0, 0, "Sample all LuaJIT processes, also new ones", 1},
    {"children", OPT_CHILDREN, 0, 0,
     "Also sample child processes (always with -- COMMAND)", 1},
    {"any", OPT_ANY, 0, 0, "Also sample processes without a LuaJIT", 1},
    {0, 0, 0, 0, "How:", 2},
    {"frequency", 'F', "HZ", 0, "Samples per second and CPU (99)", 2},
    {"duration", 'd', "SECONDS", 0, "End after SECONDS, not at Ctrl-C", 2},
    {"event", 'e', "EVENT", 0, "cpu-clock (default), cycles, or tick", 2},
    {"user", 'U', 0, 0, "No kernel frames", 2},
    {"kernel", 'K', 0, 0, "Kernel frames only", 2},
    {"lua-only", OPT_LUA_ONLY, 0, 0, "Lua frames only", 2},
    {"max-depth", OPT_DEPTH, "N", 0, "At most N native and N Lua frames (256)",
     2},
    {"tail-calls", OPT_TAILS, 0, 0,
     "Unwind by BPF tail calls, as on kernels before 5.17", 2},
    {0, 0, 0, 0, "Output:", 3},
    {"output", 'o', "FILE", 0,
     "Write to FILE, not to cpu.ljp; - is standard output", 3},
    {"folded", 'f', 0, 0,
     "Folded stacks, to standard output unless -o is given", 3},
    {"per-thread", OPT_THREAD, 0, 0, "Folded stacks begin with their thread",
     3},
    {"strict", OPT_STRICT, "PERCENT", OPTION_ARG_OPTIONAL,
     "Exit status 1 if more samples are dropped or cut (0.5)", 3},
    {"quiet", 'q', 0, 0, "No progress, no summary", 3},
    {"verbose", 'v', 0, 0, "Print wakeups and libbpf's messages", 3},
    {0, 'h', 0, OPTION_HIDDEN, 0, -1},
    {0},
};

static double number(struct argp_state *state, const char *arg, double least,
                     double most, const char *what)
{
  char *end;
  double v;
  errno = 0;
  v = strtod(arg, &end);
  if (end == arg || *end || errno || !(v >= least && v <= most))
    argp_error(state, "%s is a number from %.10g to %.10g, not %s", what, least,
               most, arg);
  return v;
}

/* A number that counts something: digits only. */
static unsigned whole(struct argp_state *state, const char *arg, unsigned least,
                      unsigned most, const char *what)
{
  char *end;
  unsigned long v;
  errno = 0;
  v = strtoul(arg, &end, 10);
  if (*arg < '0' || *arg > '9' || *end || errno || v < least || v > most)
    argp_error(state, "%s is a whole number from %u to %u, not %s", what, least,
               most, arg);
  return (unsigned)v;
}

const char *const ls_event_name[LS_EVENTS] = {
    [LS_EVENT_CLOCK] = "cpu-clock",
    [LS_EVENT_CYCLES] = "cycles",
    [LS_EVENT_TICK] = "tick",
};

static int event(struct argp_state *state, const char *arg)
{
  int i;
  for (i = 0; i < LS_EVENTS; i++)
    if (strcmp(arg, ls_event_name[i]) == 0)
      return i;
  argp_error(state, "EVENT is cpu-clock, cycles or tick, not %s", arg);
  return LS_EVENT_CLOCK;
}

#define PID_MAX (1 << 22) /* The kernel's PID_MAX_LIMIT. */

static void add_pid(LsOptions *opt, struct argp_state *state, const char *arg)
{
  unsigned v = whole(state, arg, 1, PID_MAX, "PID");
  if (opt->npid == LS_PIDS_MAX)
    argp_error(state, "at most %d processes, or -a", LS_PIDS_MAX);
  opt->pid[opt->npid++] = (pid_t)v;
}

/* Checks combinations of options, after all are parsed. */
static void check(LsOptions *opt, struct argp_state *state)
{
  int kinds = (opt->npid > 0) + opt->all + (opt->command != NULL);
  if (kinds != 1)
    argp_error(state, kinds ? "only one of -p, -a and -- COMMAND"
                            : "-p PID, -a or -- COMMAND is needed");
  if (!opt->sampler.kernel && !opt->sampler.user)
    argp_error(state, "only one of -U and -K");
  if (!opt->sampler.native && !opt->sampler.user)
    argp_error(state, "only one of -K and --lua-only");
  if (!opt->file)
    opt->file = opt->folded ? "-" : "cpu.ljp";
  if (!opt->folded && strcmp(opt->file, "-") == 0 && isatty(STDOUT_FILENO))
    argp_error(state, "a stream is not for terminals: -f prints folded stacks");
  if (opt->threads && !opt->folded)
    argp_error(state, "--per-thread is for -f: streams always tell threads");
}

/* An option without a value. */
static error_t parse_flag(int key, LsOptions *opt)
{
  switch (key) {
  case 'a':
    opt->all = 1;
    break;
  case OPT_CHILDREN:
    opt->children = 1;
    break;
  case OPT_ANY:
    opt->any = 1;
    break;
  case 'U':
    opt->sampler.kernel = 0;
    break;
  case 'K':
    opt->sampler.user = 0;
    break;
  case OPT_LUA_ONLY:
    opt->sampler.kernel = 0;
    opt->sampler.native = 0;
    break;
  case OPT_TAILS:
    opt->sampler.tail_calls = 1;
    break;
  case 'f':
    opt->folded = 1;
    break;
  case OPT_THREAD:
    opt->threads = 1;
    break;
  case 'q':
    opt->quiet = 1;
    break;
  case 'v':
    opt->sampler.verbose = 1;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  LsOptions *opt = state->input;
  switch (key) {
  case 'p':
    add_pid(opt, state, arg);
    break;
  case 'F':
    opt->sampler.hz = whole(state, arg, 1, 100000, "HZ");
    break;
  case 'd':
    opt->seconds = number(state, arg, 0.001, 1e9, "SECONDS");
    break;
  case 'e':
    opt->sampler.event = event(state, arg);
    break;
  case OPT_DEPTH:
    opt->sampler.depth = whole(state, arg, 1, LJS_MAX_NATIVE, "--max-depth");
    break;
  case 'o':
    opt->file = arg;
    break;
  case OPT_STRICT:
    opt->strict = arg ? number(state, arg, 0, 100, "--strict") : 0.5;
    break;
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    break;
  case ARGP_KEY_ARGS:
    opt->command = state->argv + state->next;
    opt->children = 1;
    break;
  case ARGP_KEY_END:
    check(opt, state);
    break;
  default:
    return parse_flag(key, opt);
  }
  return 0;
}

static void keep_line(LsOptions *opt, int argc, char **argv)
{
  size_t at = 0;
  int i;
  for (i = 1; i < argc && at < sizeof(opt->line); i++)
    at += (size_t)snprintf(opt->line + at, sizeof(opt->line) - at, "%s%s",
                           i > 1 ? " " : "", argv[i]);
}

void ls_options_parse(LsOptions *opt, int argc, char **argv)
{
  static const struct argp argp = {options, parse, args_doc, doc, 0, 0, 0};
  *opt = (LsOptions){
      .sampler = {.hz = 99, .kernel = 1, .user = 1, .native = 1, .lua = 1},
      .strict = -1,
  };
  keep_line(opt, argc, argv);
  argp_err_exit_status = LS_EXIT_USAGE;
  argp_parse(&argp, argc, argv, ARGP_IN_ORDER, 0, opt);
}

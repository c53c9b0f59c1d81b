/*
** The command line of lj-sysprof.
*/

#include <argp.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "number.h"
#include "options.h"
#include "say.h"

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
    "  lj-sysprof --once -p 1234       what its threads do now\n"
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
  OPT_RING,
  OPT_TAILS,
  OPT_ANY,
  OPT_COMM,
  OPT_CGROUP,
  OPT_CHILDREN,
  OPT_EVERY,
  OPT_ONCE,
  OPT_JSON,
  OPT_NATIVE,
  OPT_EXPECT
};

/* Long options, in the groups of --help. */
static const struct argp_option options[] = {
    {0, 0, 0, 0, "What is sampled:", 1},
    {"pid", 'p', "PID", 0, "Sample this process; can be given several times",
     1},
    {"all", 'a', 0, 0, "Sample all LuaJIT processes, also new ones", 1},
    {"children", OPT_CHILDREN, 0, 0,
     "Also sample child processes (always with -- COMMAND)", 1},
    {"comm", OPT_COMM, "GLOB", 0,
     "Sample LuaJIT processes with this name, present and future", 1},
    {"cgroup", OPT_CGROUP, "GLOB", 0,
     "Sample LuaJIT processes in this control group: a container, a service",
     1},
    {"any", OPT_ANY, 0, 0, "Also sample processes without a LuaJIT", 1},
    {"expect", OPT_EXPECT, "PROGRAM", 0,
     "The process of -p waits to execute PROGRAM: print a line when it may", 1},
    {0, 0, 0, 0, "How:", 2},
    {"frequency", 'F', "HZ", 0, "Samples per second and CPU (99)", 2},
    {"duration", 'd', "SECONDS", 0, "End after SECONDS, not at Ctrl-C", 2},
    {"event", 'e', "EVENT", 0, "cpu-clock (default), cycles, or tick", 2},
    {"user", 'U', 0, 0, "No kernel frames", 2},
    {"kernel", 'K', 0, 0, "Kernel frames only", 2},
    {"lua-only", OPT_LUA_ONLY, 0, 0, "Lua frames only", 2},
    {"max-depth", OPT_DEPTH, "N", 0, "At most N native and N Lua frames (256)",
     2},
    {"ring", OPT_RING, "BYTES", OPTION_HIDDEN,
     "Size of the ring buffer, a power of 2: tests fill it", 2},
    {"tail-calls", OPT_TAILS, 0, 0,
     "Unwind by BPF tail calls, as on kernels before 5.17", 2},
    {0, 0, 0, 0, "Output:", 3},
    {"output", 'o', "FILE", 0,
     "Write to FILE, not to cpu.ljp; - is standard output", 3},
    {"folded", 'f', 0, 0,
     "Folded stacks, to standard output unless -o is given", 3},
    {"native", OPT_NATIVE, 0, 0,
     "With -f, --once: native and kernel frames, too; without it folded stacks "
     "charge their time to the Lua lines that called them",
     3},
    {"per-thread", OPT_THREAD, 0, 0, "Folded stacks begin with their thread",
     3},
    {"strict", OPT_STRICT, "PERCENT", OPTION_ARG_OPTIONAL,
     "Exit status 1 if more samples are dropped or cut (0.5)", 3},
    {"every", OPT_EVERY, "SECONDS", 0,
     "Folded stacks of each SECONDS, an empty line behind them", 3},
    {"once", OPT_ONCE, 0, 0,
     "Print the Lua stack of every thread now, also of those that wait, and end",
     3},
    {"json", OPT_JSON, 0, 0, "With --once: JSON", 3},
    {"quiet", 'q', 0, 0, "No progress, no summary", 3},
    {"verbose", 'v', 0, 0, "Print wakeups and libbpf's messages", 3},
    {0, 'h', 0, OPTION_HIDDEN, 0, -1},
    {0},
};

/* Says in one line what is wrong with the command line, and ends. */
static void usage_error(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

static void usage_error(const char *fmt, ...)
{
  char text[4096];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof(text), fmt, args);
  va_end(args);
  ls_fail("%s", text);
  exit(LS_EXIT_USAGE);
}

static double number(const char *arg, double least, double most,
                     const char *what)
{
  return cl_number(arg, least, most, what, usage_error);
}

/* A number that counts something: digits only. */
static unsigned whole(const char *arg, unsigned least, unsigned most,
                      const char *what)
{
  return cl_whole(arg, least, most, what, usage_error);
}

const char *const ls_event_name[LS_EVENTS] = {
    [LS_EVENT_CLOCK] = "cpu-clock",
    [LS_EVENT_CYCLES] = "cycles",
    [LS_EVENT_TICK] = "tick",
};

static int event(const char *arg)
{
  int i;
  for (i = 0; i < LS_EVENTS; i++)
    if (strcmp(arg, ls_event_name[i]) == 0)
      return i;
  usage_error("EVENT is cpu-clock, cycles or tick, not %s", arg);
}

#define PID_MAX (1 << 22) /* The kernel's PID_MAX_LIMIT. */

static void add_pid(LsOptions *opt, const char *arg)
{
  unsigned v;
  if (isalpha((unsigned char)*arg))
    usage_error("PID is a number, not %s; did you mean --comm=%s?", arg, arg);
  if (strchr(arg, ','))
    usage_error("PID is one number, not %s: give -p several times", arg);
  v = whole(arg, 1, PID_MAX, "PID");
  if (opt->npid == LS_PIDS_MAX)
    usage_error("at most %d processes, or -a", LS_PIDS_MAX);
  opt->pid[opt->npid++] = (pid_t)v;
}

#define ONCE_HZ 999 /* What runs is sampled soon. */

/* Checks the options that go with --once. */
static void check_once(LsOptions *opt)
{
  if (!opt->sampler.once) {
    if (opt->json)
      usage_error("--json is for --once");
    return;
  }
  if (!opt->npid)
    usage_error("--once needs -p PID");
  if (opt->file || opt->folded || opt->seconds > 0)
    usage_error("--once prints to standard output, and has no -o, -f "
                "or -d");
  if (opt->sampler.event != LS_EVENT_CLOCK || !opt->sampler.user)
    usage_error("--once has no -e and no -K");
  opt->sampler.hz = ONCE_HZ;
}

/* Does the name end as Lua files and recordings do? */
static int ends_in(const char *name, const char *end)
{
  const char *dot = strrchr(name, '.');
  return dot && strcmp(dot, end) == 0;
}

/* A number where a command is expected was meant for -p; and files are no
** commands.
*/
static void check_command(const LsOptions *opt)
{
  const char *name = opt->command ? opt->command[0] : NULL;
  if (name && *name && !name[strspn(name, "0123456789")] && !opt->command[1] &&
      access(name, X_OK) != 0)
    usage_error("%s is no command; did you mean -p %s?", name, name);
  if (!name || access(name, F_OK) != 0 || access(name, X_OK) == 0)
    return;
  if (ends_in(name, ".lua"))
    usage_error("%s is no command; did you mean -- luajit %s?", name, name);
  if (ends_in(name, ".ljp"))
    usage_error("%s is no command; a profile is read by lj-parse-memprof %s",
                name, name);
}

/* Checks combinations of options, after all are parsed. */
static void check(LsOptions *opt)
{
  int kinds = (opt->npid > 0) + opt->all + (opt->command != NULL);
  if (!kinds)
    usage_error("-p PID, -a or -- COMMAND is needed");
  if (kinds > 1)
    usage_error("only one of -p, -a (--comm, --cgroup) and -- COMMAND%s%s",
                opt->command ? ", which is " : "",
                opt->command ? opt->command[0] : "");
  if (opt->expect && (opt->npid != 1 || opt->sampler.once))
    usage_error("--expect needs one -p PID, and has no --once");
  if (opt->expect && (opt->folded || (opt->file && !strcmp(opt->file, "-"))))
    usage_error("--expect prints a line to standard output, and has no -f "
                "or -o -");
  if (!opt->sampler.kernel && !opt->sampler.user)
    usage_error("only one of -U and -K");
  if (!opt->sampler.native && !opt->sampler.user)
    usage_error("only one of -K and --lua-only");
  check_command(opt);
  check_once(opt);
  if (opt->every > 0 && !opt->folded)
    usage_error("--every is for -f");
  if (!opt->file)
    opt->file = opt->folded ? "-" : "cpu.ljp";
  if (!opt->folded && !opt->sampler.once && strcmp(opt->file, "-") == 0 &&
      isatty(STDOUT_FILENO))
    usage_error("a stream is not for terminals: -f prints folded stacks");
  if (opt->threads && !opt->folded)
    usage_error("--per-thread is for -f: streams always record threads");
  if (opt->native && !opt->folded && !opt->sampler.once)
    usage_error("--native is for -f and --once: streams always have all "
                "frames");
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
  case OPT_ONCE:
    opt->sampler.once = 1;
    break;
  case OPT_JSON:
    opt->json = 1;
    break;
  case OPT_NATIVE:
    opt->native = 1;
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

/* The size of the ring buffer in bytes. */
static unsigned ring(const char *arg)
{
  unsigned bytes = whole(arg, 4096, 1u << 28, "BYTES");
  if (bytes & (bytes - 1))
    usage_error("BYTES is a power of 2, not %s", arg);
  return bytes;
}

/* An option that chooses processes, or one without a value. */
static error_t parse_process(int key, char *arg, LsOptions *opt)
{
  switch (key) {
  case 'p':
    add_pid(opt, arg);
    break;
  case OPT_COMM:
    opt->comm = arg;
    opt->all = 1;
    break;
  case OPT_CGROUP:
    opt->cgroup = arg;
    opt->all = 1;
    break;
  default:
    return parse_flag(key, opt);
  }
  return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  LsOptions *opt = state->input;
  switch (key) {
  case 'F':
    opt->sampler.hz = whole(arg, 1, 100000, "HZ");
    break;
  case 'd':
    opt->seconds = number(arg, 0.001, 1e9, "SECONDS");
    break;
  case 'e':
    opt->sampler.event = event(arg);
    break;
  case OPT_EVERY:
    opt->every = number(arg, 0.5, 86400, "SECONDS");
    break;
  case OPT_RING:
    opt->sampler.ring = ring(arg);
    break;
  case OPT_DEPTH:
    opt->sampler.depth = whole(arg, 1, LJS_MAX_NATIVE, "--max-depth");
    break;
  case OPT_EXPECT:
    opt->expect = arg;
    opt->children = 1;
    break;
  case 'o':
    opt->file = arg;
    break;
  case OPT_STRICT:
    opt->strict = arg ? number(arg, 0, 100, "--strict") : 0.5;
    break;
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    break;
  case ARGP_KEY_ARGS:
    opt->command = state->argv + state->next;
    opt->children = 1;
    break;
  case ARGP_KEY_END:
    check(opt);
    break;
  default:
    return parse_process(key, arg, opt);
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
  cl_mistyped(options, argv, 1, usage_error);
  argp_err_exit_status = LS_EXIT_USAGE;
  argp_parse(&argp, argc, argv, ARGP_IN_ORDER, 0, opt);
}

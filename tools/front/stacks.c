/*
** ljprof stacks: lj-sysprof --once.
*/

#include <stdio.h>

#include "commands.h"
#include "options.h"
#include "program.h"

#define PIDS_MAX 64 /* As many as lj-sysprof takes. */

typedef struct Options {
  pid_t pid[PIDS_MAX];
  size_t npid;
  int native, json;
} Options;

enum { OPT_NATIVE = 256, OPT_JSON };

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "Of this process; can be given several times", 0},
    {"native", OPT_NATIVE, 0, 0, "Native and kernel frames, too", 0},
    {"json", OPT_JSON, 0, 0, "Print JSON", 0},
    {0},
};

static const char doc[] =
    "Print the Lua stack of every thread of a process, innermost frame first: "
    "of threads that run, and of those that wait in a lock, a system call or "
    "a sleep. No thread is stopped."
    "\v"
    "Exit status: 0 done; 1 not all stacks were got; 2 nothing could be got; "
    "64 usage.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  Options *opt = state->input;
  switch (key) {
  case 'p':
  case ARGP_KEY_ARG:
    if (opt->npid == PIDS_MAX)
      ft_usage("at most %d processes", PIDS_MAX);
    opt->pid[opt->npid++] = ft_option_pid(arg);
    break;
  case OPT_NATIVE:
    opt->native = 1;
    break;
  case OPT_JSON:
    opt->json = 1;
    break;
  case ARGP_KEY_END:
    if (!opt->npid)
      ft_usage("-p PID is needed");
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

int ft_stacks(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "-p PID", doc, 0, 0, 0};
  static char program[] = "lj-sysprof", once[] = "--once";
  static char native[] = "--native", json[] = "--json";
  static char pid[PIDS_MAX][16];
  char *args[PIDS_MAX + 5];
  Options opt = {.npid = 0};
  size_t n = 0, i;
  ft_options_parse(&argp, argc, argv, &opt);
  args[n++] = program;
  args[n++] = once;
  if (opt.native)
    args[n++] = native;
  if (opt.json)
    args[n++] = json;
  for (i = 0; i < opt.npid; i++) {
    snprintf(pid[i], sizeof(pid[i]), "-p%d", (int)opt.pid[i]);
    args[n++] = pid[i];
  }
  args[n] = NULL;
  return ft_exec(args);
}

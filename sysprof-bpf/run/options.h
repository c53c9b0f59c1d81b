/*
** The command line of lj-sysprof.
*/

#ifndef LS_OPTIONS_H
#define LS_OPTIONS_H

#include "sampler.h"

/* Exit statuses; 0 is all well. */
enum { LS_EXIT_STRICT = 1, LS_EXIT_NOTHING = 2, LS_EXIT_USAGE = 64 };

#define LS_PIDS_MAX 64

typedef struct LsOptions {
  LsSamplerOptions sampler;
  pid_t pid[LS_PIDS_MAX];
  unsigned npid;
  int all;            /* All LuaJIT processes, those to come too. */
  char **command;     /* Ends with NULL; or NULL. */
  const char *expect; /* What the process of -p will execute; or NULL. */
  double seconds;     /* 0: until it ends, or Ctrl-C. */
  const char *file;   /* "-": standard output. */
  int folded;         /* Folded stacks, not a stream. */
  int threads;        /* Folded stacks begin with their thread. */
  int native;         /* With -f, --once: native and kernel frames. */
  const char *comm;   /* Of `all`, those whose name matches it; or NULL; */
  const char *cgroup; /* those in a control group that matches. */
  int any;            /* Processes without LuaJIT, too. */
  int children;       /* Processes that they fork, too. */
  double every; /* Seconds of a part of folded stacks; 0: all at the end. */
  int json;     /* With --once: JSON. */
  int quiet;
  double strict;  /* Percent of samples that may be lost or cut; < 0: all. */
  char line[256]; /* The options as they were given. */
} LsOptions;

/* The names of LS_EVENT_*, as -e has them. */
extern const char *const ls_event_name[LS_EVENTS];

/* Parse the command line into *OPT, whose strings belong to ARGV. Ends the
** program on --help, --version and errors.
*/
void ls_options_parse(LsOptions *opt, int argc, char **argv);

#endif

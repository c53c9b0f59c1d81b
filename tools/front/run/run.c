/*
** ljprof run: records a command's memory and CPU time, and makes a page of
** both.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "program.h"
#include "run.h"

typedef struct Options {
  FtRun run;
  const char *page; /* NULL: named after the command. */
  int open;
  int quiet;
} Options;

enum { OPT_CPU = 256, OPT_MEMORY, OPT_OPEN, OPT_STACK, OPT_SAMPLE, OPT_USER };

static const struct argp_option options[] = {
    {"cpu", OPT_CPU, 0, 0, "CPU time only, unless --memory is given, too", 0},
    {"memory", OPT_MEMORY, 0, 0, "Memory only, unless --cpu is given, too", 0},
    {"output", 'o', "PAGE", 0,
     "Write the page to PAGE; by default it is named after the script", 0},
    {"open", OPT_OPEN, 0, 0, "Open the page in a browser", 0},
    {"frequency", 'F', "HZ", 0, "CPU: samples per second (999)", 0},
    {"stack", OPT_STACK, "N", 0,
     "Memory: at most N frames of an allocation's stack (64)", 0},
    {"sample", OPT_SAMPLE, "BYTES", 0,
     "Memory: one sample in so many bytes, as 512k, instead of all", 0},
    {"user", OPT_USER, "USER", 0, "Run the command as this user; only root can",
     0},
    {"quiet", 'q', 0, 0, "No summary, and no line but errors", 0},
    {0},
};

static const char doc[] =
    "Run a command that uses LuaJIT, record its memory and its CPU time, and "
    "make a page of both. Nothing of the program is changed. Recordings are "
    "kept in a folder beside the page: ljprof report FOLDER, ljprof diff."
    "\v"
    "Examples:\n"
    "  ljprof run luajit app.lua\n"
    "  ljprof run -o app.html --open -- luajit app.lua ARGUMENT\n"
    "  ljprof run --memory nvim file.txt\n"
    "\n"
    "Exit status: that of the command, 128 + N if signal N ended it; 126 or 127 "
    "if it cannot be executed; 2 if it ended with 0 and nothing was recorded, "
    "or nothing can be; 64 usage.";

/* Bytes with a suffix, as LJPROF takes them. */
static const char *check_bytes(const char *arg)
{
  size_t n = strspn(arg, "0123456789");
  if (!n || n > 12 || (arg[n] && (!strchr("kKMG", arg[n]) || arg[n + 1])))
    ft_usage("BYTES is a number, as 524288 or 512k, not %s", arg);
  return arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  Options *opt = state->input;
  switch (key) {
  case OPT_CPU:
    opt->run.cpu = 1;
    break;
  case OPT_MEMORY:
    opt->run.memory = 1;
    break;
  case 'o':
    ft_page_check(arg);
    opt->page = arg;
    break;
  case OPT_OPEN:
    opt->open = 1;
    break;
  case 'F':
    opt->run.hz = ft_option_whole(arg, 1, 10000, "HZ");
    break;
  case OPT_STACK:
    opt->run.stack = ft_option_whole(arg, 0, 256, "N");
    break;
  case OPT_SAMPLE:
    opt->run.sample = check_bytes(arg);
    break;
  case OPT_USER:
    ft_user_find(&opt->run.user, arg);
    break;
  case 'q':
    opt->quiet = 1;
    break;
  case ARGP_KEY_ARGS:
    opt->run.command = state->argv + state->next;
    break;
  case ARGP_KEY_END:
    if (!opt->run.command)
      ft_usage("a COMMAND is needed, as in ljprof run luajit app.lua");
    if (!opt->run.cpu && !opt->run.memory)
      opt->run.cpu = opt->run.memory = 1;
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* -- Before --------------------------------------------------------------- */

static int ends_in(const char *s, const char *end)
{
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* The command cannot be executed. Returns the exit status. */
static int no_command(const char *name, int err)
{
  int lua = ends_in(name, ".lua") && access(name, F_OK) == 0;
  if (lua)
    ft_fail("%s is no program; did you mean ljprof run luajit %s?", name, name);
  else if (strcmp(name, "luajit") == 0 && err == ENOENT)
    ft_fail("cannot run luajit: there is no such program in PATH; one with the "
            "recorder is beside ljprof, as build/bin/luajit, or in Debian "
            "package ljprof-luajit");
  else if (ends_in(name, ".ljm") || ends_in(name, ".ljp"))
    ft_fail("%s is no program; did you mean ljprof report %s?", name, name);
  else
    ft_fail("cannot run %s: %s", name,
            err == ENOENT ? "there is no such program" : strerror(err));
  return err == ENOENT ? 127 : 126;
}

/* Says what will be done. */
static void say_plan(const Options *opt, const LpBuf *how)
{
  const FtRun *r = &opt->run;
  if (opt->quiet)
    return;
  fputs("ljprof: recording ", stderr);
  if (r->memory)
    fprintf(stderr, "memory (%s)%s", how->s, r->cpu ? " and " : "");
  if (r->cpu)
    fprintf(stderr, "CPU time (%u samples a second)", r->hz);
  fprintf(stderr, " to %s\n", r->place.folder.s);
}

/* -- After ---------------------------------------------------------------- */

static int has_kind(char **name, size_t n, const char *kind)
{
  size_t i;
  for (i = 0; i < n; i++)
    if (strstr(strrchr(name[i], '/'), kind))
      return 1;
  return 0;
}

/* Makes the page of what was recorded. Returns 0, or -1. */
static int finish(const Options *opt)
{
  const FtRun *r = &opt->run;
  char **name;
  size_t n = ft_place_list(r->place.folder.s, &name), i;
  int status = FT_EXIT_NOTHING;
  if (r->memory && !has_kind(name, n, ".ljm"))
    ft_environment_explain(r);
  if (n)
    status = ft_page_make(r->place.page.s, name, n, opt->quiet);
  else
    ft_fail("nothing was recorded");
  if (status < FT_EXIT_NOTHING && !opt->quiet)
    fprintf(stderr, "\nPage: %s\n", r->place.page.s);
  if (n && (!opt->quiet || r->place.elsewhere))
    fprintf(stderr, "Recordings: %s\n", r->place.folder.s);
  if (status < FT_EXIT_NOTHING && opt->open)
    ft_page_open(r->place.page.s);
  for (i = 0; i < n; i++)
    free(name[i]);
  free(name);
  return status < FT_EXIT_NOTHING ? 0 : -1;
}

/* Processes of nginx change their user, and write there then. */
static int changes_user(const FtRun *r)
{
  return geteuid() == 0 && !r->user.uid && r->memory && r->host.server;
}

int ft_run(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "[--] COMMAND...", doc, 0,
                                   0,       0};
  static Options opt = {.run = {.hz = 999, .stack = 64}};
  FtRun *r = &opt.run;
  FtRecording *recording;
  LpBuf how = {0};
  int err, status = FT_EXIT_NOTHING, started = 0;
  ft_options_command(&argp, argc, argv, &opt);
  err = ft_host_ask(&r->host, r->command[0]);
  if (err)
    return no_command(r->command[0], err);
  ft_environment_choose(r, &how);
  if ((!r->cpu && !r->memory) || ft_user_place(&r->user, &r->place, opt.page,
                                               r->command, changes_user(r))) {
    lp_buf_free(&how);
    return FT_EXIT_NOTHING;
  }
  recording = ft_record_prepare(r);
  if (recording) {
    say_plan(&opt, &how);
    status = ft_record_run(recording, &started);
  }
  ft_user_give(&r->user, &r->place);
  ft_user_become(&r->user);
  if (started && finish(&opt) && !status)
    status = FT_EXIT_NOTHING;
  ft_place_drop(&r->place);
  lp_buf_free(&how);
  return status;
}

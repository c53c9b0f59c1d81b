/*
** ljprof top: lj-sysprof writes folded stacks in parts to a pipe, each of which
** is a picture.
*/

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "memory.h"
#include "options.h"
#include "paint.h"
#include "program.h"
#include "screen.h"

typedef struct Top {
  pid_t pid;
  double every;      /* Seconds of a picture. */
  unsigned hz;       /* Samples a second. */
  unsigned pictures; /* To be shown; 0: until it ends. */
  int batch;         /* Print them one after the other. */
  size_t rows;       /* Of each, then. */
  char *memory_file; /* Owned; or NULL. */
  /* While it runs. */
  FtChild child;
  FtMemory memory;
  double memory_next; /* When the recording is read again. */
  FtLines lines;
  FtView view;
  LpBuf in;  /* An incomplete line of the child. */
  LpBuf err; /* What it has said. */
  int fresh; /* The next stack begins an interval. */
  unsigned shown;
  double start, last; /* Of sampling, and of the last picture. */
  int screen;         /* The terminal is ours. */
  int signals;
  int done;
  int stopped; /* By us, not by the child. */
} Top;

/* -- Options -------------------------------------------------------------- */

enum { OPT_MEMORY = 256 };

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "Of this process", 0},
    {"delay", 'd', "SECONDS", 0, "Refresh after SECONDS (1)", 0},
    {"frequency", 'F', "HZ", 0, "Samples per second and CPU (99)", 0},
    {"sort", 's', "KEY", 0, "Sort by self, total, name or bytes", 0},
    {"memory", OPT_MEMORY, "FILE", 0,
     "Live bytes of the memory recording FILE, too; by default the one that "
     "the process writes",
     0},
    {"batch", 'b', 0, 0, "Print each picture as text, without keys", 0},
    {"iterations", 'n', "N", 0, "End after N pictures", 0},
    {"lines", 'l', "N", 0, "With -b: at most N lines (20)", 0},
    {0},
};

static const char doc[] =
    "Show the Lua lines of a process that take most CPU time, live. SELF and "
    "TOTAL are percent of the samples since the last picture: in the line "
    "itself, native code that it runs included, and in all that it called. "
    "EVER is SELF since the start. Keys: q quits; s, t, n and m sort by self, "
    "total, name and bytes."
    "\v"
    "Exit status: 0 done; 2 nothing could be sampled; 64 usage.";

static FtSort sort_key(const char *arg)
{
  static const char *const name[] = {"self", "total", "name", "bytes"};
  size_t i;
  for (i = 0; i < sizeof(name) / sizeof(*name); i++)
    if (strcmp(arg, name[i]) == 0)
      return (FtSort)i;
  ft_usage("KEY is self, total, name or bytes, not %s", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  Top *t = state->input;
  switch (key) {
  case 'p':
  case ARGP_KEY_ARG:
    if (t->pid)
      ft_usage("only one process can be shown, not %d and %s", (int)t->pid,
               arg);
    t->pid = ft_option_pid(arg);
    break;
  case 'd':
    t->every = ft_option_number(arg, 0.5, 3600, "SECONDS");
    break;
  case 'F':
    t->hz = ft_option_whole(arg, 1, 10000, "HZ");
    break;
  case 's':
    t->view.sort = sort_key(arg);
    break;
  case OPT_MEMORY:
    if (access(arg, R_OK) != 0)
      ft_usage("cannot read %s: %s", arg, strerror(errno));
    free(t->memory_file);
    t->memory_file = lp_strdup(arg);
    break;
  case 'b':
    t->batch = 1;
    break;
  case 'n':
    t->pictures = ft_option_whole(arg, 1, 1000000000, "N");
    break;
  case 'l':
    t->rows = ft_option_whole(arg, 1, 1000000, "N");
    break;
  case ARGP_KEY_END:
    if (!t->pid)
      ft_usage("-p PID is needed");
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* -- Pictures ------------------------------------------------------------- */

static double now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#define HEAD_ROWS 4 /* Of a picture, that are not lines. */

static void show(Top *t)
{
  LpBuf b = {0};
  t->view.memory = t->memory.file != NULL;
  if (t->screen) {
    ft_screen_size(&t->view.rows, &t->view.columns);
    ft_paint(&b, &t->lines, &t->view);
    ft_screen_paint(&b);
  } else {
    t->view.rows = t->rows + HEAD_ROWS;
    ft_paint(&b, &t->lines, &t->view);
    printf("%s\n", b.s);
    if (fflush(stdout)) /* The reader has gone. */
      t->done = t->stopped = 1;
  }
  lp_buf_free(&b);
}

/* A part has come to its end. */
static void end_interval(Top *t)
{
  double at = now();
  if (t->fresh)
    ft_lines_turn(&t->lines);
  t->fresh = 1;
  t->view.interval = t->last > 0 ? at - t->last : t->every;
  t->view.seconds = at - t->start;
  t->last = at;
  show(t);
  if (t->pictures && ++t->shown >= t->pictures)
    t->done = t->stopped = 1;
}

static void take_line(Top *t, char *line)
{
  if (t->done)
    return;
  if (!*line) {
    end_interval(t);
    return;
  }
  if (t->fresh)
    ft_lines_turn(&t->lines);
  t->fresh = 0;
  ft_lines_stack(&t->lines, line);
}

#define LINE_MAX_BYTES (16u << 20)

/* Takes what lj-sysprof has written. */
static void read_stacks(Top *t)
{
  char part[65536], *nl, *at;
  ssize_t n = read(t->child.out, part, sizeof(part));
  if (n < 0 && errno == EINTR)
    return;
  if (n <= 0 || t->in.n > LINE_MAX_BYTES) {
    t->done = 1;
    return;
  }
  lp_buf_add(&t->in, part, (size_t)n);
  at = t->in.s;
  while ((nl = memchr(at, '\n', t->in.n - (size_t)(at - t->in.s))) != NULL) {
    *nl = '\0';
    take_line(t, at);
    at = nl + 1;
  }
  t->in.n -= (size_t)(at - t->in.s);
  memmove(t->in.s, at, t->in.n + 1);
}

#define ERR_MAX 4096 /* Bytes of its messages that are kept. */

/* Takes what lj-sysprof says. */
static void read_messages(Top *t)
{
  char part[1024];
  ssize_t n = read(t->child.err, part, sizeof(part));
  if (n > 0 && t->err.n < ERR_MAX)
    lp_buf_add(&t->err, part, (size_t)n);
  if (n == 0) {
    close(t->child.err);
    t->child.err = -1;
  }
}

/* -- Memory --------------------------------------------------------------- */

#define MEMORY_PAUSE 2.0 /* Seconds between two looks at the recording. */

/* Reads the recording again, if it is time. A large one takes a while: then as
** much time passes before the next.
*/
static void step_memory(Top *t)
{
  if (!t->memory.file || t->memory.child.pid || now() < t->memory_next)
    return;
  t->memory_next = now();
  if (ft_memory_start(&t->memory))
    t->memory.file = NULL;
}

static void read_memory(Top *t)
{
  double took;
  if (!ft_memory_read(&t->memory, &t->lines))
    return;
  took = now() - t->memory_next;
  t->memory_next = now() + (took > MEMORY_PAUSE ? took : MEMORY_PAUSE);
}

/* Messages of its report are of no use here. */
static void drop_messages(Top *t)
{
  char part[1024];
  if (read(t->memory.child.err, part, sizeof(part)) == 0) {
    close(t->memory.child.err);
    t->memory.child.err = -1;
  }
}

/* -- Keys and signals ----------------------------------------------------- */

static void on_key(Top *t)
{
  static const char keys[] = "stnm";
  const char *at;
  char key;
  if (read(STDIN_FILENO, &key, 1) != 1 || key == 'q') {
    t->done = t->stopped = 1;
    return;
  }
  at = key ? strchr(keys, key) : NULL;
  if (!at)
    return;
  t->view.sort = (FtSort)(at - keys);
  show(t);
}

/* Ctrl-Z: the shell gets its terminal as it was. */
static void suspend(Top *t)
{
  ft_screen_close();
  raise(SIGSTOP);
  if (t->screen && !ft_screen_open())
    show(t);
}

static void on_signal(Top *t)
{
  struct signalfd_siginfo si;
  if (read(t->signals, &si, sizeof(si)) != sizeof(si))
    return;
  if (si.ssi_signo == SIGWINCH)
    show(t);
  else if (si.ssi_signo == SIGTSTP)
    suspend(t);
  else
    t->done = t->stopped = 1;
}

static int open_signals(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGQUIT);
  sigaddset(&set, SIGWINCH);
  sigaddset(&set, SIGTSTP);
  signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* -- Running -------------------------------------------------------------- */

enum { ON_OUT, ON_ERR, ON_SIGNAL, ON_KEY, ON_MEM, ON_MEMERR, ON_ALL };

static void run(Top *t)
{
  static void (*const on[ON_ALL])(Top *) = {read_stacks, read_messages,
                                            on_signal,   on_key,
                                            read_memory, drop_messages};
  int i;
  while (!t->done) {
    struct pollfd p[ON_ALL] = {
        {t->child.out, POLLIN, 0},
        {t->child.err, POLLIN, 0},
        {t->signals, POLLIN, 0},
        {t->screen ? STDIN_FILENO : -1, POLLIN, 0},
        {t->memory.child.pid ? t->memory.child.out : -1, POLLIN, 0},
        {t->memory.child.pid ? t->memory.child.err : -1, POLLIN, 0},
    };
    step_memory(t);
    if (poll(p, ON_ALL, 500) <= 0)
      continue;
    for (i = 0; i < ON_ALL && !t->done; i++)
      if (p[i].fd >= 0 && p[i].revents)
        on[i](t);
  }
}

static int start_sampler(Top *t)
{
  char program[] = "lj-sysprof", folded[] = "-f", lua[] = "--lua-only";
  char quiet[] = "-q", pid[16], hz[16], every[40];
  char *args[] = {program, folded, lua, quiet, pid, hz, every, NULL};
  snprintf(pid, sizeof(pid), "-p%d", (int)t->pid);
  snprintf(hz, sizeof(hz), "-F%u", t->hz);
  snprintf(every, sizeof(every), "--every=%.3f", t->every);
  return ft_start(&t->child, args);
}

/* Ends the child. Returns the exit status. */
static int end(Top *t)
{
  int status;
  while (!t->stopped && t->child.err >= 0)
    read_messages(t);
  status = ft_end(&t->child);
  ft_memory_end(&t->memory);
  ft_screen_close();
  if (t->stopped)
    return 0;
  if (t->err.n)
    fwrite(t->err.s, 1, t->err.n, stderr);
  if (!status)
    ft_fail("process %d has ended", (int)t->pid);
  else if (!t->err.n)
    ft_fail("lj-sysprof ended with status %d", status);
  return status ? FT_EXIT_NOTHING : 0;
}

int ft_top(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "-p PID", doc, 0, 0, 0};
  Top t = {.every = 1, .hz = 99, .rows = 20, .signals = -1};
  char title[32];
  int status = FT_EXIT_NOTHING;
  ft_options_parse(&argp, argc, argv, &t);
  if (!t.memory_file)
    t.memory_file = ft_memory_find(t.pid);
  t.memory.file = t.memory_file;
  t.memory.child = (FtChild){0, -1, -1};
  snprintf(title, sizeof(title), "process %d", (int)t.pid);
  t.view.title = title;
  t.view.hz = t.hz;
  t.view.columns = 80;
  t.signals = open_signals();
  t.start = now();
  if (!start_sampler(&t)) {
    t.screen = !t.batch && !ft_screen_open();
    t.view.keys = t.screen;
    run(&t);
    status = end(&t);
  }
  close(t.signals);
  ft_lines_free(&t.lines);
  lp_buf_free(&t.in);
  lp_buf_free(&t.err);
  free(t.memory_file);
  return status;
}

/*
** ljprof control: gives an order to a program that records with the option
** control, by its socket.
*/

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "commands.h"
#include "nearest.h"
#include "options.h"
#include "program.h"

#define WAIT_MS    5000  /* For an answer: more than the program takes. */
#define ANSWER_MAX 16384 /* Bytes of it; more are an error. */

typedef struct Options {
  pid_t pid;
  const char *order;
} Options;

static const char *const orders[] = {"start", "stop", "flush", "dump",
                                     "status"};

#define ORDERS (sizeof(orders) / sizeof(*orders))

static const struct argp_option options[] = {
    {"pid", 'p', "PID", 0, "Of this process", 0},
    {0},
};

static const char doc[] =
    "Control the memory recordings of a process that was started with the "
    "option control: LJPROF=memprof:FILE,control. ORDER is status, stop, start, "
    "flush, or dump for a heap dump. One line is printed for each VM."
    "\v"
    "The VM executes an order at its next allocation. If that does not come "
    "within a second, the line says so, and the VM executes it later.\n\n"
    "Exit status: 0 done; 1 pending, or failed in some VM; 2 the process "
    "cannot be reached; 64 usage.";

/* Checks the name of an order. */
static const char *check_order(const char *arg)
{
  ClNearest near = cl_nearest(arg);
  size_t i;
  for (i = 0; i < ORDERS; i++) {
    if (strcmp(orders[i], arg) == 0)
      return arg;
    cl_nearest_try(&near, orders[i]);
  }
  if (near.best)
    ft_usage("there is no order %s; did you mean %s?", arg, near.best);
  ft_usage(
      "there is no order %s; there are status, stop, start, flush and dump",
      arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  Options *opt = state->input;
  switch (key) {
  case 'p':
    opt->pid = ft_option_pid(arg);
    break;
  case ARGP_KEY_ARG:
    if (!opt->pid)
      opt->pid = ft_option_pid(arg);
    else if (!opt->order)
      opt->order = check_order(arg);
    else
      ft_usage("one ORDER at a time, not %s", arg);
    break;
  case ARGP_KEY_END:
    if (!opt->pid || !opt->order)
      ft_usage("PID and ORDER are needed, as in ljprof control 1234 status");
    break;
  default:
    return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

/* -- The socket ----------------------------------------------------------- */

/* The process that a socket belongs to. */
typedef struct Owner {
  unsigned long uid; /* Effective; */
  long pid;          /* its number where it is. */
} Owner;

/* Reads who a process is. Returns 0 if there is no such process. */
static int read_owner(pid_t pid, Owner *o)
{
  char path[64], line[256], *end;
  FILE *f;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
  f = fopen(path, "re");
  if (!f)
    return 0;
  o->pid = pid;
  o->uid = geteuid();
  while (fgets(line, sizeof(line), f)) {
    const char *last = strrchr(line, '\t');
    if (strncmp(line, "Uid:", 4) == 0) {
      strtoul(line + 4, &end, 10); /* The real one. */
      o->uid = strtoul(end, NULL, 10);
    } else if (strncmp(line, "NSpid:", 6) == 0 && last) {
      o->pid = strtol(last, NULL, 10);
    }
  }
  fclose(f);
  return 1;
}

/* Connects to a socket by its path. Returns a descriptor, or -1. */
static int connect_path(const char *path)
{
  struct sockaddr_un addr = {.sun_family = AF_UNIX};
  int fd, err;
  if (strlen(path) >= sizeof(addr.sun_path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(addr.sun_path, path, strlen(path) + 1);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
    return fd;
  err = errno;
  close(fd);
  errno = err;
  return -1;
}

/* Is it a process of the user O->uid that answers, or of root? */
static int is_theirs(int fd, const Owner *o)
{
  struct ucred peer;
  socklen_t len = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
         (peer.uid == o->uid || peer.uid == 0 || peer.uid == geteuid());
}

/* Connects to the socket in a folder, as the process sees it. Returns a
** descriptor or -1. What is found best is kept in errno.
*/
static int connect_in(pid_t pid, const char *dir, const Owner *o)
{
  char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
  int fd, n;
  n = snprintf(path, sizeof(path), "/proc/%d/root%s/%ld.sock", (int)pid, dir,
               o->pid);
  fd = n < (int)sizeof(path) ? connect_path(path) : -1;
  if (fd < 0) { /* Only who may trace it sees that. */
    n = snprintf(path, sizeof(path), "%s/%ld.sock", dir, o->pid);
    fd = n < (int)sizeof(path) ? connect_path(path) : -1;
  }
  if (fd >= 0 && !is_theirs(fd, o)) {
    close(fd);
    errno = EPERM;
    return -1;
  }
  return fd;
}

/* Connects to a process. Returns a descriptor, or -1 with a message. */
static int connect_process(pid_t pid)
{
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  char dir[3][96] = {"", "", ""};
  int fd = -1, err = ENOENT;
  size_t i;
  Owner o;
  if (!read_owner(pid, &o))
    return ft_fail("there is no process %d", (int)pid);
  if (runtime && *runtime == '/' && strlen(runtime) < sizeof(dir[0]) - 8)
    snprintf(dir[0], sizeof(dir[0]), "%s/ljprof", runtime);
  snprintf(dir[1], sizeof(dir[1]), "/run/user/%lu/ljprof", o.uid);
  snprintf(dir[2], sizeof(dir[2]), "/tmp/ljprof-%lu", o.uid);
  for (i = 0; i < 3 && fd < 0; i++) {
    if (!*dir[i])
      continue;
    fd = connect_in(pid, dir[i], &o);
    if (fd < 0 && errno != ENOENT)
      err = errno;
  }
  if (fd >= 0)
    return fd;
  if (err == ENOENT || err == ECONNREFUSED)
    return ft_fail("process %d has no socket for control: it needs the "
                   "recorder's option control, as in "
                   "LJPROF=memprof:FILE,control",
                   (int)pid);
  return ft_fail("process %d: %s", (int)pid, strerror(err));
}

/* Sends the order and reads the answer. Returns 0, or -1 with a message. */
static int ask(int fd, const char *order, char answer[ANSWER_MAX])
{
  struct pollfd p = {.fd = fd, .events = POLLIN};
  size_t len = 0;
  ssize_t n;
  char line[32];
  int sent = snprintf(line, sizeof(line), "%s\n", order);
  if (send(fd, line, (size_t)sent, MSG_NOSIGNAL) != sent)
    return ft_fail("the process does not take orders: %s", strerror(errno));
  do {
    n = poll(&p, 1, WAIT_MS) > 0 && len < ANSWER_MAX - 1
            ? recv(fd, answer + len, ANSWER_MAX - 1 - len, 0)
            : -1;
    len += n > 0 ? (size_t)n : 0;
  } while (n > 0);
  answer[len] = '\0';
  if (n < 0 || len == 0 || answer[len - 1] != '\n')
    return ft_fail("the process has not answered");
  return 0;
}

/* Prints an answer without its last line, its sum. Returns the exit status. */
static int print_answer(char *answer)
{
  char *last = answer + strlen(answer) - 1;
  *last = '\0';
  last = strrchr(answer, '\n');
  last = last ? last + 1 : answer;
  for (char *s = answer; s < last; s++)
    putchar(*s == '\n' || ((unsigned char)*s >= ' ' && *s != 127) ? *s : '?');
  if (fflush(stdout))
    return FT_EXIT_NOTHING;
  if (strcmp(last, "ok") == 0)
    return 0;
  if (strcmp(last, "none") == 0) {
    puts("no VM is recorded any more");
    return FT_EXIT_PART;
  }
  if (strcmp(last, "pending") == 0 || strcmp(last, "failed") == 0)
    return FT_EXIT_PART;
  ft_fail("the process does not know this order");
  return FT_EXIT_NOTHING;
}

int ft_control(int argc, char **argv)
{
  static const struct argp argp = {options, parse, "PID ORDER", doc, 0, 0, 0};
  static char answer[ANSWER_MAX];
  Options opt = {0};
  int fd, err;
  ft_options_parse(&argp, argc, argv, &opt);
  fd = connect_process(opt.pid);
  if (fd < 0)
    return FT_EXIT_NOTHING;
  err = ask(fd, opt.order, answer);
  close(fd);
  return err ? FT_EXIT_NOTHING : print_answer(answer);
}

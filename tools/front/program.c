/*
** The programs that ljprof runs.
*/

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

/* Words and names are foreign bytes, of which some would be commands of the
** terminal: C0, DEL, and C1 as UTF-8 has it.
*/
static void disarm(char *s)
{
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s, next = (unsigned char)s[1];
    if (c < ' ' || c == 127 || (c == 0xc2 && next >= 0x80 && next < 0xa0))
      *s = '?';
  }
}

int ft_fail(const char *fmt, ...)
{
  char text[FT_FAIL_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof(text), fmt, args);
  va_end(args);
  disarm(text);
  fprintf(stderr, "ljprof: %s\n", text);
  return -1;
}

/* Where program NAME is if it is beside ours; else only its name. */
static const char *locate(const char *name, char path[PATH_MAX])
{
  ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
  char *slash;
  if (n <= 0)
    return name;
  path[n] = '\0';
  slash = strrchr(path, '/');
  if (!slash || (size_t)(slash + 1 - path) + strlen(name) >= PATH_MAX)
    return name;
  memcpy(slash + 1, name, strlen(name) + 1);
  return access(path, X_OK) ? name : path;
}

/* Executes it. Returns only on failure. */
static int execute(char **argv)
{
  char path[PATH_MAX];
  execvp(locate(argv[0], path), argv);
  ft_fail("cannot run %s, which should be beside ljprof or in PATH: %s",
          argv[0], strerror(errno));
  return FT_EXIT_NOTHING;
}

int ft_exec(char **argv)
{
  fflush(stdout);
  return execute(argv);
}

/* In the child. */
static _Noreturn void become(char **argv, int out, int err, pid_t parent)
{
  int none = open("/dev/null", O_RDONLY);
  sigset_t set;
  sigemptyset(&set);
  sigprocmask(SIG_SETMASK, &set, NULL);
  signal(SIGPIPE, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(FT_EXIT_NOTHING);
  setpgid(0, 0); /* Ctrl-C is for us. */
  dup2(none, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  _exit(execute(argv));
}

int ft_start(FtChild *c, char **argv)
{
  int out[2], err[2];
  pid_t parent = getpid();
  *c = (FtChild){0, -1, -1};
  if (pipe2(out, O_CLOEXEC))
    return ft_fail("%s", strerror(errno));
  if (pipe2(err, O_CLOEXEC)) {
    close(out[0]);
    close(out[1]);
    return ft_fail("%s", strerror(errno));
  }
  fflush(stdout);
  c->pid = fork();
  if (c->pid == 0)
    become(argv, out[1], err[1], parent);
  close(out[1]);
  close(err[1]);
  c->out = out[0];
  c->err = err[0];
  if (c->pid > 0)
    return 0;
  c->pid = 0;
  ft_end(c);
  return ft_fail("cannot fork: %s", strerror(errno));
}

int ft_end(FtChild *c)
{
  int status = 0;
  pid_t pid;
  if (c->out >= 0)
    close(c->out);
  if (c->err >= 0)
    close(c->err);
  c->out = c->err = -1;
  if (c->pid <= 0)
    return 0;
  kill(c->pid, SIGTERM);
  do
    pid = waitpid(c->pid, &status, 0);
  while (pid < 0 && errno == EINTR);
  c->pid = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

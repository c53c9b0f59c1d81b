/*
** A command that is started to be sampled: it waits until the sampler is ready.
*/

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "priority.h"
#include "rlimit.h"

/* In the child: waits, then executes the command, or reports the error. */
static _Noreturn void become(char **argv, int go, int failed)
{
  char byte;
  sigset_t none;
  ssize_t n;
  do
    n = read(go, &byte, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1)
    _exit(127); /* The sampler has ended before. */
  close(go);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  ls_rlimit_restore();
  ls_priority_restore();
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  execvp(argv[0], argv);
  if (write(failed, &errno, sizeof(errno)) < 0)
    _exit(126); /* Nothing can report it then. */
  _exit(127);
}

int ls_command_fork(LsCommand *c, char **argv)
{
  int go[2], failed[2];
  if (pipe2(go, O_CLOEXEC))
    return -1;
  if (pipe2(failed, O_CLOEXEC)) {
    close(go[0]);
    close(go[1]);
    return -1;
  }
  c->pid = fork();
  if (c->pid == 0) {
    close(go[1]);
    close(failed[0]);
    become(argv, go[0], failed[1]);
  }
  close(go[0]);
  close(failed[1]);
  c->go = go[1];
  c->failed = failed[0];
  return c->pid < 0 ? -1 : 0;
}

void ls_command_go(LsCommand *c)
{
  ssize_t n = write(c->go, "", 1);
  (void)n; /* If it has died meanwhile, wait() reports it. */
  close(c->go);
}

int ls_command_failed(const LsCommand *c)
{
  int err;
  return read(c->failed, &err, sizeof(err)) == sizeof(err) ? err : 0;
}

int ls_command_wait(LsCommand *c, int block)
{
  int status;
  pid_t pid;
  if (c->ended || c->pid <= 0)
    return c->ended;
  do
    pid = waitpid(c->pid, &status, block ? 0 : WNOHANG);
  while (pid < 0 && errno == EINTR);
  if (pid != c->pid)
    return 0;
  c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  c->ended = 1;
  return 1;
}

/*
** A command that is started to be sampled: it waits until the sampler is ready.
*/

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

/* In the child: waits, then becomes the command. */
static _Noreturn void become(char **argv, int go)
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
  signal(SIGPIPE, SIG_DFL);
  execvp(argv[0], argv);
  fprintf(stderr, "lj-sysprof: %s: %s\n", argv[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/* Makes the process that will be the command. Answers 0, or -1 with errno. */
int ls_command_fork(LsCommand *c, char **argv)
{
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC))
    return -1;
  c->pid = fork();
  if (c->pid == 0) {
    close(pipes[1]);
    become(argv, pipes[0]);
  }
  close(pipes[0]);
  c->go = pipes[1];
  return c->pid < 0 ? -1 : 0;
}

/* Lets it run. */
void ls_command_go(LsCommand *c)
{
  ssize_t n = write(c->go, "", 1);
  (void)n; /* If it has died meanwhile, wait() tells. */
  close(c->go);
}

/* Looks whether it has ended, or waits for that. Answers 1 if it has. */
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

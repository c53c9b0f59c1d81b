/*
** Runs a pager for a report that is longer than the screen.
*/

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mem.h"
#include "pager.h"

/* Characters that only a shell can interpret. */
#define PAGER_SHELL "|&;<>()$`\\\"'*?[#~=%"

/* The command, or NULL if none is wanted. */
static const char *pager_command(void)
{
  const char *s = getenv("LJPROF_PAGER");
  s = s ? s : getenv("PAGER");
  s = s ? s : "less";
  return *s && strcmp(s, "cat") != 0 ? s : NULL;
}

/* Is there a program of N characters in a directory of PATH? */
static int pager_in_path(const char *s, size_t n)
{
  const char *path = getenv("PATH"), *end;
  int found = 0;
  for (; path && *path && !found; path = *end ? end + 1 : end) {
    LpBuf b = {0};
    end = strchrnul(path, ':');
    lp_buf_add(&b, path, (size_t)(end - path));
    lp_buf_puts(&b, "/");
    lp_buf_add(&b, s, n);
    found = access(b.s, X_OK) == 0;
    lp_buf_free(&b);
  }
  return found;
}

/* Can the command be run? The shell decides about what it must interpret. */
static int pager_exists(const char *s)
{
  size_t n = strcspn(s, " \t");
  LpBuf b = {0};
  int found;
  if (strpbrk(s, PAGER_SHELL))
    return 1;
  if (!memchr(s, '/', n))
    return pager_in_path(s, n);
  lp_buf_add(&b, s, n);
  found = access(b.s, X_OK) == 0;
  lp_buf_free(&b);
  return found;
}

/* Become the pager, which reads from FD. */
__attribute__((noreturn)) static void pager_run(const char *command, int fd)
{
  signal(SIGPIPE, SIG_DFL);
  dup2(fd, STDIN_FILENO);
  setenv("LESS", "FRX", 0);
  setenv("LV", "-c", 0);
  execl("/bin/sh", "sh", "-c", command, (char *)NULL);
  _exit(127);
}

int lp_pager_start(pid_t *pid)
{
  const char *command = pager_command();
  int end[2];
  if (!command || !pager_exists(command) || pipe2(end, O_CLOEXEC) != 0)
    return -1;
  *pid = fork();
  if (*pid == 0)
    pager_run(command, end[0]);
  close(end[0]);
  if (*pid < 0) {
    close(end[1]);
    return -1;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  return end[1];
}

void lp_pager_wait(pid_t pid)
{
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

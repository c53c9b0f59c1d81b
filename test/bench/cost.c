/*
** Runs a command and prints what it cost: user and system time in
** microseconds, peak memory in KiB. The command's own output is dropped.
**
**   cost COMMAND [ARGUMENT...]
*/

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long microseconds(struct timeval t)
{
  return (long)t.tv_sec * 1000000L + (long)t.tv_usec;
}

int main(int argc, char **argv)
{
  struct rusage used;
  int status = 0;
  pid_t child;
  if (argc < 2)
    return 64;
  child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
      _exit(126);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
    fprintf(stderr, "cost: %s failed, status %d\n", argv[1], status);
    return 1;
  }
  printf("%ld %ld %ld\n", microseconds(used.ru_utime),
         microseconds(used.ru_stime), used.ru_maxrss);
  return 0;
}

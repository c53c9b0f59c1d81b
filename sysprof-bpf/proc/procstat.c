/*
** What /proc says of a process or a thread.
*/

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "procstat.h"

const char *ls_procstat(const char *path, char buf[LS_PROCSTAT_SIZE])
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = 0;
  const char *p;
  if (fd >= 0) {
    n = read(fd, buf, LS_PROCSTAT_SIZE - 1);
    close(fd);
  }
  if (n <= 0)
    return NULL;
  buf[n] = '\0';
  p = strrchr(buf, ')');
  return p && p[1] == ' ' && p[2] ? p + 2 : NULL;
}

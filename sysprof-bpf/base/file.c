/*
** Opens files whose names come from processes that are sampled.
**
** A file is first opened only to be looked at (O_PATH), which neither waits nor
** wakes a driver. That it can be read, it is opened again by its descriptor: by
** then no other file can be in its place.
*/

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"

/* Open what FD looks at, which is closed. */
static int file_read(int fd)
{
  char self[32];
  struct stat st;
  int to = -1, err = ENOEXEC;
  if (fd < 0)
    return -1;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    to = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    err = errno;
  }
  close(fd);
  errno = err;
  return to;
}

int ls_file_open(const char *root, const char *path)
{
  struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err;
  if (dir < 0)
    return -1;
  fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
  err = errno;
  close(dir);
  errno = err;
  return file_read(fd);
}

int ls_file_reopen(const char *link)
{
  return file_read(open(link, O_PATH | O_CLOEXEC));
}

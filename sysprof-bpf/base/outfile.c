/*
** The file that a profile is written to.
*/

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "outfile.h"

#define PROC_MAGIC 0x9fa0 /* f_type of /proc. */
#define OLD        ".old"
#define PART       ".part"
#define RANDOM     9 /* ".xxxxxxxx" */

static int refuse(char *why, size_t size, const char *text)
{
  snprintf(why, size, "%s", text);
  return -1;
}

/* -- What is written in place --------------------------------------------- */

/* Opens PATH, which is a FIFO or a character device. */
static int open_direct(LsOutfile *f, const char *path, char *why, size_t size)
{
  struct stat st;
  f->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  f->own = 1;
  if (f->fd < 0)
    return refuse(why, size,
                  errno == ENXIO ? "a FIFO that nobody reads"
                                 : strerror(errno));
  if (fstat(f->fd, &st) || (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))) {
    ls_outfile_close(f);
    return refuse(why, size, "a link to what is no FIFO or character device");
  }
  fcntl(f->fd, F_SETFL, 0); /* Writers wait; only to open it they must not. */
  return 0;
}

/* Opens what FD, which was only looked at, is; PATH has led to it. */
static int open_special(LsOutfile *f, int fd, const struct stat *st,
                        const char *path, char *why, size_t size)
{
  struct statfs fs;
  char self[32];
  if (S_ISLNK(st->st_mode)) {
    if (fstatfs(fd, &fs) || fs.f_type != PROC_MAGIC)
      return refuse(why, size,
                    "a symbolic link, which is not followed (- is standard "
                    "output)");
    return open_direct(f, path, why, size);
  }
  if (S_ISDIR(st->st_mode))
    return refuse(why, size, strerror(EISDIR));
  if (!S_ISFIFO(st->st_mode) && !S_ISCHR(st->st_mode))
    return refuse(why, size,
                  "neither a regular file, nor a FIFO, nor a character device");
  snprintf(self, sizeof(self), "/proc/self/fd/%d", fd); /* That very one. */
  return open_direct(f, self, why, size);
}

/* -- What is written beside ----------------------------------------------- */

/* Splits PATH into its folder, which is opened, and its last part. */
static int open_dir(LsOutfile *f, const char *path)
{
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char dir[PATH_MAX];
  size_t n = slash ? (size_t)(slash - path) + 1 : 0;
  if (!*base || n >= sizeof(dir) ||
      strlen(base) >= sizeof(f->base) - strlen(OLD)) {
    errno = *path && !*base ? EISDIR : *base ? ENAMETOOLONG : ENOENT;
    return -1;
  }
  memcpy(dir, path, n);
  dir[n] = '\0';
  memcpy(f->base, base, strlen(base) + 1);
  f->dir = open(n ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return f->dir < 0 ? -1 : 0;
}

/* Makes a file of a name that is not in use. */
static int open_temp(LsOutfile *f)
{
  int room = (int)(sizeof(f->temp) - 1 - RANDOM - strlen(PART));
  uint32_t random;
  do {
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
      return -1;
    snprintf(f->temp, sizeof(f->temp), "%.*s.%08x" PART, room, f->base, random);
    f->fd = openat(f->dir, f->temp,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  } while (f->fd < 0 && errno == EEXIST);
  f->own = 1;
  if (f->fd < 0)
    f->temp[0] = '\0';
  return f->fd < 0 ? -1 : 0;
}

int ls_outfile_open(LsOutfile *f, const char *name, char *why, size_t size)
{
  struct stat st;
  int fd, err;
  *f = (LsOutfile){.fd = -1, .dir = -1};
  if (strcmp(name, "-") == 0) {
    f->fd = STDOUT_FILENO;
    return 0;
  }
  fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode)) {
    err = open_special(f, fd, &st, name, why, size);
    close(fd);
    return err;
  }
  if (fd >= 0)
    close(fd);
  else if (errno != ENOENT)
    return refuse(why, size, strerror(errno));
  if (open_dir(f, name) || open_temp(f)) {
    err = errno;
    ls_outfile_close(f);
    return refuse(why, size, strerror(err));
  }
  return 0;
}

/* The name is in use: both change places. The old file is never without a
** name; on file systems that cannot do that, there is none of this name for a
** moment.
*/
static int replace(const LsOutfile *f, const char *old)
{
  int err;
  if (!renameat2(f->dir, f->temp, f->dir, f->base, RENAME_EXCHANGE)) {
    if (!renameat(f->dir, f->temp, f->dir, old))
      return 0;
    err = errno;
    /* Back, so that the old file has its name. */
    renameat2(f->dir, f->temp, f->dir, f->base, RENAME_EXCHANGE);
    errno = err;
    return -1;
  }
  if (renameat(f->dir, f->base, f->dir, old) && errno != ENOENT)
    return -1;
  return renameat(f->dir, f->temp, f->dir, f->base);
}

int ls_outfile_keep(LsOutfile *f, char *why, size_t size)
{
  char old[sizeof(f->base) + sizeof(OLD)];
  if (!f->temp[0])
    return 0;
  snprintf(old, sizeof(old), "%s" OLD, f->base);
  if (renameat2(f->dir, f->temp, f->dir, f->base, RENAME_NOREPLACE) &&
      replace(f, old)) {
    snprintf(why, size, "%s; the profile is in %s beside it", strerror(errno),
             f->temp);
    f->temp[0] = '\0'; /* It stays. */
    return -1;
  }
  f->temp[0] = '\0';
  return 0;
}

void ls_outfile_close(LsOutfile *f)
{
  if (f->temp[0])
    unlinkat(f->dir, f->temp, 0);
  if (f->own && f->fd >= 0)
    close(f->fd);
  if (f->dir >= 0)
    close(f->dir);
  *f = (LsOutfile){.fd = -1, .dir = -1};
}

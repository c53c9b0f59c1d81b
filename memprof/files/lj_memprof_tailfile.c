/*
** The name of a tail: FILE.tail. It is written beside it first, as the file
** itself is, and gets its name after that one has its own.
*/

#define lj_memprof_tailfile_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ljm_tail.h"
#include "lj_memprof_file.h"
#include "lj_memprof_time.h"

/* -- Names ----------------------------------------------------------------- */

/* A name with a suffix; or NULL without memory. The caller frees it. */
static char *tail_name(const char *name, const char *suffix)
{
  size_t len = strlen(name) + strlen(suffix) + 1;
  char *s = (char *)malloc(len);
  if (s != NULL)
    snprintf(s, len, "%s%s", name, suffix);
  return s;
}

/*
** The path of the file itself, which stays the same when the program changes
** its directory; or NULL. The caller frees it.
*/
static char *tail_path(const MPFile *f)
{
  char proc[64], path[PATH_MAX];
  size_t len;
  ssize_t n;
  snprintf(proc, sizeof(proc), "/proc/self/fd/%d", f->dir);
  n = readlink(proc, path, sizeof(path));
  len = n > 0 ? (size_t)n + strlen(f->name) + 2 : sizeof(path);
  if (len >= sizeof(path)) {
    errno = n < 0 ? errno : ENAMETOOLONG;
    return NULL;
  }
  snprintf(path + n, sizeof(path) - (size_t)n, "/%s", f->name);
  return tail_name(path, LJM_TAIL_SUFFIX);
}

/* What a name is: -1 nothing, 0 something else than a tail, 1 a tail. */
static int tail_kind(int dir, const char *name)
{
  char magic[sizeof(LJM_TAIL_MAGIC)] = "";
  int fd = openat(dir, name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  ssize_t n;
  if (fd < 0)
    return errno == ENOENT ? -1 : 0;
  n = pread(fd, magic, sizeof(magic) - 1, 0);
  close(fd);
  return n == sizeof(magic) - 1 &&
         memcmp(magic, LJM_TAIL_MAGIC, sizeof(magic) - 1) == 0;
}

/* True if a path is that of our tail. */
static int tail_isours(const MPFile *f, int dir, const char *path)
{
  struct stat st;
  return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         st.st_dev == f->taildev && st.st_ino == f->tailino;
}

/* -- Opening --------------------------------------------------------------- */

/* Refuses what is no tail, and has its name. */
static int tail_checkname(MPFile *f)
{
  char *name = tail_name(f->name, LJM_TAIL_SUFFIX);
  int kind = name != NULL ? tail_kind(f->dir, name) : -1;
  free(name);
  if (name == NULL)
    return lj_memprof_filefail(f, ENOMEM, NULL);
  return kind != 0 || lj_memprof_filefail(
                          f, EEXIST, "what has its name with .tail is no tail");
}

/* Makes the temporary file, of size bytes. Returns a descriptor or -1. */
static int tail_make(MPFile *f, size_t size)
{
  struct stat st;
  int fd, en;
  snprintf(f->tailtemp, sizeof(f->tailtemp), ".ljprof-%ld-%llx.tail.tmp",
           f->pid, (unsigned long long)lj_memprof_now());
  fd = openat(f->dir, f->tailtemp,
              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    *f->tailtemp = '\0';
    lj_memprof_filefail(f, errno, "its tail cannot be made");
    return -1;
  }
  en = lj_memprof_allocfd(fd, (off_t)size);
  if (en == 0 && fstat(fd, &st) == 0) {
    f->taildev = st.st_dev;
    f->tailino = st.st_ino;
    return fd;
  }
  unlinkat(f->dir, f->tailtemp, 0);
  *f->tailtemp = '\0';
  close(fd);
  lj_memprof_filefail(f, en ? en : EIO,
                      en == ENOSPC || en == EDQUOT
                          ? "there is no space for its tail"
                          : "its tail cannot be allocated");
  return -1;
}

int lj_memprof_opentail(MPFile *f, size_t buffer)
{
  if (!f->regular || !*f->temp) {
    lj_memprof_filefail(f, EINVAL, "only a regular file has a tail");
    return -1;
  }
  if (!tail_checkname(f))
    return -1;
  f->tail = tail_path(f);
  if (f->tail == NULL) {
    lj_memprof_filefail(f, errno, "its tail cannot be named");
    return -1;
  }
  return tail_make(f, (size_t)sysconf(_SC_PAGESIZE) + buffer);
}

/* -- Giving it its name ---------------------------------------------------- */

void lj_memprof_keeptail(const MPFile *f)
{
  char *name = tail_name(f->name, LJM_TAIL_SUFFIX);
  char *old = tail_name(f->oldname, LJM_TAIL_SUFFIX);
  if (name != NULL && old != NULL) {
    if (tail_kind(f->dir, name) == 1)
      renameat(f->dir, name, f->dir, old);
    else if (f->oldst.st_size > 0 && tail_kind(f->dir, old) == 1)
      unlinkat(f->dir, old, 0); /* Of the file that .old was before. */
  }
  free(name);
  free(old);
}

int lj_memprof_nametail(MPFile *f)
{
  char *name;
  int status;
  if (!*f->tailtemp)
    return 1;
  name = tail_name(f->name, LJM_TAIL_SUFFIX);
  if (name == NULL)
    return lj_memprof_filefail(f, ENOMEM, NULL);
  status = renameat(f->dir, f->tailtemp, f->dir, name);
  free(name);
  if (status != 0)
    return lj_memprof_filefail(f, errno, "its tail cannot be named");
  *f->tailtemp = '\0';
  return 1;
}

/* -- The end --------------------------------------------------------------- */

void lj_memprof_droptail(MPFile *f)
{
  if (*f->tailtemp && tail_isours(f, f->dir, f->tailtemp))
    unlinkat(f->dir, f->tailtemp, 0);
  *f->tailtemp = '\0';
  if (f->tail != NULL && f->pid == (long)getpid() &&
      tail_isours(f, AT_FDCWD, f->tail))
    unlink(f->tail);
  lj_memprof_leavetail(f);
}

void lj_memprof_leavetail(MPFile *f)
{
  free(f->tail);
  f->tail = NULL;
}

#endif

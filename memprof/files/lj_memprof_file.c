/*
** Names of a recording's file. It is written beside its name first: a start
** that fails leaves what is there, one that succeeds keeps it as FILE.old.
**
** Who replaces a file has its lock, and who records has that of his own: no
** recording takes the place of another one that goes on.
*/

#define lj_memprof_file_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* For O_PATH and renameat2(). */
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lj_memprof_file.h"
#include "lj_memprof_time.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2
#endif

#define FILE_TRIES 100 /* Names of temporary files, or changes by others. */
#define FILE_OLD   ".old"

static const char file_busy[] = "another recording goes to it, or it is locked";

/* -- Descriptors ----------------------------------------------------------- */

/* Closes a descriptor that may be none. */
static void file_close(int *fd)
{
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

/* Moves a descriptor out of the way of the standard streams. Or -1. */
static int file_behindstd(int fd)
{
  int moved, en;
  if (fd < 0 || fd > STDERR_FILENO)
    return fd;
  moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  en = errno;
  close(fd);
  errno = en;
  return moved;
}

/* Locks a file. Returns 0 if another process has it locked. */
static int file_lock(MPFile *f, int fd)
{
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return 1; /* There are file systems without locks. */
  return lj_memprof_filefail(f, EBUSY, file_busy);
}

/* A file that is open by now: looks what it is. Sets the error. */
static int file_know(MPFile *f)
{
  struct stat st;
  if (f->fd < 0 || fstat(f->fd, &st) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  lj_memprof_knowfile(f, &st);
  return 1;
}

/* -- What has the name ----------------------------------------------------- */

/* Splits a path into a directory, which is opened, and a name. */
static int file_split(MPFile *f, const char *fname)
{
  const char *slash = strrchr(fname, '/');
  const char *base = slash ? slash + 1 : fname;
  size_t len = strlen(base), dirlen = (size_t)(base - fname);
  char *dir = (char *)malloc(dirlen + 2);
  f->name = strdup(base);
  f->oldname = (char *)malloc(len + sizeof(FILE_OLD));
  if (dir == NULL || f->name == NULL || f->oldname == NULL) {
    free(dir);
    return lj_memprof_filefail(f, ENOMEM, NULL);
  }
  memcpy(f->oldname, base, len);
  memcpy(f->oldname + len, FILE_OLD, sizeof(FILE_OLD));
  memcpy(dir, fname, dirlen);
  memcpy(dir + dirlen, ".", 2); /* DIR/. is a directory, or an error. */
  f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
  free(dir);
  if (f->dir < 0)
    return lj_memprof_filefail(f, errno, NULL);
  if (len == 0)
    return lj_memprof_filefail(f, *fname ? EISDIR : ENOENT, NULL);
  return 1;
}

/* Refuses what is no regular file, FIFO or character device. */
static int file_iskind(MPFile *f, mode_t mode)
{
  switch (mode & S_IFMT) {
  case S_IFREG:
  case S_IFIFO:
  case S_IFCHR:
    return 1;
  case S_IFLNK:
    return lj_memprof_filefail(f, ELOOP,
                               "a symbolic link, which is not followed (for "
                               "/dev/stdout, take the option fd = 1)");
  case S_IFDIR:
    return lj_memprof_filefail(f, EISDIR, NULL);
  case S_IFSOCK:
    return lj_memprof_filefail(
        f, ENXIO, "a socket (take the option fd for one that is connected)");
  default:
    return lj_memprof_filefail(f, ENOTSUP, "a block device");
  }
}

/*
** FILE.old is removed if a file takes its place. It has to be a regular file,
** and no recording.
*/
static int file_checkold(MPFile *f)
{
  struct stat st;
  int fd, good;
  if (fstatat(f->dir, f->oldname, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT || lj_memprof_filefail(f, errno, NULL);
  if (!S_ISREG(st.st_mode))
    return lj_memprof_filefail(
        f, EEXIST, "cannot be kept: what has its name with .old is no file");
  fd = openat(f->dir, f->oldname,
              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  good = fd < 0 || file_lock(f, fd);
  file_close(&fd);
  if (!good)
    f->why = "cannot be kept: a recording goes to its name with .old";
  return good;
}

/*
** Opens and locks the regular file that has the name. Returns 0 with en = 0 if
** it is another one by then.
*/
static int file_holdold(MPFile *f)
{
  struct stat st;
  f->old = openat(f->dir, f->name,
                  O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (f->old < 0 && errno != ENOENT)
    return lj_memprof_filefail(f, errno, NULL);
  if (f->old >= 0 && !file_lock(f, f->old))
    return 0;
  if (f->old >= 0 && fstat(f->old, &f->oldst) == 0 &&
      fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
      st.st_dev == f->oldst.st_dev && st.st_ino == f->oldst.st_ino)
    return f->oldst.st_size == 0 || file_checkold(f);
  return lj_memprof_filefail(f, 0, NULL);
}

/*
** Looks what has the name: *mode is its kind, or 0 if there is nothing. A
** regular file is opened as f->old. Returns 0 if it must not be replaced.
*/
static int file_look(MPFile *f, mode_t *mode)
{
  struct stat st;
  int i;
  for (i = 0; i < FILE_TRIES; i++) {
    file_close(&f->old);
    *mode = 0;
    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT || lj_memprof_filefail(f, errno, NULL);
    *mode = st.st_mode & S_IFMT;
    if (!file_iskind(f, st.st_mode))
      return 0;
    if (*mode != S_IFREG || file_holdold(f))
      return 1;
    if (f->en != 0)
      return 0;
  }
  return lj_memprof_filefail(f, EBUSY, NULL);
}

/* -- Opening --------------------------------------------------------------- */

void lj_memprof_initfile(MPFile *f)
{
  memset(f, 0, sizeof(*f));
  f->fd = f->lock = f->dir = f->old = -1;
  f->pid = (long)getpid();
}

int lj_memprof_maketemp(MPFile *f)
{
  int i;
  for (i = 0; i < FILE_TRIES && f->fd < 0; i++) {
    snprintf(f->temp, sizeof(f->temp), ".ljprof-%ld-%llx.tmp", f->pid,
             (unsigned long long)lj_memprof_now());
    f->fd = openat(f->dir, f->temp,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (f->fd < 0 && errno != EEXIST)
      break;
  }
  if (f->fd < 0) {
    *f->temp = '\0';
    return lj_memprof_filefail(f, errno,
                               errno == EACCES || errno == EROFS
                                   ? "its directory cannot be written to"
                                   : NULL);
  }
  f->fd = file_behindstd(f->fd);
  f->lock = f->fd;
  if (file_know(f))
    return file_lock(f, f->fd);
  unlinkat(f->dir, f->temp, 0); /* Nothing shows later that it is ours. */
  *f->temp = '\0';
  return 0;
}

/*
** Opens a FIFO or a character device as it is. A FIFO without a reader is an
** error, but once it is open, writing to it waits for the reader.
*/
static int file_opendevice(MPFile *f, mode_t mode)
{
  int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  f->fd = file_behindstd(openat(f->dir, f->name, flags));
  if (f->fd < 0)
    return lj_memprof_filefail(
        f, errno,
        errno == ENXIO && mode == S_IFIFO ? "a FIFO that nobody reads" : NULL);
  if (!file_know(f))
    return 0;
  if (f->regular) /* It was another one a moment ago. */
    return lj_memprof_filefail(f, EBUSY, NULL);
  if (fcntl(f->fd, F_SETFL, O_WRONLY) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  return 1;
}

int lj_memprof_openfile(MPFile *f, const char *fname)
{
  mode_t mode = 0;
  int good;
  lj_memprof_initfile(f);
  good = file_split(f, fname) && file_look(f, &mode) &&
         (mode == S_IFIFO || mode == S_IFCHR ? file_opendevice(f, mode)
                                             : lj_memprof_maketemp(f));
  if (!good)
    lj_memprof_dropfile(f);
  return good;
}

int lj_memprof_connected(MPFile *f)
{
  int good = file_know(f);
  if (!good)
    lj_memprof_dropfile(f);
  return good;
}

/*
** A regular file goes on where the descriptor is. The lock is one of our own,
** since the program may lock the descriptor for other reasons.
*/
static int file_knowoffset(MPFile *f, int flags)
{
  struct stat st;
  char proc[64];
  f->append = (flags & O_APPEND) != 0;
  if (fstat(f->fd, &st) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  f->at = f->append ? st.st_size : lseek(f->fd, 0, SEEK_CUR);
  if (st.st_size != f->at)
    return lj_memprof_filefail(
        f, EINVAL, "the descriptor's position is not the end of its file");
  snprintf(proc, sizeof(proc), "/proc/self/fd/%d", f->fd);
  f->lock = file_behindstd(open(proc, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return f->lock < 0 || file_lock(f, f->lock);
}

/* Copies a descriptor that can be written to, and looks what it is. */
static int file_copyfd(MPFile *f, int fd)
{
  int flags = fcntl(fd, F_GETFL);
  struct stat st;
  if (flags < 0 || fstat(fd, &st) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH))
    return lj_memprof_filefail(f, EBADF,
                               "the descriptor is not open for writing");
  if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
    return file_iskind(f, st.st_mode);
  f->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return file_know(f) && (!f->regular || file_knowoffset(f, flags));
}

int lj_memprof_openfd(MPFile *f, int fd)
{
  int good;
  lj_memprof_initfile(f);
  good = file_copyfd(f, fd);
  if (!good)
    lj_memprof_dropfile(f);
  return good;
}

/* -- Giving it its name ---------------------------------------------------- */

/* renameat2() in the file's directory, which older C libraries do not have. */
static int file_rename2(const MPFile *f, const char *from, const char *to,
                        unsigned flags)
{
  return (int)syscall(SYS_renameat2, f->dir, from, f->dir, to, flags);
}

/* True if the flags of renameat2() are not known to this file system. */
static int file_noflags(void)
{
  return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
}

/*
** Looks once more how large the file before is: it is kept if anything has come
** into it. Returns 0 if it must not be.
*/
static int file_lookold(MPFile *f)
{
  int empty = f->oldst.st_size == 0;
  if (fstat(f->old, &f->oldst) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  return f->oldst.st_size == 0 || !empty || file_checkold(f);
}

/* The same with two renames, where names cannot be exchanged. */
static int file_move(MPFile *f)
{
  int kept;
  if (!file_lookold(f))
    return 0;
  kept = f->oldst.st_size > 0;
  if (kept && renameat(f->dir, f->name, f->dir, f->oldname) != 0)
    return lj_memprof_filefail(f, errno, NULL);
  if (renameat(f->dir, f->temp, f->dir, f->name) == 0)
    return 1;
  lj_memprof_filefail(f, errno, NULL);
  if (kept)
    file_rename2(f, f->oldname, f->name, RENAME_NOREPLACE);
  return 0;
}

/* The file before has the temporary name now: it is kept, or taken away. */
static int file_keep(MPFile *f)
{
  if (!file_lookold(f))
    return 0;
  if (f->oldst.st_size == 0)
    return unlinkat(f->dir, f->temp, 0) == 0;
  return renameat(f->dir, f->temp, f->dir, f->oldname) == 0;
}

/* Takes the place of f->old. Returns 0 with en = 0 if it is not there. */
static int file_exchange(MPFile *f)
{
  struct stat st;
  if (file_rename2(f, f->temp, f->name, RENAME_EXCHANGE) != 0) {
    if (file_noflags())
      return file_move(f);
    return lj_memprof_filefail(f, errno == ENOENT ? 0 : errno, NULL);
  }
  lj_memprof_filefail(f, 0, NULL);
  if (fstatat(f->dir, f->temp, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
      st.st_dev == f->oldst.st_dev && st.st_ino == f->oldst.st_ino) {
    if (file_keep(f))
      return 1;
    if (f->en == 0)
      lj_memprof_filefail(f, errno, "cannot be kept with .old behind its name");
  }
  file_rename2(f, f->temp, f->name, RENAME_EXCHANGE);
  return 0;
}

/* Takes a name that nothing has. Returns 0 with en = 0 if something has. */
static int file_take(MPFile *f)
{
  int status = file_rename2(f, f->temp, f->name, RENAME_NOREPLACE);
  if (status != 0 && file_noflags())
    status = renameat(f->dir, f->temp, f->dir, f->name);
  return status == 0 ||
         lj_memprof_filefail(f, errno == EEXIST ? 0 : errno, NULL);
}

void lj_memprof_forgetnames(MPFile *f)
{
  file_close(&f->old);
  file_close(&f->dir);
  free(f->name);
  free(f->oldname);
  free(f->drop);
  f->name = f->oldname = f->drop = NULL;
}

int lj_memprof_renamefile(MPFile *f)
{
  mode_t mode;
  int i;
  for (i = 0; i < FILE_TRIES && *f->temp; i++) {
    if (f->old >= 0 ? file_exchange(f) : file_take(f))
      *f->temp = '\0';
    else if (f->en != 0 || !file_look(f, &mode))
      return 0;
    else if (mode != 0 && mode != S_IFREG)
      break;
  }
  return *f->temp ? lj_memprof_filefail(f, EBUSY, NULL) : 1;
}

int lj_memprof_namefile(void *arg)
{
  MPFile *f = (MPFile *)arg;
  int good = lj_memprof_renamefile(f);
  if (good && f->name != NULL) { /* None of a descriptor. */
    lj_memprof_keeptail(f);
    good = lj_memprof_nametail(f);
  }
  if (good && f->keep == 0)
    lj_memprof_forgetnames(f);
  return good;
}

/* True if a name is that of a file, which is as in st then. */
static int file_is(const MPFile *f, const char *name, struct stat *st,
                   dev_t dev, ino_t ino)
{
  return fstatat(f->dir, name, st, AT_SYMLINK_NOFOLLOW) == 0 &&
         st->st_dev == dev && st->st_ino == ino;
}

int lj_memprof_mendfile(MPFile *f)
{
  struct stat st;
  if (!*f->temp || !file_is(f, f->name, &st, f->dev, f->ino))
    return 0;
  /* It died after the exchange: the file before is still to be kept. */
  if (file_is(f, f->temp, &st, f->oldst.st_dev, f->oldst.st_ino)) {
    if (st.st_size == 0)
      unlinkat(f->dir, f->temp, 0);
    else
      renameat(f->dir, f->temp, f->dir, f->oldname);
  }
  *f->temp = '\0';
  return 1;
}

void lj_memprof_leavefile(MPFile *f)
{
  lj_memprof_forkedfile(f);
  file_close(&f->old);
}

/* True if the temporary name is that of what was made for it. */
static int file_istemp(const MPFile *f)
{
  struct stat st;
  return *f->temp && file_is(f, f->temp, &st, f->dev, f->ino);
}

int lj_memprof_taketemp(MPFile *f)
{
  lj_memprof_filefail(f, 0, NULL);
  if (!file_take(f))
    return 0;
  *f->temp = '\0';
  return 1;
}

void lj_memprof_droptemp(MPFile *f)
{
  if (file_istemp(f))
    unlinkat(f->dir, f->temp, 0);
  if (f->lock != f->fd)
    file_close(&f->lock);
  file_close(&f->fd);
  f->lock = -1;
  *f->temp = '\0';
}

void lj_memprof_dropfile(MPFile *f)
{
  lj_memprof_droptail(f);
  lj_memprof_droptemp(f);
  lj_memprof_forgetnames(f);
}

#endif

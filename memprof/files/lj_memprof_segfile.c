/*
** Files of segments: FILE is the newest one, FILE.1 the one before it, and so
** on. The oldest one goes away before a new one is made.
*/

#define lj_memprof_segfile_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lj_memprof_file.h"

/* The first bytes of every recording of this format. */
static const char segfile_magic[] = {'l', 'j', 's'};

/* The name of segment i before the newest, or NULL. The caller frees it. */
static char *segfile_name(const MPFile *f, int i)
{
  size_t len = strlen(f->name) + 16;
  char *s = (char *)malloc(len);
  if (s != NULL)
    snprintf(s, len, i > 0 ? "%s.%d" : "%s", f->name, i);
  return s;
}

/* True if a name is free, or that of a recording, or of an empty file. */
static int segfile_isfree(const MPFile *f, const char *name)
{
  char magic[sizeof(segfile_magic)];
  int fd = openat(f->dir, name,
                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  ssize_t n;
  if (fd < 0)
    return errno == ENOENT;
  n = pread(fd, magic, sizeof(magic), 0);
  close(fd);
  return n == 0 || (n == sizeof(magic) &&
                    memcmp(magic, segfile_magic, sizeof(magic)) == 0);
}

/* True if no name of a segment is that of something else. */
static int segfile_checkall(MPFile *f)
{
  int i;
  for (i = 1; i < f->keep; i++) {
    char *name = segfile_name(f, i);
    int isfree = name != NULL && segfile_isfree(f, name);
    if (name == NULL)
      return lj_memprof_filefail(f, ENOMEM, NULL);
    free(name);
    if (!isfree)
      return lj_memprof_filefail(
          f, EEXIST, "what has the name of a segment is no recording");
  }
  return 1;
}

int lj_memprof_checksegments(MPFile *f, int keep)
{
  f->keep = keep;
  if (!f->regular || !*f->temp)
    return lj_memprof_filefail(f, EINVAL, "only a regular file has segments");
  return segfile_checkall(f);
}

/* Renames segment i - 1 to i. One that is not there is passed by. */
static int segfile_shift(MPFile *f, int i)
{
  char *from = segfile_name(f, i - 1), *to = segfile_name(f, i);
  int status, en;
  errno = ENOMEM;
  status = from != NULL && to != NULL ? renameat(f->dir, from, f->dir, to) : -1;
  en = errno;
  free(from);
  free(to);
  return status == 0 || (en == ENOENT && i > 1) ||
         lj_memprof_filefail(
             f, en, "a segment cannot be renamed, so there is no next one");
}

/* Renames all segments. The oldest one is gone then. */
static int segfile_shiftall(MPFile *f)
{
  struct stat st;
  int i;
  if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
      st.st_dev != f->dev || st.st_ino != f->ino)
    return lj_memprof_filefail(
        f, ENOENT, "the recording's file was renamed, deleted or replaced");
  if (!segfile_checkall(f))
    return 0;
  for (i = f->keep - 1; i > 0; i--)
    if (!segfile_shift(f, i))
      return 0;
  return 1;
}

/* Makes the file of the next segment in the place of this one's. */
int lj_memprof_nextfile(void *arg)
{
  MPFile *f = (MPFile *)arg, old = *f;
  if (!segfile_shiftall(f))
    return 0;
  f->fd = f->lock = -1;
  f->at = 0;
  if (!lj_memprof_maketemp(f) || !lj_memprof_taketemp(f)) {
    int en = f->en ? f->en : EEXIST;
    lj_memprof_droptemp(f);
    *f = old; /* It is FILE.1 now, and whole. */
    return lj_memprof_filefail(f, en, "the next segment cannot be made");
  }
  close(old.fd);
  return 1;
}

/* True if the newest segment of a recording that failed is an empty file. */
static int segfile_isempty(const MPFile *f)
{
  struct stat st;
  return f->keep != 0 && f->en != 0 && f->at == 0 && *f->temp == '\0' &&
         f->pid == (long)getpid() &&
         fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         st.st_dev == f->dev && st.st_ino == f->ino && st.st_size == 0;
}

/*
** Takes the newest segment away if nothing was written there. The others move
** down by one.
*/
static void segfile_dropempty(MPFile *f)
{
  int i, status;
  if (!segfile_isempty(f))
    return;
  status = unlinkat(f->dir, f->name, 0);
  for (i = 1; status == 0 && i < f->keep; i++) {
    char *from = segfile_name(f, i), *to = segfile_name(f, i - 1);
    status =
        from != NULL && to != NULL ? renameat(f->dir, from, f->dir, to) : -1;
    free(from);
    free(to);
  }
}

void lj_memprof_closefile(MPFile *f)
{
  if (f->keep != 0) {
    segfile_dropempty(f);
    lj_memprof_forgetnames(f);
  }
  lj_memprof_closeout(f);
}

#endif

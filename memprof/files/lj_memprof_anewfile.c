/*
** Files of recordings that begin anew: the file of a child process, and the
** next one of the same name.
*/

#define lj_memprof_anewfile_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lj_memprof_file.h"

#define ANEWFILE_PID "%p" /* In a name: the number of the process. */

/* -- Names ----------------------------------------------------------------- */

/*
** The path of a name in the file's directory, which stays the same when the
** program changes its own; or NULL. The caller frees it.
*/
static char *anewfile_path(const MPFile *f, const char *name,
                           const char *suffix)
{
  char proc[64], dir[PATH_MAX], *s;
  size_t len;
  ssize_t n;
  snprintf(proc, sizeof(proc), "/proc/self/fd/%d", f->dir);
  n = readlink(proc, dir, sizeof(dir));
  if (n < 0 || (size_t)n >= sizeof(dir)) {
    errno = n < 0 ? errno : ENAMETOOLONG;
    return NULL;
  }
  len = (size_t)n + strlen(name) + strlen(suffix) + 2;
  s = (char *)malloc(len);
  if (s != NULL)
    snprintf(s, len, "%.*s/%s%s", (int)n, dir, name, suffix);
  return s;
}

/* Copies a pattern with the number of the process for each %p of its name. */
static char *anewfile_expand(const char *pattern)
{
  const char *p = strrchr(pattern, '/') + 1, *q;
  char pid[32], *s, *to;
  size_t n = 0, pidlen;
  snprintf(pid, sizeof(pid), "%ld", (long)getpid());
  pidlen = strlen(pid);
  for (q = p; (q = strstr(q, ANEWFILE_PID)) != NULL; q += 2)
    n++;
  s = (char *)malloc(strlen(pattern) + n * pidlen + 1);
  if (s == NULL)
    return NULL;
  memcpy(s, pattern, (size_t)(p - pattern));
  to = s + (p - pattern);
  while ((q = strstr(p, ANEWFILE_PID)) != NULL) {
    memcpy(to, p, (size_t)(q - p));
    to += q - p;
    memcpy(to, pid, pidlen);
    to += pidlen;
    p = q + 2;
  }
  memcpy(to, p, strlen(p) + 1);
  return s;
}

int lj_memprof_anewfile(MPFile *f, const char *pattern)
{
  const char *env = secure_getenv("LJPROF");
  if (f->path != NULL)
    return 1;
  if (!f->regular || !*f->temp) {
    errno = EINVAL;
    return lj_memprof_filefail(
        f, EINVAL, "follow_fork and control are for a regular file");
  }
  if (pattern != NULL &&
      (strchr(pattern, '/') != NULL || strstr(pattern, ANEWFILE_PID) == NULL)) {
    errno = EINVAL;
    return lj_memprof_filefail(
        f, EINVAL, "follow_fork is a file's name with %p, without a directory");
  }
  f->path = anewfile_path(f, f->name, "");
  f->pattern = pattern != NULL ? anewfile_path(f, pattern, "")
                               : anewfile_path(f, f->name, "." ANEWFILE_PID);
  f->loud = env != NULL && *env != '\0';
  if (f->path != NULL && f->pattern != NULL)
    return 1;
  return lj_memprof_filefail(f, errno, NULL);
}

void lj_memprof_forgetanew(MPFile *f)
{
  free(f->path);
  free(f->pattern);
  f->path = f->pattern = NULL;
}

/* -- Opening --------------------------------------------------------------- */

void lj_memprof_leavefor(MPFile *f)
{
  char *path = anewfile_expand(f->pattern);
  lj_memprof_leavefile(f);
  lj_memprof_leavetail(f);
  lj_memprof_forgetnames(f);
  free(f->path);
  f->path = path;
}

int lj_memprof_reopenfile(MPFile *f)
{
  char *path = f->path, *pattern = f->pattern;
  int keep = f->keep, loud = f->loud, good;
  if (path == NULL)
    return lj_memprof_filefail(f, ENOMEM, NULL);
  good = lj_memprof_openfile(f, path);
  f->path = path;
  f->pattern = pattern;
  f->loud = loud;
  if (good && !f->regular)
    good = lj_memprof_filefail(f, EINVAL, "it is no regular file any more");
  if (good && keep > 0)
    good = lj_memprof_checksegments(f, keep);
  f->keep = keep;
  return good;
}

/* -- The end --------------------------------------------------------------- */

void lj_memprof_endfile(MPFile *f)
{
  lj_memprof_closefile(f);
  if (f->en == 0)
    lj_memprof_droptail(f);
  else /* It has what the file could not take. */
    lj_memprof_leavetail(f);
  lj_memprof_forgetnames(f);
  f->fd = f->lock = -1;
}

#endif

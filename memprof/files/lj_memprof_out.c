/*
** Writes blocks to a recording's file. The program may close the descriptor,
** and others may change the file: both are looked at before each block.
*/

#define lj_memprof_out_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "lj_memprof_file.h"
#include "lj_memprof_time.h"

int lj_memprof_filefail(MPFile *f, int en, const char *why)
{
  f->en = en;
  f->why = why;
  return 0;
}

/* -- What the descriptor stands for --------------------------------------- */

void lj_memprof_knowfile(MPFile *f, const struct stat *st)
{
  f->dev = st->st_dev;
  f->ino = st->st_ino;
  f->rdev = st->st_rdev;
  f->regular = S_ISREG(st->st_mode);
  f->named = st->st_nlink > 0;
}

static const char out_closed[] =
    "the program has closed the recording's descriptor";

/* True if the descriptor is not the program's by now. Sets the error. */
static int out_isours(MPFile *f, struct stat *st)
{
  if (fstat(f->fd, st) != 0)
    return lj_memprof_filefail(f, errno, out_closed);
  if (st->st_dev != f->dev || st->st_ino != f->ino || st->st_rdev != f->rdev)
    return lj_memprof_filefail(f, EBADF, out_closed);
  return 1;
}

/* True if no other writer has changed the file. Sets the error. */
static int out_isasleft(MPFile *f)
{
  struct stat st;
  if (!out_isours(f, &st))
    return 0;
  if (!f->regular)
    return 1;
  if (f->named && st.st_nlink == 0)
    return lj_memprof_filefail(f, ENOENT,
                               "the recording's file was deleted or replaced");
  if (st.st_size < f->at)
    return lj_memprof_filefail(f, ESTALE, "the recording's file was truncated");
  if (st.st_size > f->at || (!f->append && lseek(f->fd, 0, SEEK_CUR) != f->at))
    return lj_memprof_filefail(
        f, ESTALE, "somebody else has written to the recording's file");
  return 1;
}

/* -- Signals --------------------------------------------------------------- */

/* The state of this thread's signals before a write. */
typedef struct OutSignals {
  sigset_t mask;
  sigset_t pending;
} OutSignals;

/* Holds back the signals that a write may raise. */
static void out_block(OutSignals *s)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, &s->mask);
  sigpending(&s->pending);
}

/* Takes away what a write that failed has raised, and lets the rest through. */
static void out_unblock(const OutSignals *s, int en)
{
  static const struct timespec now = {0, 0};
  int signo = en == EPIPE ? SIGPIPE : en == EFBIG ? SIGXFSZ : 0;
  sigset_t set;
  if (signo != 0 && !sigismember(&s->pending, signo)) {
    sigemptyset(&set);
    sigaddset(&set, signo);
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
      ;
  }
  pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}

/* -- Writing --------------------------------------------------------------- */

/*
** Waits until a descriptor that does not block can be written to. Returns 0 if
** that takes too long.
*/
static int out_wait(int fd)
{
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  uint64_t until = lj_memprof_deadline();
  uint64_t now = until != 0 ? lj_memprof_now() : 0;
  int ms = until == 0 ? -1 : until > now ? (int)((until - now) / MP_MS) : 0;
  return poll(&p, 1, ms) != 0;
}

/*
** When the process exits, a reader that has stopped reading must not hold it
** up: writes do not block then. Returns the flags to be restored, or -1.
*/
static int out_unblocked(const MPFile *f)
{
  int flags;
  if (f->regular || lj_memprof_deadline() == 0)
    return -1;
  flags = fcntl(f->fd, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) ||
      fcntl(f->fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return -1;
  return flags;
}

/* Writes as much as can be written. Returns how much, and sets *en if less. */
static size_t out_all(const MPFile *f, const char *p, size_t len, int *en)
{
  size_t done = 0;
  while (done < len) {
    ssize_t n = write(f->fd, p + done, len - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!out_wait(f->fd)) {
        *en = ETIMEDOUT;
        break;
      }
    } else if (n == 0 || errno != EINTR) {
      *en = n < 0 ? errno : EIO;
      break;
    }
  }
  return done;
}

/*
** Takes back what was written of a block. Returns 0 if that cannot be done, or
** the file is not as this left it.
*/
static int out_cut(const MPFile *f, size_t done)
{
  struct stat st;
  if (!f->regular)
    return 0;
  if (done == 0)
    return 1;
  if (fstat(f->fd, &st) != 0 || st.st_dev != f->dev || st.st_ino != f->ino ||
      st.st_size != f->at + (off_t)done)
    return 0;
  return ftruncate(f->fd, f->at) == 0 &&
         (f->append || lseek(f->fd, f->at, SEEK_SET) == f->at);
}

size_t lj_memprof_writefile(const void *data, size_t len, void *arg)
{
  MPFile *f = (MPFile *)arg;
  OutSignals signals;
  size_t done;
  int en = 0, flags;
  f->again = 0;
  if (!out_isasleft(f))
    return 0;
  out_block(&signals);
  flags = out_unblocked(f);
  done = out_all(f, (const char *)data, len, &en);
  if (flags >= 0) /* A copy of the descriptor may have other users. */
    fcntl(f->fd, F_SETFL, flags);
  out_unblock(&signals, en);
  if (done == len) {
    f->at += (off_t)len;
    f->en = 0; /* There may have been no space before. */
    return len;
  }
  lj_memprof_filefail(f, en, NULL);
  f->again = out_cut(f, done) && (en == ENOSPC || en == EDQUOT);
  return 0;
}

int lj_memprof_allocfd(int fd, off_t size)
{
  OutSignals signals;
  int en;
  out_block(&signals);
  do
    en = posix_fallocate(fd, 0, size);
  while (en == EINTR);
  out_unblock(&signals, en);
  return en;
}

int lj_memprof_fileagain(void *arg)
{
  return ((const MPFile *)arg)->again;
}

/* -- The end --------------------------------------------------------------- */

/* True if a descriptor still is one of the file. */
static int out_isof(const MPFile *f, int fd)
{
  struct stat st;
  return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == f->dev &&
         st.st_ino == f->ino && st.st_rdev == f->rdev;
}

/*
** In a child of fork(): closes what it has of its parent's file. Else it would
** hold the lock when the parent is gone. arg is an MPFile.
*/
void lj_memprof_forkedfile(void *arg)
{
  MPFile *f = (MPFile *)arg;
  if (f->lock != f->fd && out_isof(f, f->lock))
    close(f->lock);
  if (out_isof(f, f->fd))
    close(f->fd);
  f->fd = f->lock = -1;
  if (f->keep != 0 && f->dir >= 0) {
    close(f->dir);
    f->dir = -1;
  }
}

void lj_memprof_closeout(MPFile *f)
{
  int ours = f->pid == (long)getpid();
  if (f->lock != f->fd && out_isof(f, f->lock)) {
    if (ours) /* A child of fork() may have it open, too. */
      flock(f->lock, LOCK_UN);
    close(f->lock);
  }
  if (!out_isof(f, f->fd)) {
    if (f->en == 0)
      lj_memprof_filefail(f, EBADF, out_closed);
    return;
  }
  if (f->lock == f->fd && ours)
    flock(f->fd, LOCK_UN);
  if (close(f->fd) != 0 && f->en == 0)
    lj_memprof_filefail(f, errno, NULL);
}

#endif

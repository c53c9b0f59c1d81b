/*
** The child process of a heap dump: a copy of the program with one thread, in
** which all locks are as other threads had them. It makes system calls and
** reads memory, and writes to its stack and to memory that it maps.
*/

#define lj_heapchild_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lj_heapfork.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* On all machines; older kernels lack it. */
#endif

#define CHILD_MAXFD (1u << 20) /* Without it, no more are closed. */

/* -- What it has of its parent --------------------------------------------- */

/*
** The program's handlers must not run here; all signals were blocked before.
** SIGTERM is let through, to end it as any other process.
*/
static void child_signals(void)
{
  struct sigaction sa;
  sigset_t set;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &sa, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Closes the descriptors from one to another, both included. */
static void child_closerange(unsigned from, unsigned to)
{
  struct rlimit lim;
  if (syscall(SYS_close_range, from, to, 0u) == 0)
    return;
  if (getrlimit(RLIMIT_NOFILE, &lim) != 0 || lim.rlim_cur > CHILD_MAXFD)
    lim.rlim_cur = CHILD_MAXFD;
  for (; from <= to && from < lim.rlim_cur; from++)
    close((int)from);
}

/*
** Closes what is not needed. A connection that the program closes would stay
** open as long as this process has it.
*/
static void child_close(const MPFork *k)
{
  const MPFile *f = k->f;
  int keep[4] = {k->hostfd, -1, -1, -1};
  unsigned from = 0;
  if (f != NULL) {
    keep[0] = f->fd;
    keep[1] = f->lock;
    keep[2] = f->dir;
    keep[3] = f->old;
  }
  for (;;) {
    unsigned next = ~0u, i;
    for (i = 0; i < 4; i++)
      if (keep[i] >= 0 && (unsigned)keep[i] >= from && (unsigned)keep[i] < next)
        next = (unsigned)keep[i];
    if (next > from)
      child_closerange(from, next == ~0u ? next : next - 1);
    if (next == ~0u)
      return;
    from = next + 1;
  }
}

/*
** When memory runs out, this process is killed, not the program: both have as
** much of it.
*/
static void child_yield(void)
{
  static const char most[] = "1000";
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (write(fd, most, sizeof(most) - 1) < 0)
      errno = 0; /* The process goes on without it. */
    close(fd);
  }
  prctl(PR_SET_NAME, "ljprof-dump");
}

/* -- The dump -------------------------------------------------------------- */

/* A luam_Prof_options.writer: calls that of the dump, and counts its bytes. */
static size_t child_write(const void *data, size_t len, void *arg)
{
  MPFork *k = (MPFork *)arg;
  size_t n = k->writer(data, len, k->arg);
  if (n > 0 && n <= len)
    __atomic_fetch_add(&k->shared->bytes, n, __ATOMIC_RELAXED);
  else
    k->shared->en = errno;
  return n;
}

/* Reports a failure. The parent turns an errno into a message. */
static int child_fail(MPFork *k, int en, const char *why)
{
  MPForkShared *shared = k->shared;
  if (why != NULL)
    strncpy(shared->why, why, sizeof(shared->why) - 1);
  shared->en = en != 0 ? en : EIO;
  shared->state = LUAM_DUMP_FAILED;
  return 0;
}

/* Closes the file, which gets its name if all went well. */
static int child_finish(MPFork *k, int failed)
{
  MPFile *f = k->f;
  if (f == NULL)
    return !failed || child_fail(k, k->shared->en, NULL);
  if (failed || !lj_memprof_renamefile(f))
    return child_fail(k, f->en, f->why);
  if (f->drop != NULL)
    unlink(f->drop);
  lj_memprof_closefile(f);
  return f->en == 0 || child_fail(k, f->en, f->why);
}

/* Writes the dump. Returns 0 if it has failed. */
static int child_dump(MPFork *k, MPDump *d)
{
  void *mem = mmap(NULL, k->bufsize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED)
    return child_fail(k, errno, NULL);
  if (k->f != NULL)
    k->f->pid = (long)getpid();
  lj_wbuf_use(&d->buf, mem, k->bufsize, 1);
  d->buf.writer = child_write;
  d->buf.arg = k;
  lj_heap_write(d);
  if (!child_finish(k, d->buf.error))
    return 0;
  k->shared->state = LUAM_DUMP_DONE;
  return 1;
}

void lj_heap_child(MPFork *k, MPDump *d)
{
  int good;
  child_signals();
  child_close(k);
  child_yield();
  good = child_dump(k, d);
  for (;;)
    syscall(SYS_exit_group, !good);
}

#endif

/*
** Follows a file that is still being written: at its end, waits for more.
**
** The file is polled, which works on every file system. Reading ends with the
** stream's own end, or when a signal comes.
*/

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "progress.h"

#define SECOND       UINT64_C(1000000000)
#define FOLLOW_SLEEP (SECOND / 20)

/* A signal asked to end. */
static volatile sig_atomic_t follow_stop;

/* The first signal ends in order, a second one at once. */
static void follow_signal(int signo)
{
  (void)signo;
  follow_stop = 1;
}

/* Handle a signal, unless the parent process has set it to be ignored. */
static void follow_take(int signo)
{
  struct sigaction old,
      sa = {.sa_handler = follow_signal, .sa_flags = (int)SA_RESETHAND};
  if (sigaction(signo, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
    sigaction(signo, &sa, NULL);
}

void lp_follow_open(LpFollow *f, const char *name, int fd, double seconds)
{
  memset(f, 0, sizeof(*f));
  f->fd = fd;
  f->name = name;
  f->every = (uint64_t)(seconds * (double)SECOND);
  f->start = lp_progress_now();
  f->due = f->start + f->every;
  follow_take(SIGINT);
  follow_take(SIGTERM);
}

void lp_follow_next(LpFollow *f, int fd)
{
  f->older += f->bytes;
  f->bytes = f->shown = 0;
  f->nhead = 0;
  f->in = NULL;
  f->fd = fd;
}

void lp_follow_heading(LpBuf *b, const LpFollow *f, int last)
{
  double seconds = (double)(lp_progress_now() - f->start) / (double)SECOND;
  lp_buf_printf(b, "===== %.1f seconds, %" PRIu64 " bytes%s\n", seconds,
                f->older + f->bytes, last ? ", the last" : "");
}

/* -- Is it still the same file? ------------------------------------------- */

/* Does it begin as it did? A recorder that is started again may have written
** more by now than there was.
*/
static int follow_begins(const LpFollow *f)
{
  uint8_t head[LP_FOLLOW_HEAD];
  return pread(f->fd, head, f->nhead, 0) == (ssize_t)f->nhead &&
         memcmp(head, f->head, f->nhead) == 0;
}

/* What happened to the content of the file, or NULL. */
static const char *follow_rewritten(const LpFollow *f)
{
  struct stat st;
  if (fstat(f->fd, &st) != 0)
    return NULL;
  if ((uint64_t)st.st_size < f->bytes)
    return "it was truncated while it was followed";
  return follow_begins(f) ? NULL : "it was written anew while it was followed";
}

/* What happened to the file under its name, or NULL. */
static const char *follow_moved(const LpFollow *f)
{
  struct stat mine, named;
  if (stat(f->name, &named) != 0)
    return errno == ENOENT ? "it was removed while it was followed" : NULL;
  if (fstat(f->fd, &mine) == 0 &&
      (named.st_dev != mine.st_dev || named.st_ino != mine.st_ino))
    return "it was replaced while it was followed";
  return NULL;
}

/* -- Reading -------------------------------------------------------------- */

/* Call show if it is due and there is new data. */
static void follow_show(LpFollow *f)
{
  uint64_t now = lp_progress_now();
  if (now < f->due || f->bytes == f->shown || !f->show || f->stop)
    return;
  f->shown = f->bytes;
  f->show(f->ctx);
  f->due = lp_progress_now() + f->every;
}

/* Wait for a poll interval, or less if show is due before. */
static void follow_sleep(const LpFollow *f)
{
  uint64_t now = lp_progress_now(), ns = FOLLOW_SLEEP;
  struct timespec t = {0};
  if (f->bytes != f->shown && now < f->due && f->due - now < ns)
    ns = f->due - now;
  t.tv_nsec = (long)ns;
  nanosleep(&t, NULL);
}

int lp_follow_wait(const LpFollow *f)
{
  struct timespec t = {0, (long)FOLLOW_SLEEP};
  if (!f->stop && !follow_stop)
    nanosleep(&t, NULL);
  return !f->stop && !follow_stop;
}

/* N bytes were read. */
static void follow_came(LpFollow *f, const void *buf, size_t n)
{
  size_t more = LP_FOLLOW_HEAD - f->nhead;
  more = more < n ? more : n;
  memcpy(f->head + f->nhead, buf, more);
  f->nhead += more;
  f->bytes += n;
}

/* Is the end reached? After a signal, only data written before it is read. */
static int follow_done(LpFollow *f)
{
  struct stat st;
  if (follow_stop && !f->stop) {
    f->stop = 1;
    f->end = fstat(f->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
  }
  return f->stop && f->bytes >= f->end;
}

/* Read from the file, or wait for data. After a wait, the data may belong to
** another recording.
*/
ssize_t lp_follow_read(void *ctx, void *buf, size_t n)
{
  LpFollow *f = ctx;
  int waited = 0;
  while (!follow_done(f)) {
    ssize_t r;
    follow_show(f);
    r = lp_input_read_fd(f->fd, buf, n);
    if (r < 0)
      return r;
    if (r == 0 && f->in && f->in->complete)
      break;
    if (r == 0 || waited)
      f->why = follow_rewritten(f);
    if (r == 0 && !f->why)
      f->why = follow_moved(f);
    if (f->why) {
      errno = ESTALE;
      return -1;
    }
    if (r > 0) {
      follow_came(f, buf, (size_t)r);
      return r;
    }
    follow_sleep(f);
    waited = 1;
  }
  return 0;
}

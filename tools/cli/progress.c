/*
** Progress of reading: one line on the terminal, erased at the end.
*/

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "progress.h"
#include "printable.h"
#include "text.h"

#define SECOND         UINT64_C(1000000000)
#define PROGRESS_AFTER SECOND       /* No progress before that. */
#define PROGRESS_EVERY (SECOND / 5) /* Shortest interval of redrawing. */
#define PROGRESS_WIDTH 80           /* Of a terminal without a known width. */

/* One terminal for all files. */
static struct {
  uint64_t start; /* When the first file was begun, or 0. */
  size_t width;   /* Columns of the line that is there now. */
} progress;

uint64_t lp_progress_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* -- What it says --------------------------------------------------------- */

/* A duration: 59 s, 1:05, 1:00:05. */
static void progress_time(LpBuf *b, uint64_t s)
{
  if (s < 60)
    lp_buf_printf(b, "%" PRIu64 " s", s);
  else if (s < 3600)
    lp_buf_printf(b, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
  else
    lp_buf_printf(b, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
                  s / 60 % 60, s % 60);
}

/* Append the text of the line: bytes read, rate, and the remaining time if it
** is known. NOW is in nanoseconds.
*/
static void progress_text(LpBuf *b, const LpProgress *p, uint64_t now)
{
  double ns = now > p->start ? (double)(now - p->start) : 1;
  double rate = (double)p->bytes / ns * (double)SECOND;
  lp_printable(b, (LpStr){p->name, strlen(p->name)});
  lp_buf_puts(b, ": ");
  lp_text_size(b, p->bytes, 1);
  if (p->size && p->bytes <= p->size) {
    lp_buf_puts(b, " of ");
    lp_text_size(b, p->size, 1);
    lp_buf_printf(b, ", %.0f%%", 100.0 * (double)p->bytes / (double)p->size);
  }
  lp_buf_puts(b, ", ");
  lp_text_size(b, (uint64_t)rate, 1);
  lp_buf_puts(b, "/s");
  if (p->size && p->bytes <= p->size && p->bytes) {
    lp_buf_puts(b, ", ");
    progress_time(b, (uint64_t)((double)(p->size - p->bytes) / rate + 0.5));
    lp_buf_puts(b, " left");
  }
}

/* -- The line ------------------------------------------------------------- */

/* Columns of the terminal. */
static size_t progress_columns(void)
{
  struct winsize w;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
    return PROGRESS_WIDTH;
  return w.ws_col;
}

/* Replace the line by S. The next output overwrites it. */
static void progress_put(const char *s)
{
  size_t n = strlen(s), most = progress_columns() - 1;
  int len = (int)(n < most ? n : most);
  int blank = progress.width > (size_t)len ? (int)progress.width - len : 0;
  fprintf(stderr, "\r%.*s%*s\r", len, s, blank, "");
  progress.width = (size_t)len;
}

void lp_progress_clear(void)
{
  if (progress.width)
    progress_put("");
}

/* Draw it, if it is time to. */
static void progress_draw(LpProgress *p)
{
  uint64_t now = lp_progress_now();
  LpBuf b = {0};
  if (now - progress.start < PROGRESS_AFTER ||
      now - p->drawn < PROGRESS_EVERY || !isatty(STDERR_FILENO))
    return;
  p->drawn = now;
  progress_text(&b, p, now);
  progress_put(b.s);
  lp_buf_free(&b);
}

void lp_progress_open(LpProgress *p, const char *name, int fd)
{
  struct stat st;
  off_t at = lseek(fd, 0, SEEK_CUR);
  memset(p, 0, sizeof(*p));
  p->name = name;
  p->fd = fd;
  p->start = lp_progress_now();
  if (!progress.start)
    progress.start = p->start;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && at >= 0 && st.st_size > at)
    p->size = (uint64_t)(st.st_size - at);
}

ssize_t lp_progress_read(void *ctx, void *buf, size_t n)
{
  LpProgress *p = ctx;
  ssize_t r = lp_input_read_fd(p->fd, buf, n);
  p->bytes += r > 0 ? (uint64_t)r : 0;
  if (r > 0)
    progress_draw(p);
  return r;
}

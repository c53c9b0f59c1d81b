/*
** Buffered output to a file descriptor, which keeps the first error.
*/

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "out.h"

#define OUT_SIZE (64u << 10)

void lp_out_open(LpOut *o, int fd)
{
  memset(o, 0, sizeof(*o));
  o->fd = fd;
}

/* Write the buffer. After an error, see o->error, nothing is written. */
static void out_flush(LpOut *o, int last)
{
  size_t done = 0;
  if (o->fd < 0)
    return;
  if (o->before)
    o->before(o, last);
  while (done < o->buf.n && !o->error) {
    ssize_t n = write(o->fd, o->buf.s + done, o->buf.n - done);
    if (n > 0)
      done += (size_t)n;
    else if (n == 0 || errno != EINTR)
      o->error = n ? errno : EIO;
  }
  o->buf.n = 0;
}

void lp_out_step(LpOut *o)
{
  if (o->buf.n >= OUT_SIZE)
    out_flush(o, 0);
}

void lp_out_puts(LpOut *o, const char *s)
{
  lp_buf_puts(&o->buf, s);
  lp_out_step(o);
}

void lp_out_close(LpOut *o)
{
  out_flush(o, 1);
  lp_buf_free(&o->buf);
}

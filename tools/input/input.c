/*
** Buffered input from any source, in bounded memory.
*/

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "mem.h"

#define INPUT_SIZE (256u << 10)

void lp_input_open(LpInput *in, LpReadFn read, void *src)
{
  memset(in, 0, sizeof(*in));
  in->size = INPUT_SIZE;
  in->buf = lp_alloc(in->size + LP_SLACK);
  in->p = in->end = in->buf;
  in->read = read;
  in->src = src;
}

ssize_t lp_input_read_fd(int fd, void *buf, size_t n)
{
  ssize_t r;
  do
    r = read(fd, buf, n);
  while (r < 0 && errno == EINTR);
  return r;
}

/* Read from a file descriptor. */
static ssize_t input_read(void *src, void *buf, size_t n)
{
  return lp_input_read_fd((int)(intptr_t)src, buf, n);
}

void lp_input_fd(LpInput *in, int fd)
{
  lp_input_open(in, input_read, (void *)(intptr_t)fd);
}

void lp_input_memory(LpInput *in, const void *p, size_t n)
{
  memset(in, 0, sizeof(*in));
  in->size = n;
  in->buf = lp_alloc(n + LP_SLACK);
  if (n)
    memcpy(in->buf, p, n);
  memset(in->buf + n, 0, LP_SLACK);
  in->p = in->buf;
  in->end = in->buf + n;
  in->eof = 1;
}

void lp_input_close(LpInput *in)
{
  free(in->buf);
  memset(in, 0, sizeof(*in));
}

/* Make room behind the last byte: move what is left to the front, or double
** the buffer if too much is left for that to be cheap. So the buffer grows
** only with bytes that came, whatever length a stream claims.
*/
static void input_room(LpInput *in)
{
  size_t left = (size_t)(in->end - in->p);
  in->base = lp_input_offset(in);
  memmove(in->buf, in->p, left);
  if (left > in->size / 3 * 2) {
    in->size *= 2;
    in->buf = lp_realloc(in->buf, in->size + LP_SLACK, 1);
  }
  in->p = in->buf;
  in->end = in->buf + left;
}

size_t lp_input_fill(LpInput *in, size_t n)
{
  while (!in->eof && (size_t)(in->end - in->p) < n) {
    uint8_t *to;
    ssize_t r;
    if (in->end == in->buf + in->size)
      input_room(in);
    to = in->buf + (in->end - in->buf);
    r = in->read(in->src, to, (size_t)(in->buf + in->size - to));
    if (r <= 0) {
      in->error = r < 0 ? errno : 0;
      in->eof = 1;
    } else {
      in->end = to + r;
    }
    memset(in->buf + (in->end - in->buf), 0, LP_SLACK);
  }
  return (size_t)(in->end - in->p);
}

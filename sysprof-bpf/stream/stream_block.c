/*
** A growing buffer, and the blocks of a stream that are written from it.
*/

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ljm_block.h"
#include "ljm_format.h"
#include "stream_block.h"

/* -- Bytes ---------------------------------------------------------------- */

void ls_buffer_add(LsBuffer *b, const void *p, size_t n)
{
  if (n > b->cap - b->n) {
    size_t cap = b->cap ? b->cap : 256;
    uint8_t *q;
    while (cap - b->n < n)
      cap *= 2;
    q = realloc(b->p, cap);
    if (!q) {
      b->bad = 1;
      return;
    }
    b->p = q;
    b->cap = cap;
  }
  if (n)
    memcpy(b->p + b->n, p, n);
  b->n += n;
}

void ls_buffer_byte(LsBuffer *b, unsigned byte)
{
  uint8_t c = (uint8_t)byte;
  ls_buffer_add(b, &c, 1);
}

void ls_buffer_uleb(LsBuffer *b, uint64_t v)
{
  uint8_t leb[LJM_ULEB_MAX];
  ls_buffer_add(b, leb, (size_t)(ljm_putuleb(leb, v) - leb));
}

void ls_buffer_string(LsBuffer *b, const char *s, size_t n)
{
  n = n < LJM_NAME_MAX ? n : LJM_NAME_MAX;
  ls_buffer_uleb(b, n);
  ls_buffer_add(b, s, n);
}

/* -- Blocks --------------------------------------------------------------- */

void ls_block_write(LsBlock *k, const void *p, size_t n)
{
  const uint8_t *from = p;
  while (n && !k->error) {
    ssize_t done = write(k->fd, from, n);
    if (done > 0) {
      from += done;
      n -= (size_t)done;
    } else if (done == 0) {
      k->error = EIO;
    } else if (errno == EAGAIN) {
      struct pollfd wait = {.fd = k->fd, .events = POLLOUT};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      k->error = errno;
    }
  }
}

void ls_block_begin(LsBlock *k)
{
  static const uint8_t none[LJM_BLOCK_HEADER];
  ls_buffer_add(&k->b, none, sizeof(none));
}

void ls_block_flush(LsBlock *k)
{
  LsBuffer *b = &k->b;
  if (b->bad && !k->error)
    k->error = ENOMEM;
  if (b->n && !k->error) {
    ljm_block_seal(b->p, b->n - LJM_BLOCK_HEADER, k->before);
    ls_block_write(k, b->p, b->n);
    if (!k->error)
      k->written += k->fresh;
  }
  k->before += k->fresh;
  k->fresh = 0;
  b->n = 0;
}

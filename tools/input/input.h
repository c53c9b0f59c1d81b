/*
** Buffered input from any source, in bounded memory.
**
** A reader asks for what it wants to look at, looks, and skips it. Behind the
** last byte that is there LP_SLACK zero bytes can be read, so that an item can
** be decoded first and checked against the end once.
*/

#ifndef LP_INPUT_H
#define LP_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LP_SLACK 64

/* As read(2): bytes read, 0 at the end, -1 and errno. */
typedef ssize_t (*LpReadFn)(void *src, void *buf, size_t n);

typedef struct LpInput {
  const uint8_t *p;   /* The next byte. */
  const uint8_t *end; /* Behind the last byte in the buffer. */
  uint8_t *buf;
  size_t size;   /* Of the buffer, without the slack. */
  uint64_t base; /* Offset of buf[0] in the stream. */
  LpReadFn read;
  void *src;
  int eof;
  int error;           /* errno of a failed read, which also ends the stream. */
  int complete;        /* The stream's end was read: do not wait for more. */
  struct LpTail *tail; /* What may follow where the stream is cut, or NULL. */
} LpInput;

/* As read(2), but repeated after EINTR. */
ssize_t lp_input_read_fd(int fd, void *buf, size_t n);

/* A stream of the bytes that READ returns. The caller owns SRC, which must
** outlive IN.
*/
void lp_input_open(LpInput *in, LpReadFn read, void *src);

/* A stream from a file, pipe or socket. The caller closes FD. */
void lp_input_fd(LpInput *in, int fd);

/* A stream of the N bytes at P, which are copied. */
void lp_input_memory(LpInput *in, const void *p, size_t n);

/* Free the buffer. File descriptors stay open. */
void lp_input_close(LpInput *in);

/* As lp_input_want, if there are fewer than N bytes in the buffer. */
size_t lp_input_fill(LpInput *in, size_t n);

/* Offset in the stream of the next byte. */
static inline uint64_t lp_input_offset(const LpInput *in)
{
  return in->base + (uint64_t)(in->p - in->buf);
}

/* How many bytes have come, of this stream or all of it. */
static inline uint64_t lp_input_came(const LpInput *in)
{
  return in->base + (uint64_t)(in->end - in->buf);
}

/* Try to have N bytes in the buffer; returns how many there are, which is less
** than N only when the stream ends there.
*/
static inline size_t lp_input_want(LpInput *in, size_t n)
{
  size_t have = (size_t)(in->end - in->p);
  return have >= n ? have : lp_input_fill(in, n);
}

/* Leave N bytes behind, which must be in the buffer. */
static inline void lp_input_skip(LpInput *in, size_t n)
{
  in->p += n;
}

#endif

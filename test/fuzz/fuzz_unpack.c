/*
** Any bytes in front of what unpacks them, and that in front of the reader.
*/

#include <string.h>

#include "fuzz.h"
#include "unpack.h"

/* Few bytes can be packed zeros without end: nobody needs more of them. */
#define MOST (1u << 20)

/* The packed bytes, which come STEP at a time. */
typedef struct Drip {
  const uint8_t *p;
  size_t n, step;
} Drip;

static ssize_t drip_read(void *ctx, void *buf, size_t n)
{
  Drip *d = ctx;
  n = n < d->step ? n : d->step;
  n = n < d->n ? n : d->n;
  memcpy(buf, d->p, n);
  d->p += n;
  d->n -= n;
  return (ssize_t)n;
}

/* What was unpacked, up to a limit. */
typedef struct Some {
  LpUnpack *u;
  size_t left;
} Some;

static ssize_t some_read(void *ctx, void *buf, size_t n)
{
  Some *s = ctx;
  ssize_t r = lp_unpack_read(s->u, buf, n < s->left ? n : s->left);
  s->left -= r > 0 ? (size_t)r : 0;
  return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  Drip d = {p, n, n % 3 ? n : 5};
  Some s = {lp_unpack_open(drip_read, &d), MOST};
  LpInput in;
  lp_input_open(&in, some_read, &s);
  fuzz_input(&in, n);
  lp_unpack_close(s.u);
  return 0;
}

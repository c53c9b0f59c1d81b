/*
** Any bytes as the contents of version 0x10's blocks: a fuzzer would not guess
** checksums. A byte 0xfe ends a block; the one behind it tells how many events
** were lost before the next.
*/

#include <string.h>

#include "fuzz.h"
#include "craft.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  Craft c;
  craft_open(&c, 0x7f0000000000);
  while (n) {
    const uint8_t *end = memchr(p, 0xfe, n);
    size_t len = end ? (size_t)(end - p) : n;
    lp_buf_add(&c.block, p, len);
    craft_flush(&c);
    p += len;
    n -= len;
    if (n >= 2)
      c.events += p[1];
    p += n < 2 ? n : 2;
    n -= n < 2 ? n : 2;
  }
  fuzz_stream(c.out.s, c.out.n);
  craft_close(&c);
  return 0;
}

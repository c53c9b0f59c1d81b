/*
** Any bytes as the contents of blocks of a heap dump.
*/

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  Craft c;
  craft_open(&c, 0x7f0000000000);
  c.out.s[c.out.n - 5] = 'd';
  fuzz_contents(&c, p, n);
  return 0;
}

/*
** Any bytes as the contents of version 0x10's blocks, of CPU profiles.
*/

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  Craft c;
  craft_open_cpu(&c);
  fuzz_contents(&c, p, n);
  return 0;
}

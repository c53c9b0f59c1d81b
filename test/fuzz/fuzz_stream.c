/*
** Any bytes, as they are: prologues, all versions, blocks.
*/

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  fuzz_stream(p, n);
  return 0;
}

/*
** Any bytes as an ELF file.
*/

#include "fuzz.h"
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  fuzz_image(p, n);
  return 0;
}

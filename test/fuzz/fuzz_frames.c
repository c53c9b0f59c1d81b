/*
** Any bytes as .eh_frame, in an ELF file that is whole: a fuzzer would spend
** its time on headers.
*/

#include "fuzz.h"
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  LpBuf b = {0};
  fuzz_image_make(&b, p, n);
  fuzz_image(b.s, b.n);
  lp_buf_free(&b);
  return 0;
}

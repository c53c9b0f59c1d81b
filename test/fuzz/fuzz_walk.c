/*
** A stack's registers, memory and tables from bytes: the unwinder that is also
** the BPF program's.
*/

#include "anywalk.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  anywalk(p, n);
  return 0;
}

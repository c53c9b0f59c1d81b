/*
** Any bytes as the tail of a recording that ends too early. Its META was lost,
** so that a tail with zeros for the recording's identity is its own.
*/

#include "fuzz.h"
#include "tail.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
  LpTail tail = {0};
  LpInput in;
  Craft c;
  craft_open(&c, 1); /* As the seeds. */
  lp_tail_parse(&tail, p, n);
  lp_input_memory(&in, c.out.s, c.out.n);
  in.tail = &tail;
  fuzz_input(&in, n);
  lp_tail_close(&tail);
  craft_close(&c);
  return 0;
}

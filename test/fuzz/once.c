/*
** Runs a fuzz target once for each file, where there is no libFuzzer.
*/

#include <stdio.h>

#include "fuzz.h"
#include "mem.h"

int main(int argc, char **argv)
{
  int i;
  for (i = 1; i < argc; i++) {
    LpBuf b = {0};
    char buf[4096];
    size_t n;
    FILE *f = fopen(argv[i], "r");
    if (!f)
      return 2;
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
      lp_buf_add(&b, buf, n);
    fclose(f);
    LLVMFuzzerTestOneInput((const uint8_t *)b.s, b.n);
    lp_buf_free(&b);
  }
  return 0;
}

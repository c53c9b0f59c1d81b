/*
** What tests do to recordings and heap dumps.
*/

#include <string.h>

#include "harm.h"

const HarmInfo harm_info[HARM_FLIP + 1] = {[HARM_ZEROS] = {.lost = 1},
                                           [HARM_TWICE] = {.behind = 1},
                                           [HARM_GONE] = {.lost = 1},
                                           [HARM_JUNK] = {.lost = 0},
                                           [HARM_FLIP] = {.lost = 1}};

LpBuf harm_bytes(const void *s, size_t n, size_t at, size_t end, Harm harm)
{
  const char *p = s;
  LpBuf b = {0};
  lp_buf_add(&b, p, at);
  if (harm == HARM_JUNK)
    lp_buf_add(&b, HARM_JUNK_BYTES, sizeof(HARM_JUNK_BYTES) - 1);
  if (harm != HARM_GONE)
    lp_buf_add(&b, p + at, end - at);
  if (harm == HARM_ZEROS)
    memset(b.s + at, 0, end - at);
  if (harm == HARM_TWICE)
    lp_buf_add(&b, p + at, end - at);
  if (harm >= HARM_FLIP) {
    size_t i = (size_t)(harm - HARM_FLIP);
    if (i > LJM_BLOCK_HEADER)
      i = i == LJM_BLOCK_HEADER + 1 ? (end - at) / 2 : end - at - 1;
    b.s[at + i] ^= 0x55;
  }
  lp_buf_add(&b, p + end, n - end);
  return b;
}

/*
** Bytes -> UTF-8.
*/

#include "utf8.h"

void lp_utf8_add(LpBuf *b, const char *s, size_t n)
{
  size_t i, len;
  for (i = 0; i < n; i += len) {
    int good;
    len = lp_utf8_step(s + i, n - i, &good);
    if (good)
      lp_buf_add(b, s + i, len);
    else
      lp_buf_puts(b, LP_UTF8_BAD);
  }
}

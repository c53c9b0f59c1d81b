/*
** Bytes -> UTF-8.
*/

#include "utf8.h"

/* Add N bytes; each that is part of no character is replaced. */
void lp_utf8_add(LpBuf *b, const char *s, size_t n)
{
  size_t i, len;
  for (i = 0; i < n; i += len ? len : 1) {
    len = lp_utf8_length(s + i, n - i);
    if (len)
      lp_buf_add(b, s + i, len);
    else
      lp_buf_puts(b, LP_UTF8_BAD);
  }
}

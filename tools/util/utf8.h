/*
** UTF-8 validation. Names in streams are any bytes; most output formats allow
** valid UTF-8 only.
*/

#ifndef LP_UTF8_H
#define LP_UTF8_H

#include "mem.h"

#define LP_UTF8_BAD "\xef\xbf\xbd" /* U+FFFD, in place of what is none. */

/* Append N bytes. Invalid sequences become LP_UTF8_BAD. */
void lp_utf8_add(LpBuf *b, const char *s, size_t n);

/* How far to go on at S, of which there are N bytes, at least 1: over a
** character; or, if there is none, *GOOD is 0, over what could have begun one,
** or a byte. Most decoders do the same, so a name is replaced alike everywhere.
*/
static inline size_t lp_utf8_step(const char *s, size_t n, int *good)
{
  const unsigned char *p = (const unsigned char *)s;
  unsigned lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
  unsigned hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
  size_t i, len = p[0] < 0x80                    ? 1
                  : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
                  : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                  : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                 : 0;
  for (i = 1; i < len && i < n && p[i] >= lo && p[i] <= hi; i++) {
    lo = 0x80;
    hi = 0xbf;
  }
  *good = i == len;
  return i;
}

#endif

/*
** Is it UTF-8? Names in streams are any bytes; most formats hold none but
** characters.
*/

#ifndef LP_UTF8_H
#define LP_UTF8_H

#include "mem.h"

#define LP_UTF8_BAD "\xef\xbf\xbd" /* U+FFFD, in place of what is none. */

void lp_utf8_add(LpBuf *b, const char *s, size_t n);

/* The length of the character at S, of which there are N bytes, at least 1; or
** 0 if there is none: neither in more bytes than it needs, nor half of a pair,
** nor beyond U+10FFFF.
*/
static inline size_t lp_utf8_length(const char *s, size_t n)
{
  static const unsigned char least[] = {0x00, 0xa0, 0x90};
  const unsigned char *p = (const unsigned char *)s;
  size_t i, len = p[0] < 0x80                    ? 1
                  : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
                  : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                  : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                 : 0;
  if (len > n)
    return 0;
  for (i = 1; i < len; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  if ((p[0] == 0xe0 || p[0] == 0xf0) && p[1] < least[len - 2])
    return 0;
  if ((p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f))
    return 0;
  return len;
}

#endif

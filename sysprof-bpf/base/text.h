/*
** Which bytes of foreign names are text.
*/

#ifndef LS_TEXT_H
#define LS_TEXT_H

#include <stddef.h>

/* The length of the UTF-8 character at S, of N bytes; 0 if there is none, or
** it controls a terminal.
*/
static inline size_t ls_text_char(const unsigned char *s, size_t n)
{
  size_t len = *s < 0x80   ? 1
               : *s < 0xc2 ? 0
               : *s < 0xe0 ? 2
               : *s < 0xf0 ? 3
                           : 4;
  size_t i;
  if (!len || len > n || *s > 0xf4 || *s < ' ' || *s == 0x7f)
    return 0;
  for (i = 1; i < len; i++)
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  if ((*s == 0xc2 && s[1] < 0xa0) || (*s == 0xe0 && s[1] < 0xa0) ||
      (*s == 0xed && s[1] >= 0xa0) || (*s == 0xf0 && s[1] < 0x90) ||
      (*s == 0xf4 && s[1] >= 0x90))
    return 0;
  return len;
}

#endif

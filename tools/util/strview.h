/*
** String views: bytes of any value that others own.
*/

#ifndef LP_STRVIEW_H
#define LP_STRVIEW_H

#include <stddef.h>
#include <string.h>

/* A view is valid as long as its bytes' owner says; there is no final NUL. */
typedef struct LpStr {
  const char *s;
  size_t n;
} LpStr;

/* Is it this C string? */
static inline int lp_str_is(LpStr s, const char *what)
{
  return s.n == strlen(what) && memcmp(s.s, what, s.n) == 0;
}

#endif

/*
** A bounds-checked cursor over untrusted bytes.
*/

#ifndef LP_LEB_H
#define LP_LEB_H

#include <stddef.h>
#include <stdint.h>

#include "ljm_leb.h"
#include "record.h"

/* A sum, or the largest number if that is less. */
static inline uint64_t lp_sat_add(uint64_t a, uint64_t b)
{
  return a + b < a ? UINT64_MAX : a + b;
}

/* The bytes of a record. Once something is missing all that follows is 0. */
typedef struct LpCursor {
  const uint8_t *p;
  const uint8_t *end;
  unsigned bad;
} LpCursor;

/* The next unsigned integer. */
static inline uint64_t lp_cursor_uleb(LpCursor *c)
{
  return ljm_getuleb(&c->p, c->end, &c->bad);
}

/* The next N bytes. */
static inline const uint8_t *lp_cursor_bytes(LpCursor *c, uint64_t n)
{
  const uint8_t *p = c->p;
  if (n > (uint64_t)(c->end - p)) {
    c->bad = 1;
    c->p = c->end;
    return NULL;
  }
  c->p += n;
  return p;
}

/* The next string. */
static inline LpStr lp_cursor_str(LpCursor *c)
{
  uint64_t n = lp_cursor_uleb(c);
  const uint8_t *p = lp_cursor_bytes(c, n);
  LpStr s = {(const char *)p, p ? (size_t)n : 0};
  return s;
}

#endif

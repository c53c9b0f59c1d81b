/*
** LEB128 integers: a fast decoder that relies on slack, and a bounds-checked
** cursor over untrusted bytes.
*/

#ifndef LP_LEB_H
#define LP_LEB_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* The unsigned integer at *PP. Reads up to LJM_ULEB_MAX bytes, whether they are
** there or not: the caller sees to slack and looks at *PP. More than 64 bits
** set *BAD.
*/
static inline uint64_t lp_uleb(const uint8_t **pp, unsigned *bad)
{
  const uint8_t *p = *pp;
  uint64_t v = *p++;
  if (v >= 0x80) {
    unsigned shift = 7;
    uint64_t b = *p++;
    v = (v & 0x7f) | (b & 0x7f) << 7;
    while (b >= 0x80 && shift < 63) {
      b = *p++;
      shift += 7;
      v |= (b & 0x7f) << shift;
    }
    if (shift == 63 && b > 1)
      *bad = 1;
  }
  *pp = p;
  return v;
}

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
  uint64_t v = 0;
  unsigned shift;
  for (shift = 0; c->p < c->end && shift <= 63; shift += 7) {
    uint64_t b = *c->p++;
    v |= (b & 0x7f) << shift;
    if (shift == 63 && b > 1)
      break;
    if (b < 0x80)
      return v;
  }
  c->bad = 1;
  c->p = c->end;
  return 0;
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

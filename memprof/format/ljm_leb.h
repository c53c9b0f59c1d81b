/*
** Integers of the stream: ULEB128 of up to 64 bits, small ones first; and
** those of fixed size, little endian. Header only, without state.
*/

#ifndef _LJM_LEB_H
#define _LJM_LEB_H

#include <stdint.h>

#define LJM_ULEB_MAX 10 /* Bytes of the longest ULEB128. */

/* -- Signed numbers and addresses ------------------------------------------ */

/* Signed numbers, small ones first. */
static inline uint64_t ljm_zigzag(uint64_t v)
{
  return (v << 1) ^ (0 - (v >> 63));
}

/* The inverse. */
static inline uint64_t ljm_unzigzag(uint64_t v)
{
  return (v >> 1) ^ (0 - (v & 1));
}

/* Addresses are multiples of 8: turned, not shifted, so none is lost. */
static inline uint64_t ljm_turn(uint64_t addr)
{
  return (addr >> 3) | (addr << 61);
}

/* The inverse. */
static inline uint64_t ljm_unturn(uint64_t v)
{
  return (v << 3) | (v >> 61);
}

/* -- Writing --------------------------------------------------------------- */

/* Stores V at P, which has room for LJM_ULEB_MAX bytes; returns its end. Most
** numbers have one or two bytes.
*/
static inline __attribute__((always_inline)) uint8_t *ljm_putuleb(uint8_t *p,
                                                                  uint64_t v)
{
  if (__builtin_expect(v < 0x80, 1)) {
    *p = (uint8_t)v;
    return p + 1;
  }
  if (__builtin_expect(v < 0x4000, 1)) {
    p[0] = (uint8_t)(v | 0x80);
    p[1] = (uint8_t)(v >> 7);
    return p + 2;
  }
  while (v >= 0x80) {
    *p++ = (uint8_t)(v | 0x80);
    v >>= 7;
  }
  *p++ = (uint8_t)v;
  return p;
}

/* Bytes of V as a ULEB128. */
static inline unsigned ljm_uleblen(uint64_t v)
{
  unsigned n = 1;
  for (; v >= 0x80; v >>= 7)
    n++;
  return n;
}

/* Stores the N low bytes of V at P. */
static inline void ljm_putfixed(uint8_t *p, uint64_t v, unsigned n)
{
  for (; n > 0; n--, v >>= 8)
    *p++ = (uint8_t)v;
}

/* -- Reading --------------------------------------------------------------- */

/*
** The number at *PP, which ends before END. One that does not, or has more than
** 64 bits, sets *BAD and is 0; *PP is END then.
*/
static inline uint64_t ljm_getuleb(const uint8_t **pp, const uint8_t *end,
                                   unsigned *bad)
{
  const uint8_t *p = *pp;
  uint64_t v = 0;
  unsigned shift;
  for (shift = 0; p < end && shift <= 63; shift += 7) {
    uint64_t b = *p++;
    v |= (b & 0x7f) << shift;
    if (shift == 63 && b > 1)
      break;
    if (b < 0x80) {
      *pp = p;
      return v;
    }
  }
  *pp = end;
  *bad = 1;
  return 0;
}

/*
** The same without an end, for events, of which there are most: reads up to
** LJM_ULEB_MAX bytes, whether they are there or not. The caller sees to it that
** they can be read, and looks at *PP. More than 64 bits set *BAD.
*/
static inline uint64_t ljm_getuleb_fast(const uint8_t **pp, unsigned *bad)
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

/* The unsigned number of N bytes at P. */
static inline uint64_t ljm_getfixed(const uint8_t *p, unsigned n)
{
  uint64_t v = 0;
  while (n > 0)
    v = v << 8 | p[--n];
  return v;
}

#endif

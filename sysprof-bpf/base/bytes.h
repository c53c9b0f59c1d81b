/*
** Reading bytes that nobody vouches for: a cursor that never leaves its range.
**
** A read past the end gives 0, sets `bad` and leaves the cursor at the end, so
** that a parser can look at `bad` once, and its loops end.
*/

#ifndef LS_BYTES_H
#define LS_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct LsBytes {
  const uint8_t *p;   /* The next byte. */
  const uint8_t *end; /* Behind the last one. */
  int bad;            /* Something was not there, or made no sense. */
} LsBytes;

/* The N bytes at P. */
static inline LsBytes ls_bytes(const void *p, size_t n)
{
  LsBytes b = {p, (const uint8_t *)p + n, 0};
  return b;
}

/* How many bytes are left. */
static inline size_t ls_bytes_left(const LsBytes *b)
{
  return (size_t)(b->end - b->p);
}

/* Nothing that follows can be trusted. */
static inline void ls_bytes_spoil(LsBytes *b)
{
  b->p = b->end;
  b->bad = 1;
}

/* The next N bytes, or NULL. */
static inline const uint8_t *ls_bytes_take(LsBytes *b, uint64_t n)
{
  const uint8_t *p = b->p;
  if (n > ls_bytes_left(b)) {
    ls_bytes_spoil(b);
    return NULL;
  }
  b->p += n;
  return p;
}

/* An unsigned integer of N bytes, at most 8, the lowest byte first. */
static inline uint64_t ls_bytes_u(LsBytes *b, unsigned n)
{
  const uint8_t *p = ls_bytes_take(b, n);
  uint64_t v = 0;
  if (p)
    while (n--)
      v = v << 8 | p[n];
  return v;
}

/* A signed one. */
static inline int64_t ls_bytes_s(LsBytes *b, unsigned n)
{
  unsigned shift = 64 - 8 * n;
  return (int64_t)(ls_bytes_u(b, n) << shift) >> shift;
}

/* A ULEB128; what does not fit into 64 bits is bad. */
static inline uint64_t ls_bytes_uleb(LsBytes *b)
{
  uint64_t v = 0, byte;
  unsigned shift = 0;
  do {
    byte = ls_bytes_u(b, 1);
    if (shift < 64)
      v |= (byte & 0x7f) << shift;
    if (shift >= 63 && (byte & 0x7f) > (shift == 63))
      ls_bytes_spoil(b);
    shift += 7;
  } while (byte & 0x80);
  return v;
}

/* An SLEB128; bits beyond 64 are not looked at. */
static inline int64_t ls_bytes_sleb(LsBytes *b)
{
  uint64_t v = 0, byte;
  unsigned shift = 0;
  do {
    byte = ls_bytes_u(b, 1);
    if (shift < 64)
      v |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (shift < 64 && byte & 0x40)
    v |= ~(uint64_t)0 << shift;
  return (int64_t)v;
}

/* A string that ends with NUL, or NULL. */
static inline const char *ls_bytes_str(LsBytes *b)
{
  const uint8_t *p = b->p, *nul = memchr(p, 0, ls_bytes_left(b));
  if (!nul) {
    ls_bytes_spoil(b);
    return NULL;
  }
  b->p = nul + 1;
  return (const char *)p;
}

#endif

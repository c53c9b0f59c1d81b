/*
** A bounds-checked cursor over untrusted bytes.
**
** A read past the end returns 0, sets `bad` and moves the cursor to the end: a
** parser needs to check `bad` only once, and its loops end. The bytes belong to
** the caller and must live as long as the cursor.
*/

#ifndef LS_CURSOR_H
#define LS_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ljm_leb.h"

typedef struct LsCursor {
  const uint8_t *p;   /* The next byte. */
  const uint8_t *end; /* Behind the last one. */
  unsigned bad;       /* A read failed, or the parser has found an error. */
} LsCursor;

/* A cursor over the N bytes at P. */
static inline LsCursor ls_cursor(const void *p, size_t n)
{
  LsCursor b = {p, (const uint8_t *)p + n, 0};
  return b;
}

/* The number of bytes left. */
static inline size_t ls_cursor_left(const LsCursor *b)
{
  return (size_t)(b->end - b->p);
}

/* Set `bad` and skip the rest: nothing that follows can be trusted. */
static inline void ls_cursor_spoil(LsCursor *b)
{
  b->p = b->end;
  b->bad = 1;
}

/* The next N bytes, or NULL if fewer are left. They belong to the caller. */
static inline const uint8_t *ls_cursor_take(LsCursor *b, uint64_t n)
{
  const uint8_t *p = b->p;
  if (n > ls_cursor_left(b)) {
    ls_cursor_spoil(b);
    return NULL;
  }
  b->p += n;
  return p;
}

/* An unsigned little-endian integer of N bytes, at most 8. */
static inline uint64_t ls_cursor_u(LsCursor *b, unsigned n)
{
  const uint8_t *p = ls_cursor_take(b, n);
  return p ? ljm_getfixed(p, n) : 0;
}

/* A signed little-endian integer of N bytes, from 1 to 8. */
static inline int64_t ls_cursor_s(LsCursor *b, unsigned n)
{
  unsigned shift = 64 - 8 * n;
  return (int64_t)(ls_cursor_u(b, n) << shift) >> shift;
}

/* A ULEB128; `bad` if it does not fit into 64 bits. */
static inline uint64_t ls_cursor_uleb(LsCursor *b)
{
  return ljm_getuleb(&b->p, b->end, &b->bad);
}

/* An SLEB128; bits beyond 64 are ignored. */
static inline int64_t ls_cursor_sleb(LsCursor *b)
{
  uint64_t v = 0, byte;
  unsigned shift = 0;
  do {
    byte = ls_cursor_u(b, 1);
    if (shift < 64)
      v |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (shift < 64 && byte & 0x40)
    v |= ~(uint64_t)0 << shift;
  return (int64_t)v;
}

/* A string with its NUL, or NULL if there is none. It belongs to the caller. */
static inline const char *ls_cursor_str(LsCursor *b)
{
  const uint8_t *p = b->p, *nul = memchr(p, 0, ls_cursor_left(b));
  if (!nul) {
    ls_cursor_spoil(b);
    return NULL;
  }
  b->p = nul + 1;
  return (const char *)p;
}

#endif

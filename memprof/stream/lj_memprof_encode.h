/*
** Writes events in the compact format, as doc/stream-format.md has it. Which
** event it is has been decided in event/. All kinds of events are used: what is
** new is a record, written as lj_memprof_mark is.
*/

#ifndef _LJ_MEMPROF_ENCODE_H
#define _LJ_MEMPROF_ENCODE_H

#include <string.h>

#include "lj_memprof_state.h"
#include "lj_memprof_tail.h"
#include "lj_wbuf.h"

#if LJ_LE
#define MPPUT_7(n, more)                                                       \
  (more) | (n) << 24, (more) | (n) << 24, (more) | (n) << 24,                  \
      (more) | (n) << 24, (more) | (n) << 24, (more) | (n) << 24,              \
      (more) | (n) << 24
/*
** Of integers with a highest bit: the bits that say that bytes go on, and how
** many bytes there are, in the byte behind those that are written.
*/
static const uint32_t mpput_more[21] = {MPPUT_7(1u, 0u), MPPUT_7(2u, 0x80u),
                                        MPPUT_7(3u, 0x8080u)};
#endif

/* An address, recorded relative to another one. Both are turned. */
static LJ_AINLINE uint64_t mpput_delta(uint64_t *from, uint64_t addr)
{
  uint64_t v = ljm_zigzag(addr - *from);
  *from = addr;
  return v;
}

/*
** Appends it. Most have one byte; no processor can guess how many the others
** have.
*/
static LJ_AINLINE uint8_t *mpput_addr(uint8_t *p, uint64_t v)
{
  if (LJ_LIKELY(v < 0x80)) {
    *p = (uint8_t)v;
    return p + 1;
  }
#if LJ_LE
  if (LJ_LIKELY(v < 0x200000)) {
    uint32_t x = (uint32_t)v, more = mpput_more[lj_fls(x)];
    x += x & ~0x7fu;   /* One bit further from the second byte on, */
    x += x & ~0x7fffu; /* and another one from the third. */
    x |= more;
    memcpy(p, &x, sizeof(x));
    return p + (more >> 24);
  }
#endif
  return ljm_putuleb(p, v);
}

/* Appends an event of one block. lastsize is the register of its size. */
static LJ_AINLINE void mpput_block(MPState *mp, int header, uint64_t *lastsize,
                                   uint32_t site, const void *ptr,
                                   uint64_t size)
{
  MPLast *last = &mp->last[header & LJM_KIND_MASK];
  uint64_t addr = ljm_turn((uint64_t)(uintptr_t)ptr);
  uint8_t *h = mp->buf.p, *p = h + 1;
  *h = (uint8_t)(header | LJM_SAMESITE | LJM_SAMESIZE);
  if (site != last->site) {
    *h = (uint8_t)(header | LJM_SAMESIZE);
    p = ljm_putuleb(p, site);
    last->site = site;
  }
  p = mpput_addr(p, mpput_delta(&last->addr, addr));
  if (size != *lastsize) {
    *h &= (uint8_t)~LJM_SAMESIZE;
    p = ljm_putuleb(p, size);
    *lastsize = size;
  }
  mp->buf.p = p;
  mptail_publish(mp, p);
}

/* Appends an allocation. Its type is not known yet. */
static LJ_AINLINE void mpput_alloc(MPState *mp, uint32_t site, const void *ptr,
                                   uint64_t size)
{
  mp->newest.typeat = mp->buf.p;
  mp->newest.o = (GCobj *)ptr;
  mp->newest.size = size;
  mpput_block(mp, LJM_ALLOC, &mp->sizes.alloc[site & (LJM_ALLOCSIZES - 1)],
              site, ptr, size);
}

/*
** The register of a deallocation's size, while the memory still is what it was.
** Objects of a type tend to have the same size; for what is no object, the
** choice does not matter. Code never has the registers of its types: they stay
** zero, so that what has the size in its register is no code.
*/
static LJ_AINLINE uint32_t mpput_class(const void *ptr, uint64_t size)
{
  return size > sizeof(GChead) ? ((const GChead *)ptr)->gct & 15 : 0;
}

/* Appends a deallocation. */
static LJ_AINLINE void mpput_free(MPState *mp, uint32_t site, const void *ptr,
                                  uint64_t size)
{
  uint32_t class = mpput_class(ptr, size);
  if (class == ~LJ_TPROTO || class == ~LJ_TTRACE)
    class = 0;
  mpput_block(mp, LJM_FREE | (int)class << LJM_TYPE_SHIFT,
              &mp->sizes.free[class], site, ptr, size);
}

/* The same at the site of the last one, unless it may be code: returns 0. */
static LJ_AINLINE int mpput_gcfree(MPState *mp, const void *ptr, uint64_t size)
{
  uint64_t addr = ljm_turn((uint64_t)(uintptr_t)ptr);
  uint32_t class = mpput_class(ptr, size);
  uint64_t *lastsize = &mp->sizes.free[class];
  uint64_t *from = &mp->last[LJM_FREE].addr;
  uint32_t header = LJM_FREE | LJM_SAMESITE | class << LJM_TYPE_SHIFT;
  uint8_t *p = mp->buf.p;
  if (LJ_LIKELY(size == *lastsize)) {
    *p = (uint8_t)(header | LJM_SAMESIZE);
    p = mpput_addr(p + 1, mpput_delta(from, addr));
  } else {
    if (LJ_UNLIKELY(class == ~LJ_TPROTO || class == ~LJ_TTRACE))
      return 0;
    *p = (uint8_t)header;
    p = ljm_putuleb(mpput_addr(p + 1, mpput_delta(from, addr)), size);
    *lastsize = size;
  }
  mp->buf.p = p;
  mptail_publish(mp, p);
  return 1;
}

/* Appends a reallocation. The caller publishes it. */
static LJ_AINLINE void mpput_realloc(MPState *mp, uint32_t site,
                                     const void *optr, uint64_t osize,
                                     const void *nptr, uint64_t nsize)
{
  MPLast *last = &mp->last[LJM_REALLOC];
  uint64_t oaddr = ljm_turn((uint64_t)(uintptr_t)optr);
  uint64_t naddr = ljm_turn((uint64_t)(uintptr_t)nptr);
  uint64_t *from = &mp->last[LJM_ALLOC].addr;
  uint8_t *h = mp->buf.p, *p = h + 1;
  int header = LJM_REALLOC | LJM_SAMESITE | LJM_INPLACE;
  if (site != last->site) {
    header &= ~LJM_SAMESITE;
    p = ljm_putuleb(p, site);
    last->site = site;
  }
  p = mpput_addr(p, mpput_delta(from, oaddr));
  if (naddr != oaddr) {
    header &= ~LJM_INPLACE;
    p = mpput_addr(p, mpput_delta(from, naddr));
  }
  p = ljm_putuleb(p, osize);
  p = ljm_putuleb(p, nsize);
  *h = (uint8_t)header;
  mp->buf.p = p;
}

/* Appends a change of the stack. */
static LJ_AINLINE void mpput_change(MPState *mp, uint32_t pops,
                                    const uint32_t *sites, uint32_t n)
{
  uint8_t *p = mp->buf.p;
  uint32_t i;
  *p++ = (uint8_t)LJM_STACK_BYTE(
      pops < LJM_STACK_MOREPOPS ? pops : LJM_STACK_MOREPOPS,
      n < LJM_STACK_MOREPUSHES ? n : LJM_STACK_MOREPUSHES);
  if (pops >= LJM_STACK_MOREPOPS)
    p = ljm_putuleb(p, pops - LJM_STACK_MOREPOPS);
  if (n >= LJM_STACK_MOREPUSHES)
    p = ljm_putuleb(p, n - LJM_STACK_MOREPUSHES);
  for (i = 0; i < n; i++)
    p = ljm_putuleb(p, sites[i]);
  mp->buf.p = p;
}

#endif

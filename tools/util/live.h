/*
** The live map: the origin of the object at an address.
*/

#ifndef LP_LIVE_H
#define LP_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

/* See live.c for how and why. */
#define LIVE_GRANULE 5  /* log2 of the bytes that share a slot. */
#define LIVE_LEAF    17 /* log2 of the slots of a leaf. */
#define LIVE_REGION  (LIVE_GRANULE + LIVE_LEAF)

#define LIVE_NEAR 64 /* Neighbouring regions that are found at once. */

/* A region, and its leaf. */
typedef struct LpLiveNear {
  uint64_t region;
  uint32_t *leaf;
} LpLiveNear;

#define LIVE_OVER 6 /* log2 of the tables that the overflow is split into. */

/* Addresses and their origins, by hash. */
typedef struct LpLiveOver {
  uint64_t *addr;
  uint32_t *origin; /* Origin + 1; 0 is a free place. */
  size_t nplace;
  size_t n; /* Objects in it. */
} LpLiveOver;

typedef struct LpLive {
  /* The page table: leaves by region of address space. */
  LpLiveNear near[LIVE_NEAR]; /* By low bits: the regions looked up last. */
  LpIdMap regions;            /* Numbers of leaves. */
  uint32_t **leaf;
  size_t leaves; /* Room. */
  uint32_t nleaf;
  size_t nslot; /* Objects in leaves. */
  /* The overflow. */
  LpLiveOver over[1 << LIVE_OVER];
  size_t nover; /* Objects in it. */
} LpLive;

/* The origin of the object at ADDR, or LP_NONE. */
uint32_t lp_live_get(LpLive *m, uint64_t addr);

/* As lp_live_put, for a new region or a collision. */
uint32_t lp_live_put_slow(LpLive *m, uint64_t addr, uint32_t origin);

/* As lp_live_take, for an object without a slot. */
uint32_t lp_live_take_slow(LpLive *m, uint64_t addr);

/* Free the memory. */
void lp_live_free(LpLive *m);

/* The leaf of a region that is not in the cache, or NULL. */
uint32_t *lp_live_find(LpLive *m, uint64_t region);

/* The leaf of a region, or NULL. */
static inline uint32_t *lp_live_leaf(LpLive *m, uint64_t region)
{
  const LpLiveNear *near = &m->near[region % LIVE_NEAR];
  return near->region == region ? near->leaf : lp_live_find(m, region);
}

/* Ask for the memory that the next call with ADDR will look at. */
static inline void lp_live_prefetch(LpLive *m, uint64_t addr)
{
  uint32_t *leaf = lp_live_leaf(m, addr >> LIVE_REGION);
  if (leaf)
    __builtin_prefetch(leaf + (addr >> LIVE_GRANULE & ((1u << LIVE_LEAF) - 1)),
                       1);
}

/* The slot of ADDR, or NULL if it has none. */
static inline uint32_t *lp_live_slot(LpLive *m, uint64_t addr)
{
  uint32_t *leaf;
  if (addr & 7)
    return NULL;
  leaf = lp_live_leaf(m, addr >> LIVE_REGION);
  if (!leaf)
    return NULL;
  return leaf + (addr >> LIVE_GRANULE & ((1u << LIVE_LEAF) - 1));
}

/* The two bits of ADDR that a slot keeps. */
static inline uint32_t lp_live_bits(uint64_t addr)
{
  return (uint32_t)(addr >> 3) & 3;
}

/* An object at ADDR now belongs to ORIGIN. Returns whose was there, or
** LP_NONE.
*/
static inline uint32_t lp_live_put(LpLive *m, uint64_t addr, uint32_t origin)
{
  uint32_t *slot = lp_live_slot(m, addr);
  if (!slot || *slot || m->nover)
    return lp_live_put_slow(m, addr, origin);
  *slot = (origin + 1) << 2 | lp_live_bits(addr);
  m->nslot++;
  return LP_NONE;
}

/* The object at ADDR is gone. Returns whose it was, or LP_NONE. */
static inline uint32_t lp_live_take(LpLive *m, uint64_t addr)
{
  uint32_t *slot = lp_live_slot(m, addr);
  if (slot && *slot && (*slot & 3) == lp_live_bits(addr)) {
    uint32_t old = (*slot >> 2) - 1;
    *slot = 0;
    m->nslot--;
    return old;
  }
  return lp_live_take_slow(m, addr);
}

/* The origin of the object at ADDR, or LP_NONE if that is not known at once. */
static inline uint32_t lp_live_look(LpLive *m, uint64_t addr)
{
  const uint32_t *slot = lp_live_slot(m, addr);
  return slot && *slot ? (*slot >> 2) - 1 : LP_NONE;
}

#endif

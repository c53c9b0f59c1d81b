/*
** Where the object at an address came from.
**
** A page table: one 32 bit slot for every 32 bytes of address space, in leaves
** of 512 KiB that cover 4 MiB each and are made when first needed. An allocator
** hands out neighbours one after the other and a collector sweeps them in that
** order, so neighbouring slots are in the cache when they are wanted; a hash
** table would scatter them. Measured before: 6.5 ns an event against 25 to 47.
** LuaJIT's and glibc's allocators on 64 bit machines never begin two objects
** in the same 32 bytes. Where somebody does, or where an address is no multiple
** of 8, the object goes to a hash table behind the page table. A slot keeps
** two bits of the address besides the origin, to tell which object it means.
**
** Sparse heaps, and addresses that a damaged stream made up, must not cost a
** leaf for every object. Leaves may take LIVE_FREE bytes, and LIVE_EACH more
** for every object in a leaf; past that, new regions go to the hash table
** (12 bytes a place, between 3/8 and 3/4 of them taken). So all of it
** takes at most 8 MiB and 40 bytes per object, most often 10 to 16.
*/

#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "mem.h"

#define LIVE_LEAF_BYTES (sizeof(uint32_t) << LIVE_LEAF)
#define LIVE_FREE       (8u << 20)
#define LIVE_EACH       16

/* -- The overflow --------------------------------------------------------- */

/* The place of ADDR, or the free place where it belongs. */
static size_t over_place(const LpLive *m, uint64_t addr)
{
  size_t i = lp_hash_slot(lp_hash_well(addr), m->nplace);
  while (m->origin[i] && m->addr[i] != addr)
    i = i + 1 < m->nplace ? i + 1 : 0;
  return i;
}

/* Half as much room again. */
static void over_rehash(LpLive *m)
{
  LpLive old = *m;
  size_t i;
  m->nplace = m->nplace ? m->nplace / 2 * 3 : 1024;
  m->addr = lp_alloc(m->nplace * sizeof(uint64_t));
  m->origin = lp_zalloc(m->nplace, sizeof(uint32_t));
  for (i = 0; i < old.nplace; i++) {
    if (old.origin[i]) {
      size_t to = over_place(m, old.addr[i]);
      m->addr[to] = old.addr[i];
      m->origin[to] = old.origin[i];
    }
  }
  free(old.addr);
  free(old.origin);
}

/* Set the owner of ADDR; returns the one before. */
static uint32_t over_put(LpLive *m, uint64_t addr, uint32_t origin)
{
  uint32_t old;
  size_t i;
  if (m->nover * 4 >= m->nplace * 3)
    over_rehash(m);
  i = over_place(m, addr);
  old = m->origin[i];
  m->addr[i] = addr;
  m->origin[i] = origin + 1;
  if (old)
    return old - 1;
  m->nover++;
  return LP_NONE;
}

/* As lp_live_take, of an object that has no slot. Those behind it move up, so
** that no hole breaks a chain.
*/
uint32_t lp_live_take_slow(LpLive *m, uint64_t addr)
{
  size_t i, j, home;
  uint32_t old;
  if (!m->nover)
    return LP_NONE;
  i = j = over_place(m, addr);
  old = m->origin[i];
  if (!old)
    return LP_NONE;
  for (;;) {
    j = j + 1 < m->nplace ? j + 1 : 0;
    if (!m->origin[j])
      break;
    home = lp_hash_slot(lp_hash_well(m->addr[j]), m->nplace);
    if (i < j ? home > i && home <= j : home > i || home <= j)
      continue;
    m->addr[i] = m->addr[j];
    m->origin[i] = m->origin[j];
    i = j;
  }
  m->origin[i] = 0;
  m->nover--;
  return old - 1;
}

/* -- The page table ------------------------------------------------------- */

/* The place of a region, or the free place where it belongs. */
static size_t leaf_place(const LpLive *m, uint64_t region)
{
  size_t i = lp_hash_slot(lp_hash(region), m->nregion);
  while (m->leaf[i] && m->region[i] != region)
    i = i + 1 < m->nregion ? i + 1 : 0;
  return i;
}

/* The leaf of a region that is none of those looked up last, or NULL. */
uint32_t *lp_live_find(LpLive *m, uint64_t region)
{
  uint32_t *leaf;
  if (!m->nleaf)
    return NULL;
  leaf = m->leaf[leaf_place(m, region)];
  if (leaf)
    m->near[region % LIVE_NEAR] = (LpLiveNear){region, leaf};
  return leaf;
}

/* Twice the room for leaves. */
static void leaf_rehash(LpLive *m)
{
  LpLive old = *m;
  size_t i;
  m->nregion = m->nregion ? m->nregion * 2 : 64;
  m->region = lp_alloc(m->nregion * sizeof(uint64_t));
  m->leaf = lp_zalloc(m->nregion, sizeof(uint32_t *));
  for (i = 0; i < old.nregion; i++) {
    if (old.leaf[i]) {
      size_t to = leaf_place(m, old.region[i]);
      m->region[to] = old.region[i];
      m->leaf[to] = old.leaf[i];
    }
  }
  free(old.region);
  free(old.leaf);
}

/* A leaf for a region that has none, or NULL where it would be too sparse. */
static uint32_t *leaf_new(LpLive *m, uint64_t region)
{
  size_t i;
  if ((m->nleaf + 1) * LIVE_LEAF_BYTES > LIVE_FREE + m->nslot * LIVE_EACH)
    return NULL;
  if (m->nleaf * 2 >= m->nregion)
    leaf_rehash(m);
  i = leaf_place(m, region);
  m->region[i] = region;
  m->leaf[i] = lp_zalloc(LIVE_LEAF_BYTES, 1);
  m->nleaf++;
  m->near[region % LIVE_NEAR] = (LpLiveNear){region, m->leaf[i]};
  return m->leaf[i];
}

/* -- Both ----------------------------------------------------------------- */

/* As lp_live_put, where no free slot waits: a new region, or a collision. */
uint32_t lp_live_put_slow(LpLive *m, uint64_t addr, uint32_t origin)
{
  uint32_t *slot = lp_live_slot(m, addr), old;
  if (!slot && !(addr & 7)) {
    leaf_new(m, addr >> LIVE_REGION);
    slot = lp_live_slot(m, addr);
  }
  if (!slot || (*slot && (*slot & 3) != lp_live_bits(addr)))
    return over_put(m, addr, origin);
  old = *slot ? (*slot >> 2) - 1 : lp_live_take_slow(m, addr);
  m->nslot += !*slot;
  *slot = (origin + 1) << 2 | lp_live_bits(addr);
  return old;
}

/* Bytes that the map takes. */
size_t lp_live_bytes(const LpLive *m)
{
  return m->nleaf * LIVE_LEAF_BYTES +
         m->nregion * (sizeof(uint64_t) + sizeof(uint32_t *)) +
         m->nplace * (sizeof(uint64_t) + sizeof(uint32_t));
}

/* Give the memory back. */
void lp_live_free(LpLive *m)
{
  size_t i;
  for (i = 0; i < m->nregion; i++)
    free(m->leaf[i]);
  free(m->region);
  free(m->leaf);
  free(m->addr);
  free(m->origin);
  memset(m, 0, sizeof(*m));
}

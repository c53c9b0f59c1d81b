/*
** The live map: the origin of the object at an address.
**
** A page table: one 32 bit slot for every 32 bytes of address space, in leaves
** of 512 KiB that cover 4 MiB each and are made when first needed. An allocator
** hands out neighbours one after the other and a collector sweeps them in that
** order, so neighbouring slots are in the cache when they are wanted; a hash
** table would scatter them. Measured before: 6.5 ns an event against 25 to 47.
** LuaJIT's and glibc's allocators on 64 bit machines never begin two objects in
** the same 32 bytes. Where another one does, or where an address is no multiple
** of 8, the object goes to a hash table behind the page table. A slot keeps two
** bits of the address besides the origin, to identify the object.
**
** Sparse heaps, and addresses that a damaged stream made up, must not cost a
** leaf for every object. Leaves may take LIVE_FREE bytes, and LIVE_EACH more
** for every object in a leaf; past that, new regions go to the hash table. It
** has 12 bytes a place, 7/9 to 7/8 of them taken, and is split into many that
** grow one at a time. So all of it takes at most 8 MiB and 16 bytes for each
** object live at once, most often 8 to 12. Only where all objects leave their
** leaves and others come elsewhere can it be 32, of the most live at once.
** The table of util/idmap.h fits none of this: it takes 32 bytes for an entry
** and more while it grows, and removes nothing. It finds the leaves.
*/

#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "mem.h"

#define LIVE_LEAF_BYTES (sizeof(uint32_t) << LIVE_LEAF)
#define LIVE_FREE       (8u << 20)
#define LIVE_EACH       16

/* -- The overflow --------------------------------------------------------- */

/* Where a hash begins to look. */
static size_t over_home(const LpLiveOver *t, uint64_t hash)
{
  return lp_hash_slot(hash << LIVE_OVER, t->nplace);
}

/* The place of ADDR, or the free place where it belongs. */
static size_t over_place(const LpLiveOver *t, uint64_t addr, uint64_t hash)
{
  size_t i = over_home(t, hash);
  while (t->origin[i] && t->addr[i] != addr)
    i = i + 1 < t->nplace ? i + 1 : 0;
  return i;
}

/* An eighth more room. */
static void over_rehash(LpLiveOver *t)
{
  LpLiveOver old = *t;
  size_t i;
  t->nplace = t->nplace ? t->nplace + t->nplace / 8 : 16;
  t->addr = lp_alloc(t->nplace * sizeof(uint64_t));
  t->origin = lp_zalloc(t->nplace, sizeof(uint32_t));
  for (i = 0; i < old.nplace; i++) {
    if (old.origin[i]) {
      size_t to = over_place(t, old.addr[i], lp_hash_well(old.addr[i]));
      t->addr[to] = old.addr[i];
      t->origin[to] = old.origin[i];
    }
  }
  free(old.addr);
  free(old.origin);
}

/* Set the owner of ADDR; returns the one before. */
static uint32_t over_put(LpLive *m, uint64_t addr, uint32_t origin)
{
  uint64_t hash = lp_hash_well(addr);
  LpLiveOver *t = &m->over[hash >> (64 - LIVE_OVER)];
  uint32_t old;
  size_t i;
  if (t->n * 8 >= t->nplace * 7)
    over_rehash(t);
  i = over_place(t, addr, hash);
  old = t->origin[i];
  t->addr[i] = addr;
  t->origin[i] = origin + 1;
  if (old)
    return old - 1;
  t->n++;
  m->nover++;
  return LP_NONE;
}

/* A place becomes free. Those behind it move up, so that no hole breaks a
** chain.
*/
static void over_clear(LpLiveOver *t, size_t i)
{
  size_t j = i, home;
  for (;;) {
    j = j + 1 < t->nplace ? j + 1 : 0;
    if (!t->origin[j])
      break;
    home = over_home(t, lp_hash_well(t->addr[j]));
    if (i < j ? home > i && home <= j : home > i || home <= j)
      continue;
    t->addr[i] = t->addr[j];
    t->origin[i] = t->origin[j];
    i = j;
  }
  t->origin[i] = 0;
  t->n--;
}

uint32_t lp_live_take_slow(LpLive *m, uint64_t addr)
{
  uint64_t hash = lp_hash_well(addr);
  LpLiveOver *t = &m->over[hash >> (64 - LIVE_OVER)];
  uint32_t old;
  size_t i;
  if (!t->n)
    return LP_NONE;
  i = over_place(t, addr, hash);
  old = t->origin[i];
  if (!old)
    return LP_NONE;
  over_clear(t, i);
  m->nover--;
  return old - 1;
}

/* -- The page table ------------------------------------------------------- */

uint32_t *lp_live_find(LpLive *m, uint64_t region)
{
  uint32_t id = lp_idmap_get(&m->regions, region);
  if (id == LP_NONE)
    return NULL;
  m->near[region % LIVE_NEAR] = (LpLiveNear){region, m->leaf[id]};
  return m->leaf[id];
}

/* Make a leaf for a region that has none, unless it would be too sparse. */
static void leaf_new(LpLive *m, uint64_t region)
{
  uint32_t *leaf;
  if ((m->nleaf + 1) * LIVE_LEAF_BYTES > LIVE_FREE + m->nslot * LIVE_EACH)
    return;
  lp_idmap_put(&m->regions, region, m->nleaf);
  m->leaf = lp_grow(m->leaf, &m->leaves, m->nleaf + 1u, sizeof(m->leaf[0]));
  /* Written at once: a page that is read first is mapped a second time when it
  ** is written, which the other processors must be notified of.
  */
  leaf = memset(lp_alloc(LIVE_LEAF_BYTES), 0, LIVE_LEAF_BYTES);
  m->leaf[m->nleaf++] = leaf;
  m->near[region % LIVE_NEAR] = (LpLiveNear){region, leaf};
}

/* -- Both ----------------------------------------------------------------- */

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

uint32_t lp_live_get(LpLive *m, uint64_t addr)
{
  const uint32_t *slot = lp_live_slot(m, addr);
  uint64_t hash = lp_hash_well(addr);
  const LpLiveOver *t = &m->over[hash >> (64 - LIVE_OVER)];
  if (slot && *slot && (*slot & 3) == lp_live_bits(addr))
    return (*slot >> 2) - 1;
  return t->n ? t->origin[over_place(t, addr, hash)] - 1 : LP_NONE;
}

void lp_live_free(LpLive *m)
{
  size_t i;
  for (i = 0; i < m->nleaf; i++)
    free(m->leaf[i]);
  for (i = 0; i < 1u << LIVE_OVER; i++) {
    free(m->over[i].addr);
    free(m->over[i].origin);
  }
  lp_idmap_free(&m->regions);
  free(m->leaf);
  memset(m, 0, sizeof(*m));
}

/*
** The one hash table: from a stream's own numbers (ids, addresses) to ours.
**
** Tables of anything else keep their entries in an array, in the order they
** came, and the numbers of these in an LpIdMap. Where their keys are longer, it
** has the hashes of the keys, of which two may be equal: lp_idmap_slot compares
** what is behind them. The order of slots depends on the secret of hash.h, so
** nothing walks through them. Nothing is removed; the live map (live.c), which
** must, has tables of its own.
*/

#ifndef LP_IDMAP_H
#define LP_IDMAP_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"

#define LP_NONE UINT32_MAX /* No such number. */

typedef struct LpIdSlot {
  uint64_t key;
  uint32_t value; /* Value + 1; 0 is a free slot. */
} LpIdSlot;

typedef struct LpIdMap {
  LpIdSlot *slot;
  size_t nslot;
  size_t n;
} LpIdMap;

/* Does the value belong to what is looked up, OF, if their keys are equal? */
typedef int (*LpIdSame)(const void *of, uint32_t value);

/* Make room for another key. Pointers to slots become invalid. */
void lp_idmap_room(LpIdMap *m);

/* Set the value of KEY. Returns the previous one, or LP_NONE. */
uint32_t lp_idmap_put(LpIdMap *m, uint64_t key, uint32_t value);

/* The value of KEY, which is VALUE if it had none. */
uint32_t lp_idmap_add(LpIdMap *m, uint64_t key, uint32_t value);

/* Free the memory. The map is empty then. */
void lp_idmap_free(LpIdMap *m);

/* The slot of KEY with a value that is the SAME as OF, or the free slot where
** it belongs: whoever fills that counts it in m->n. SAME may be NULL: no two
** keys are equal. The map must have had room once.
*/
static inline LpIdSlot *lp_idmap_slot(const LpIdMap *m, uint64_t key,
                                      LpIdSame same, const void *of)
{
  size_t i = lp_hash_slot(lp_hash_well(key), m->nslot);
  for (; m->slot[i].value; i = i + 1 < m->nslot ? i + 1 : 0)
    if (m->slot[i].key == key && (!same || same(of, m->slot[i].value - 1)))
      break;
  return &m->slot[i];
}

/* The value of KEY, or LP_NONE. */
static inline uint32_t lp_idmap_get(const LpIdMap *m, uint64_t key)
{
  return m->n ? lp_idmap_slot(m, key, NULL, NULL)->value - 1 : LP_NONE;
}

#endif

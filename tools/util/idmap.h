/*
** A small map from a stream's own numbers (ids, addresses) to ours.
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

/* Set the value of KEY. Returns the previous one, or LP_NONE. */
uint32_t lp_idmap_put(LpIdMap *m, uint64_t key, uint32_t value);

/* Free the memory. The map is empty then. */
void lp_idmap_free(LpIdMap *m);

/* The value of KEY, or LP_NONE. */
static inline uint32_t lp_idmap_get(const LpIdMap *m, uint64_t key)
{
  size_t i;
  if (!m->n)
    return LP_NONE;
  i = lp_hash_slot(lp_hash_well(key), m->nslot);
  for (; m->slot[i].value; i = i + 1 < m->nslot ? i + 1 : 0)
    if (m->slot[i].key == key)
      return m->slot[i].value - 1;
  return LP_NONE;
}

#endif

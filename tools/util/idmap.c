/*
** A small map from a stream's own numbers (ids, addresses) to ours.
*/

#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "mem.h"

/* Insert a key that is not there. */
static void idmap_insert(LpIdMap *m, LpIdSlot s)
{
  size_t i = lp_hash_slot(lp_hash_well(s.key), m->nslot);
  while (m->slot[i].value)
    i = i + 1 < m->nslot ? i + 1 : 0;
  m->slot[i] = s;
}

/* Twice the room. */
static void idmap_rehash(LpIdMap *m)
{
  LpIdSlot *old = m->slot;
  size_t i, n = m->nslot;
  m->nslot = n ? n * 2 : 64;
  m->slot = lp_zalloc(m->nslot, sizeof(LpIdSlot));
  for (i = 0; i < n; i++)
    if (old[i].value)
      idmap_insert(m, old[i]);
  free(old);
}

/* Set the value of KEY; returns the old one, or LP_NONE. */
uint32_t lp_idmap_put(LpIdMap *m, uint64_t key, uint32_t value)
{
  size_t i;
  uint32_t old;
  if (m->n * 2 >= m->nslot)
    idmap_rehash(m);
  i = lp_hash_slot(lp_hash_well(key), m->nslot);
  for (; m->slot[i].value; i = i + 1 < m->nslot ? i + 1 : 0) {
    if (m->slot[i].key == key) {
      old = m->slot[i].value - 1;
      m->slot[i].value = value + 1;
      return old;
    }
  }
  m->slot[i] = (LpIdSlot){.key = key, .value = value + 1};
  m->n++;
  return LP_NONE;
}

/* Give the memory back. */
void lp_idmap_free(LpIdMap *m)
{
  free(m->slot);
  memset(m, 0, sizeof(*m));
}

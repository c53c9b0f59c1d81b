/*
** The one hash table: from a stream's own numbers (ids, addresses) to ours.
*/

#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "mem.h"

uint64_t lp_hash_secret = 0x9e3779b97f4a7c15u;

/* In a table that is made anew, equal keys are of different things. */
static int idmap_never(const void *of, uint32_t value)
{
  (void)of, (void)value;
  return 0;
}

void lp_idmap_room(LpIdMap *m)
{
  LpIdMap old = *m;
  size_t i;
  if (m->n * 2 < m->nslot)
    return;
  m->nslot = m->nslot ? m->nslot * 2 : 64;
  m->slot = lp_zalloc(m->nslot, sizeof(LpIdSlot));
  for (i = 0; i < old.nslot; i++)
    if (old.slot[i].value)
      *lp_idmap_slot(m, old.slot[i].key, idmap_never, NULL) = old.slot[i];
  free(old.slot);
}

uint32_t lp_idmap_put(LpIdMap *m, uint64_t key, uint32_t value)
{
  LpIdSlot *s, old;
  lp_idmap_room(m);
  s = lp_idmap_slot(m, key, NULL, NULL);
  old = *s;
  m->n += !old.value;
  *s = (LpIdSlot){.key = key, .value = value + 1};
  return old.value - 1;
}

uint32_t lp_idmap_add(LpIdMap *m, uint64_t key, uint32_t value)
{
  LpIdSlot *s;
  lp_idmap_room(m);
  s = lp_idmap_slot(m, key, NULL, NULL);
  if (!s->value) {
    m->n++;
    *s = (LpIdSlot){.key = key, .value = value + 1};
  }
  return s->value - 1;
}

void lp_idmap_free(LpIdMap *m)
{
  free(m->slot);
  memset(m, 0, sizeof(*m));
}

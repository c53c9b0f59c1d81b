/*
** Overridden allocations: how often each site reallocated or freed objects, by
** the site that allocated them.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "overrides.h"

/* Twice the room. */
void lp_overrides_grow(LpOverrides *t)
{
  LpOverride *old = t->entry;
  size_t i, n = t->size;
  t->size = n ? n * 2 : 256;
  t->entry = lp_zalloc(t->size, sizeof(LpOverride));
  for (i = 0; i < n; i++) {
    size_t to = lp_hash_slot(lp_hash_well(old[i].key), t->size);
    if (!old[i].key)
      continue;
    while (t->entry[to].key)
      to = to + 1 < t->size ? to + 1 : 0;
    t->entry[to] = old[i];
  }
  free(old);
}

/* Give the memory back. */
void lp_overrides_free(LpOverrides *t)
{
  free(t->entry);
  memset(t, 0, sizeof(*t));
}

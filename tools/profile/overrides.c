/*
** Overridden allocations: how often each site reallocated or freed objects, by
** the site that allocated them.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "overrides.h"

LpWeight *lp_overrides_new(LpOverrides *t, uint64_t key)
{
  LpOverride *e;
  lp_idmap_put(&t->ids, key, t->n);
  t->entry = lp_grow(t->entry, &t->entries, t->n + 1u, sizeof(LpOverride));
  e = &t->entry[t->n++];
  e->key = key;
  return &e->w;
}

void lp_overrides_free(LpOverrides *t)
{
  lp_idmap_free(&t->ids);
  free(t->entry);
  memset(t, 0, sizeof(*t));
}

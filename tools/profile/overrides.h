/*
** Overridden allocations: how often each site reallocated or freed objects, by
** the site that allocated them.
*/

#ifndef LP_OVERRIDES_H
#define LP_OVERRIDES_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"
#include "weight.h"

typedef struct LpOverride {
  uint64_t key; /* One bit for the event, 30 for BY, 32 for OF. */
  LpWeight w;   /* How many objects, of how many bytes. */
} LpOverride;

typedef struct LpOverrides {
  LpIdMap ids;       /* Their numbers, by key. */
  LpOverride *entry; /* In the order of their first use. */
  size_t entries;    /* Room. */
  uint32_t n;
} LpOverrides;

#define LP_OVERRIDE_REALLOC     ((uint64_t)1 << 62)
#define LP_OVERRIDE_BY(key)     ((uint32_t)((key) >> 32) & 0x3fffffff)
#define LP_OVERRIDE_OF(key)     ((uint32_t)(key))
#define LP_OVERRIDE_KEY(by, of) ((uint64_t)(by) << 32 | (of))

/* A new entry of KEY, which has none. Pointers to others become invalid. */
LpWeight *lp_overrides_new(LpOverrides *t, uint64_t key);

/* Free the memory. The table is empty then. */
void lp_overrides_free(LpOverrides *t);

/* The entry of KEY. */
static inline LpWeight *lp_overrides_of(LpOverrides *t, uint64_t key)
{
  uint32_t i = lp_idmap_get(&t->ids, key);
  return i == LP_NONE ? lp_overrides_new(t, key) : &t->entry[i].w;
}

/* Count one more of KEY, of SIZE bytes. */
static inline void lp_overrides_add(LpOverrides *t, uint64_t key, uint64_t size)
{
  LpWeight *w = lp_overrides_of(t, key);
  w->n++;
  w->bytes += size;
}

#endif

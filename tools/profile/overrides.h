/*
** Overridden allocations: how often each site reallocated or freed objects, by
** the site that allocated them.
*/

#ifndef LP_OVERRIDES_H
#define LP_OVERRIDES_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "weight.h"

typedef struct LpOverride {
  uint64_t key; /* A mark, one bit for the event, 30 for BY, 32 for OF. */
  LpWeight w;   /* How many objects, of how many bytes. */
} LpOverride;

typedef struct LpOverrides {
  LpOverride *entry; /* A key of 0 is a free place. */
  size_t size;       /* Places. */
  size_t n;          /* Entries. */
} LpOverrides;

#define LP_OVERRIDE_REALLOC     ((uint64_t)1 << 62)
#define LP_OVERRIDE_USED        ((uint64_t)1 << 63)
#define LP_OVERRIDE_BY(key)     ((uint32_t)((key) >> 32) & 0x3fffffff)
#define LP_OVERRIDE_OF(key)     ((uint32_t)(key))
#define LP_OVERRIDE_KEY(by, of) (LP_OVERRIDE_USED | (uint64_t)(by) << 32 | (of))

/* Double the size of the table. Pointers into it become invalid. */
void lp_overrides_grow(LpOverrides *t);

/* Free the memory. The table is empty then. */
void lp_overrides_free(LpOverrides *t);

/* The entry of KEY. */
static inline LpWeight *lp_overrides_of(LpOverrides *t, uint64_t key)
{
  size_t i;
  if (t->n * 2 >= t->size)
    lp_overrides_grow(t);
  i = lp_hash_slot(lp_hash_well(key), t->size);
  while (t->entry[i].key && t->entry[i].key != key)
    i = i + 1 < t->size ? i + 1 : 0;
  t->n += !t->entry[i].key;
  t->entry[i].key = key;
  return &t->entry[i].w;
}

/* Count one more of KEY, of SIZE bytes. */
static inline void lp_overrides_add(LpOverrides *t, uint64_t key, uint64_t size)
{
  LpWeight *w = lp_overrides_of(t, key);
  w->n++;
  w->bytes += size;
}

#endif

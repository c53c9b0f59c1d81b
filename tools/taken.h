/*
** How often each site reallocated or freed objects of each other site.
*/

#ifndef LP_TAKEN_H
#define LP_TAKEN_H

#include <stddef.h>
#include <stdint.h>

#include "hash.h"

typedef struct LpTakenEntry {
  uint64_t key; /* One bit for the event, 31 for BY, 32 for OF. */
  uint64_t n;   /* How often; 0 is a free place. */
} LpTakenEntry;

typedef struct LpTaken {
  LpTakenEntry *entry;
  size_t size; /* Places. */
  size_t n;    /* Entries. */
} LpTaken;

#define LP_TAKEN_REALLOC     ((uint64_t)1 << 63)
#define LP_TAKEN_BY(key)     ((uint32_t)((key) >> 32) & 0x7fffffff)
#define LP_TAKEN_OF(key)     ((uint32_t)(key))
#define LP_TAKEN_KEY(by, of) ((uint64_t)(by) << 32 | (of))

void lp_taken_grow(LpTaken *t);
void lp_taken_free(LpTaken *t);

/* Count one more of KEY. */
static inline void lp_taken_add(LpTaken *t, uint64_t key)
{
  size_t i;
  if (t->n * 2 >= t->size)
    lp_taken_grow(t);
  i = lp_hash_slot(lp_hash(key), t->size);
  while (t->entry[i].n && t->entry[i].key != key)
    i = i + 1 < t->size ? i + 1 : 0;
  t->n += !t->entry[i].n++;
  t->entry[i].key = key;
}

#endif

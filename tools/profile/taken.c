/*
** How often each site reallocated or freed objects of each other site.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "taken.h"

/* Twice the room. */
void lp_taken_grow(LpTaken *t)
{
  LpTakenEntry *old = t->entry;
  size_t i, n = t->size;
  t->size = n ? n * 2 : 256;
  t->entry = lp_zalloc(t->size, sizeof(LpTakenEntry));
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
void lp_taken_free(LpTaken *t)
{
  free(t->entry);
  memset(t, 0, sizeof(*t));
}

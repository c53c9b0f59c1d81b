/*
** Object age: when live objects were allocated, and their sizes.
**
** Births are stored in 32 bits. When the clock exceeds them, ticks become twice
** as long for all live objects: ages are exact for the first 4 billion
** allocations, and to 2^-31 of all of them later.
*/

#include <stdlib.h>
#include <string.h>

#include "object_age.h"
#include "live.h"
#include "mem.h"
#include "origin.h"

void lp_object_age_open(LpObjectAges *a)
{
  memset(a, 0, sizeof(*a));
  a->free = LP_NONE;
  lp_object_age_more(a);
  *lp_object_age_get(a, LP_OBJECT_AGE_LOST) =
      (LpObjectAge){0, LP_ORIGIN_LOST, 0};
}

uint32_t lp_object_age_more(LpObjectAges *a)
{
  size_t chunk = a->n >> OBJECT_AGE_CHUNK;
  if (a->n > LP_ORIGIN_MAX)
    return LP_OBJECT_AGE_LOST;
  a->chunk = lp_grow(a->chunk, &a->nchunk, chunk + 1, sizeof(LpObjectAge *));
  if (!a->chunk[chunk])
    a->chunk[chunk] = lp_alloc(sizeof(LpObjectAge) << OBJECT_AGE_CHUNK);
  *lp_object_age_get(a, a->n) = (LpObjectAge){0, LP_NONE, a->free};
  return a->n++;
}

void lp_object_age_coarsen(LpObjectAges *a)
{
  uint32_t i;
  a->shift++;
  for (i = 0; i < a->n; i++) {
    LpObjectAge *age = lp_object_age_get(a, i);
    if (age->origin != LP_NONE)
      age->birth >>= 1;
  }
}

void lp_object_age_close(LpObjectAges *a)
{
  size_t i;
  for (i = 0; i < a->nchunk; i++)
    free(a->chunk[i]);
  free(a->chunk);
  memset(a, 0, sizeof(*a));
}

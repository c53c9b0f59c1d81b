/*
** Object age: when live objects were allocated, and their sizes.
**
** The clock of a stream is the number of its allocations. Where it is wanted,
** the live map (live.h) holds not an object's origin, but its number here: 16
** bytes for each object live at once, and no more, since numbers are used
** again.
*/

#ifndef LP_OBJECT_AGE_H
#define LP_OBJECT_AGE_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

typedef struct LpObjectAge {
  uint64_t size;
  uint32_t origin; /* LP_NONE: the number is free. */
  uint32_t
      birth; /* The clock, in ticks; of a free number, the next free one. */
} LpObjectAge;

#define OBJECT_AGE_CHUNK 12 /* log2 of the objects per chunk. */

typedef struct LpObjectAges {
  LpObjectAge **chunk;
  size_t nchunk;  /* Room. */
  uint32_t n;     /* Numbers that were ever used. */
  uint32_t free;  /* The first free number, or LP_NONE. */
  unsigned shift; /* log2 of the clock's units in a tick. */
} LpObjectAges;

/* Shared sentinel for objects without a number of their own: older than all
** others, of a lost origin.
*/
#define LP_OBJECT_AGE_LOST 0

/* Start with no objects but LP_OBJECT_AGE_LOST. */
void lp_object_age_open(LpObjectAges *a);

/* Free the memory. */
void lp_object_age_close(LpObjectAges *a);

/* A number that was never used, or LP_OBJECT_AGE_LOST if all are in use. */
uint32_t lp_object_age_more(LpObjectAges *a);

/* Double the length of a tick. Births are rounded down. */
void lp_object_age_coarsen(LpObjectAges *a);

/* An object by its number. */
static inline LpObjectAge *lp_object_age_get(const LpObjectAges *a,
                                             uint32_t number)
{
  return &a->chunk[number >> OBJECT_AGE_CHUNK]
                  [number & ((1u << OBJECT_AGE_CHUNK) - 1)];
}

/* A number for an object of SIZE bytes that was born when the clock became
** NOW.
*/
static inline uint32_t lp_object_age_new(LpObjectAges *a, uint32_t origin,
                                         uint64_t size, uint64_t now)
{
  uint32_t number = a->free == LP_NONE ? lp_object_age_more(a) : a->free;
  LpObjectAge *age = lp_object_age_get(a, number);
  if (number == LP_OBJECT_AGE_LOST)
    return number;
  while (now >> a->shift > UINT32_MAX)
    lp_object_age_coarsen(a);
  a->free = age->birth;
  *age = (LpObjectAge){size, origin, (uint32_t)(now >> a->shift)};
  return number;
}

/* Free a number. */
static inline void lp_object_age_drop(LpObjectAges *a, uint32_t number)
{
  LpObjectAge *age = lp_object_age_get(a, number);
  if (number == LP_OBJECT_AGE_LOST)
    return;
  *age = (LpObjectAge){0, LP_NONE, a->free};
  a->free = number;
}

/* How many ticks before NOW an object was born. */
static inline uint64_t lp_object_age_ticks(const LpObjectAges *a,
                                           const LpObjectAge *age, uint64_t now)
{
  return (now >> a->shift) - age->birth;
}

#endif

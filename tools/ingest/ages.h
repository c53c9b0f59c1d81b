/*
** When live objects were born, and how large they are.
**
** The clock of a stream is the number of its allocations. Where it is wanted,
** the live map (live.h) holds not an object's origin, but its number here: 16
** bytes for each object live at once, and no more, since numbers are used
** again.
*/

#ifndef LP_AGES_H
#define LP_AGES_H

#include <stddef.h>
#include <stdint.h>

#include "idmap.h"

typedef struct LpAge {
  uint64_t size;
  uint32_t origin; /* LP_NONE: nobody has this number. */
  uint32_t birth;  /* The clock, in ticks; of nobody, the next such number. */
} LpAge;

#define AGES_CHUNK 12 /* log2 of the objects that share a piece of memory. */

typedef struct LpAges {
  LpAge **chunk;
  size_t nchunk;  /* Room. */
  uint32_t n;     /* Numbers that were ever used. */
  uint32_t free;  /* The first one that nobody has, or LP_NONE. */
  unsigned shift; /* log2 of the clock's units in a tick. */
} LpAges;

/* The number of all objects that there is no other number for: older than
** anybody, of a lost origin.
*/
#define LP_AGE_LOST 0

void lp_ages_open(LpAges *a);
void lp_ages_close(LpAges *a);
size_t lp_ages_bytes(const LpAges *a);
uint32_t lp_ages_more(LpAges *a);
void lp_ages_coarsen(LpAges *a);

/* An object by its number. */
static inline LpAge *lp_ages_get(const LpAges *a, uint32_t number)
{
  return &a->chunk[number >> AGES_CHUNK][number & ((1u << AGES_CHUNK) - 1)];
}

/* A number for an object of SIZE bytes that was born when the clock became NOW.
 */
static inline uint32_t lp_ages_new(LpAges *a, uint32_t origin, uint64_t size,
                                   uint64_t now)
{
  uint32_t number = a->free == LP_NONE ? lp_ages_more(a) : a->free;
  LpAge *age = lp_ages_get(a, number);
  if (number == LP_AGE_LOST)
    return number;
  while (now >> a->shift > UINT32_MAX)
    lp_ages_coarsen(a);
  a->free = age->birth;
  *age = (LpAge){size, origin, (uint32_t)(now >> a->shift)};
  return number;
}

/* Nobody has this number any more. */
static inline void lp_ages_drop(LpAges *a, uint32_t number)
{
  LpAge *age = lp_ages_get(a, number);
  if (number == LP_AGE_LOST)
    return;
  *age = (LpAge){0, LP_NONE, a->free};
  a->free = number;
}

/* How many ticks before NOW an object was born. */
static inline uint64_t lp_ages_ticks(const LpAges *a, const LpAge *age,
                                     uint64_t now)
{
  return (now >> a->shift) - age->birth;
}

#endif

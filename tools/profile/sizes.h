/*
** Allocated and freed objects by size class.
**
** Four classes for each power of two, none of them narrower than 16 bytes: the
** steps in which LuaJIT's allocator hands out memory.
*/

#ifndef LP_SIZES_H
#define LP_SIZES_H

#include <stdint.h>

#include "weight.h"

#define LP_NSIZES (4 + 4 * 58)

/* Objects of one class. */
typedef struct LpSizeClass {
  LpWeight come, gone;
  LpWeight older; /* Of those gone, were older than the recording. */
} LpSizeClass;

/* The class of SIZE. */
static inline unsigned lp_sizes_class(uint64_t size)
{
  unsigned log = size < 64 ? 6 : 63 - (unsigned)__builtin_clzll(size);
  return size < 64 ? (unsigned)(size >> 4)
                   : 4 + 4 * (log - 6) + (unsigned)(size >> (log - 2) & 3);
}

/* The smallest size of a class; of the one behind the last, 0. */
static inline uint64_t lp_sizes_from(unsigned class)
{
  if (class < 4)
    return (uint64_t) class << 4;
  return class < LP_NSIZES ? (uint64_t)(class % 4 + 4) << (class / 4 + 3) : 0;
}

#endif

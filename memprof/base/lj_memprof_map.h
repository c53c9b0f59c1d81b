/*
** Maps of numbers to numbers, neither of them 0, outside of the Lua heap.
*/

#ifndef _LJ_MEMPROF_MAP_H
#define _LJ_MEMPROF_MAP_H

#include "lj_def.h"

/* All zero: an empty map. */
typedef struct MPMap {
  uint64_t *slot; /* Pairs of key and value. */
  uint32_t mask;  /* Number of slots - 1, or 0 without slots. */
  uint32_t used;
} MPMap;

/* Returns the value of a key, or 0. */
LJ_FUNC uint64_t lj_memprof_mapget(const MPMap *m, uint64_t key);

/* Sets the value of a key. Returns 0 without memory; nothing changes then. */
LJ_FUNC int lj_memprof_mapput(MPMap *m, uint64_t key, uint64_t value);

/* Removes a key, if it is there. Other entries may move. */
LJ_FUNC void lj_memprof_mapdel(MPMap *m, uint64_t key);

/* Frees the slots, not what the values point to. The map is empty then. */
LJ_FUNC void lj_memprof_mapfree(MPMap *m);

#endif

/*
** Tables with weak keys or values: what is in them, and what only such tables
** keep.
*/

#ifndef LP_WEAK_H
#define LP_WEAK_H

#include "analysis.h"

/* What a table has. */
typedef struct LpWeakSum {
  uint32_t table; /* The object. */
  uint32_t mode;  /* See LpWeakTable. */
  uint64_t entries;
  uint64_t weak;      /* Of these, those that the collector may clear, */
  uint64_t held;      /* and of those, the ones that something has, */
  uint64_t by_values; /* if only by values of tables with weak keys. */
  uint64_t freed; /* Bytes that only this table leads to, and that would be free
                  ** if such tables had ephemerons. */
} LpWeakSum;

/* The tables of H that are in use and not empty, those with most to be freed
** first, then those with most entries. Sets *N; the caller frees the array.
*/
LpWeakSum *lp_weak_tables(const LpHeap *h, size_t *n);

#endif

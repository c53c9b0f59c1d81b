/*
** Tables with weak keys as if they were tables of ephemerons.
**
** In LuaJIT such a table keeps its values, also those whose key nothing else
** has: a value that refers to its own key keeps it for ever. An ephemeron is a
** pair whose value is kept only if its key is reached in another way.
*/

#ifndef LP_EPHEMERONS_H
#define LP_EPHEMERONS_H

#include "graph.h"

typedef struct LpEphemerons {
  uint8_t *free; /* By object: 1 if it would be free; NULL: none would be. */
  uint64_t objects, bytes; /* Of those that would be. */
} LpEphemerons;

/* Find what a sealed graph's roots and the objects in MORE, which are NMORE,
** reach today, but not if the N tables in TABLE, whose keys are weak and whose
** values are not, had ephemerons. What a table keeps behind a key that nothing
** has today is free without them, once the collector has cleared the key: that
** is not counted.
*/
void lp_ephemerons(const LpGraph *g, const uint32_t *table, size_t n,
                   const uint32_t *more, size_t nmore, LpEphemerons *e);

/* Free the memory. */
void lp_ephemerons_free(LpEphemerons *e);

/* The key of a pair of a table with weak keys if E, one of its references, is
** kept by one that the collector may clear; otherwise LP_NONE. Strings, numbers
** and booleans are values: such keys are never cleared.
*/
static inline uint32_t lp_ephemeron_key(const LpGraph *g, const LpEdge *e)
{
  uint32_t key = lp_edge_detail(e);
  return lp_edge_kind(e) == LP_EDGE_FIELD && key < g->n &&
                 g->type[key] != LJM_TYPE_STRING
             ? key
             : LP_NONE;
}

#endif

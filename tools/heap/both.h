/*
** Strings in tables whose keys and values are both weak: the collector keeps
** one only if it reaches the table and the key.
*/

#ifndef LP_BOTH_H
#define LP_BOTH_H

#include "graph.h"

/* The value of such a table is a string, its key another object. */
typedef struct LpBoth {
  uint32_t table, key; /* Numbers of objects. */
  uint32_t value;
  size_t edge; /* The reference from the table to it. */
} LpBoth;

/* Take away those of the N references whose key cannot be reached. The graph is
** sealed; its numbers of references stay as they are.
*/
void lp_both_resolve(LpGraph *g, const LpBoth *both, size_t n);

#endif

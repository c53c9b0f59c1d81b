/*
** Strings in tables whose keys and values are both weak: the collector keeps
** one only if it reaches the table and the key.
*/

#ifndef LP_WEAK_STRINGS_H
#define LP_WEAK_STRINGS_H

#include "graph.h"

/* The value of such a table is a string, its key another object. */
typedef struct LpWeakString {
  uint32_t table, key; /* Numbers of objects. */
  uint32_t value;
  size_t edge; /* The reference from the table to it. */
} LpWeakString;

/* Take away those of the N references whose key cannot be reached. The graph is
** sealed; its numbers of references stay as they are.
*/
void lp_weak_strings(LpGraph *g, const LpWeakString *weak, size_t n);

#endif

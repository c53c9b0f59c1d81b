/*
** Objects that a text names: a path as reports show it, or a pattern of paths.
*/

#ifndef LP_NAMED_H
#define LP_NAMED_H

#include "analysis.h"

/* Objects that a text names. None of them is dominated by another one. */
typedef struct LpNamed {
  uint64_t retained; /* Bytes that all of them keep. */
  size_t objects;    /* How many there are; */
  uint32_t most;     /* the one that keeps most, or LP_NONE, */
  uint64_t bytes;    /* and how much. */
} LpNamed;

/* Find the objects that are reached from the roots by the path TEXT, on any way
** and not only on the shortest one. If there are none, those whose shortest
** path matches TEXT as a pattern of fnmatch().
*/
LpNamed lp_named(const LpHeap *h, const char *text);

/* The same, but TEXT is no pattern. */
LpNamed lp_named_path(const LpHeap *h, const char *text);

#endif

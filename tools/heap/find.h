/*
** Objects that a text names: a path as reports show it, or a pattern of paths.
*/

#ifndef LP_FIND_H
#define LP_FIND_H

#include "analysis.h"

/* Objects that a text names. None of them is dominated by another one. */
typedef struct LpFound {
  uint64_t retained; /* Bytes that all of them keep. */
  size_t objects;    /* How many there are; */
  uint32_t most;     /* the one that keeps most, or LP_NONE, */
  uint64_t bytes;    /* and how much. */
  uint64_t shared;   /* Bytes that they keep alone or together with others, as
                     ** far as groups were found; */
  const LpShared *group; /* of which this one is the largest, or NULL. */
} LpFound;

/* Find the objects that are reached from the roots by the path TEXT, on any way
** and not only on the shortest one. If there are none, those whose shortest
** path matches TEXT as a pattern of fnmatch().
*/
LpFound lp_heap_find(const LpHeap *h, const char *text);

/* The same, but TEXT is no pattern. */
LpFound lp_heap_find_path(const LpHeap *h, const char *text);

#endif

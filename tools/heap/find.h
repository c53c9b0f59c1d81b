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

/* The same, but TEXT is no pattern, and what is shared is not looked for. */
LpFound lp_heap_find_path(const LpHeap *h, const char *text);

/* The objects that are reached from the roots by a path, the root by an empty
** one. Sets *N; the caller frees the array.
*/
uint32_t *lp_heap_at(const LpHeap *h, const char *path, size_t *n);

/* How many bytes of TEXT, which is no path, are the beginning of one; *ID is an
** object that they lead to, or the root.
*/
size_t lp_heap_find_far(const LpHeap *h, const char *text, uint32_t *id);

/* The objects that TEXT names: the one at an address (0x7f01), or the one that
** keeps most of those at a path (_G.cache); or else all whose shapes have names
** that contain it. Sets *N; the caller frees the array.
*/
uint32_t *lp_heap_named(const LpHeap *h, const char *text, size_t *n);

#endif

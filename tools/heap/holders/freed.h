/*
** What could be freed without the holders of a group.
*/

#ifndef LP_FREED_H
#define LP_FREED_H

#include "shared.h"
#include "siblings.h"

/* Set `freed` of N groups, at most LP_SHARED_MOST: those of S, which have their
** holders.
*/
void lp_freed(const LpDomTree *t, const LpSiblings *s, LpShared *group,
              size_t n);

#define LP_HELD_PARTS 63

/* A holder, and its part. */
typedef struct LpHeldPart {
  LpHolder holder;
  unsigned part;
} LpHeldPart;

/* Holders in parts, at most LP_HELD_PARTS: each part is some objects and
** references, or none.
*/
typedef struct LpHeldBy {
  LpHeldPart *holder;
  size_t n, cap;
  unsigned parts;
  uint64_t bytes; /* That all parts hold: each one leads there past the others,
                  ** and without all of them nothing does. */
} LpHeldBy;

/* Set `bytes` of each. */
void lp_held_exactly(const LpDomTree *t, LpHeldBy *list, size_t n);

#endif

/*
** The dominator tree in groups: objects of one shape with the same dominator
** are one group, and so are lists of them. A group is expanded on request, so
** that only a part of a large heap is looked at.
*/

#ifndef LP_GROUPS_H
#define LP_GROUPS_H

#include "analysis.h"

/* Objects that are shown as one. */
typedef struct LpGroup {
  uint32_t *id; /* Their numbers; a list begins with its first object. */
  size_t n, cap;
  uint32_t shape;    /* LP_NONE: of the root, and of objects without one. */
  uint64_t retained; /* Bytes that they keep alive, their own too. */
  uint64_t bytes;    /* Their own. */
  int apart;         /* One object on its own, whatever its shape. */
} LpGroup;

/* Groups that one group keeps, with most bytes first. */
typedef struct LpGroups {
  LpGroup *g;
  size_t n, cap;
} LpGroups;

/* The group of the root. The caller frees it with lp_group_free. */
LpGroup lp_group_root(const LpHeap *h);

/* Free a group's memory. */
void lp_group_free(LpGroup *g);

/* Add what the objects keep that looks like them, over and over: lists and
** trees become one group. Its retained bytes stay what they are.
*/
void lp_group_absorb(LpGroup *g, const LpHeap *h);

/* The groups directly below G, which was absorbed, of those that keep LEAST
** bytes or more. An object that keeps APART bytes and has one dominator is a
** group by itself, and so are those that are keys of ALSO, which may be NULL.
** The caller frees them with lp_groups_free.
*/
LpGroups lp_groups_below(const LpHeap *h, const LpGroup *g, uint64_t least,
                         uint64_t apart, const LpIdMap *also);

/* Free groups. Those that the caller took over have an ID of NULL. */
void lp_groups_free(LpGroups *s);

/* Append the name of a group: how it is reached, if it is one object or a list;
** how many objects there are, and their shape. Of several that only the root
** keeps, the path of the one that keeps most.
*/
void lp_group_name(LpBuf *b, const LpHeap *h, const LpGroup *g);

/* The memory of several holders that all objects of G are in, or NULL. OF is
** from lp_sharing_of.
*/
const LpShared *lp_group_shared(const LpHeap *h, const LpGroup *g,
                                const uint8_t *of);

/* Append how an object is reached: the step from its dominator, or if that does
** not refer to it, its path, of which MOST steps are shown.
*/
void lp_group_step(LpBuf *b, const LpHeap *h, uint32_t id, unsigned most);

#endif

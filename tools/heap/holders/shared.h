/*
** Memory that several objects keep together, in groups by their holders.
**
** An object X whose dominator D does not refer to it is reached through several
** of the objects that D refers to. Those through which it is reached without
** passing others of them hold it: X stays for as long as one of them is there.
** Holders are told as precisely as possible, not the module, but its table; and
** objects that have the same ones are a group.
*/

#ifndef LP_SHARED_H
#define LP_SHARED_H

#include "kids.h"

#define LP_SHARED_MOST 64 /* Groups that are found. */

/* A holder: an object, or one of its references. */
typedef struct LpHolder {
  uint32_t id;   /* The object. */
  uint32_t edge; /* The number of its reference in the graph, or LP_NONE. */
} LpHolder;

/* A group. */
typedef struct LpShared {
  uint32_t top;     /* The object that dominates all of it, or LP_GRAPH_ROOT. */
  uint32_t *id;     /* What is shared; the one that keeps most comes first. */
  size_t n;         /* How many. */
  uint64_t bytes;   /* That they keep, their own too. */
  uint64_t freed;   /* Bytes that nothing reaches without all holders. */
  LpHolder *holder; /* By the bytes that each keeps alone, most first;
                    ** slots of stacks without a name last. */
  size_t nholder;
} LpShared;

/* Groups, those of one object beside each other. */
typedef struct LpSharing {
  LpShared *group;
  size_t n, cap;
} LpSharing;

/* Find the groups that keep LEAST bytes or more. What more than 32 of an
** object's kids hold, or many that are small by themselves, is in none; and of
** heaps that are shared at every level only the upper ones are looked at. The
** caller frees them with lp_sharing_close.
*/
void lp_sharing_open(LpSharing *s, const LpDomTree *t, uint64_t least);

/* Free the memory. */
void lp_sharing_close(LpSharing *s);

/* The groups of N objects, by object: its number in S, + 1; 0: it is in none.
** The caller frees the array.
*/
uint8_t *lp_sharing_of(const LpSharing *s, size_t n);

/* Bytes that nothing reaches without one holder alone. */
static inline uint64_t lp_holder_keeps(const LpDomTree *t, const LpHolder *h)
{
  return h->edge == LP_NONE ? t->dom->retained[h->id] : 0;
}

#endif

/*
** Two heaps side by side: groups of their dominator trees that stand for the
** same. Numbers of objects and shapes differ from dump to dump: an object by
** itself is the same if the same object keeps it under the same name, or if it
** has none, at the same address of the same process; others are if their shape
** has the same name.
*/

#ifndef LP_PAIRS_H
#define LP_PAIRS_H

#include "groups.h"
#include "intern.h"
#include "side.h"

/* The heaps that are compared. */
typedef struct LpPairing {
  const LpHeap *h[LP_NSIDE]; /* That of the base is NULL: there is only one. */
  uint32_t *name[LP_NSIDE];  /* By shape: the number of its name. */
  int same;                  /* The dumps are of one process. */
} LpPairing;

/* A group in each of them. Of one that is not there, n is 0. */
typedef struct LpPair {
  LpGroup g[LP_NSIDE];
} LpPair;

/* Pairs: what keeps most in one of the heaps comes first. */
typedef struct LpPairs {
  LpPair *p;
  size_t n, cap;
} LpPairs;

/* Compare NOW with BASE, or look at NOW alone if that is NULL. The caller calls
** lp_pairing_close.
*/
LpPairing lp_pairing(const LpHeap *now, const LpHeap *base);

/* Free the memory. */
void lp_pairing_close(LpPairing *g);

/* The roots. The caller frees them with lp_pair_free. */
LpPair lp_pair_root(const LpPairing *g);

/* Free the memory of a pair. */
void lp_pair_free(LpPair *p);

/* The side that a pair is named by: that of now, if it is there. */
static inline LpSide lp_pair_side(const LpPair *p)
{
  return p->g[LP_NOW].n ? LP_NOW : LP_BASE;
}

/* What a pair keeps in the heap where it keeps more, in bytes. */
uint64_t lp_pair_retained(const LpPair *p);

/* Is P one object, the same in each heap where it is there? */
int lp_pair_isone(const LpPairing *g, const LpPair *p);

/* Append its name, as lp_group_name does. */
void lp_pair_name(LpBuf *b, const LpPairing *g, const LpPair *p);

/* As lp_group_absorb, on both sides. */
void lp_pair_absorb(LpPair *p, const LpPairing *g);

/* The pairs directly below P, which was absorbed, of those that keep LEAST
** bytes or more in one of the heaps. An object that keeps APART bytes in one of
** them is by itself in both. The caller frees them with lp_pairs_free.
*/
LpPairs lp_pairs_below(const LpPairing *g, const LpPair *p, uint64_t least,
                       uint64_t apart);

/* Free pairs. Those that the caller took over have no objects. */
void lp_pairs_free(LpPairs *s);

#endif

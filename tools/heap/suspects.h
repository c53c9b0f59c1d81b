/*
** Leak suspects: where much memory accumulates.
*/

#ifndef LP_SUSPECTS_H
#define LP_SUSPECTS_H

#include "analysis.h"

#define LP_SUSPECT_PERCENT 10  /* Of what is reached: less is none. */
#define LP_SUSPECTS        16  /* At most. */
#define LP_SUSPECT_ENTRIES 4   /* So many that look alike are told as one. */
#define LP_SUSPECT_ALIKE   100 /* Of at least 1% each there are no more. */
#define LP_SUSPECT_HOLDERS 8   /* Of one: what more objects hold is in use. */

typedef struct LpSuspect {
  uint32_t id;       /* The object behind which the memory branches out; of what
                     ** several keep, its largest. */
  uint64_t bytes;    /* What it keeps, other suspects aside. */
  uint32_t shape;    /* Of what it keeps directly, or of what is shared: the
                     ** shape with most bytes, */
  uint64_t objects;  /* how many of these, */
  uint64_t retained; /* and what they keep; 0: it keeps them itself. */
  uint64_t median;   /* Of what each of these keeps, */
  uint64_t largest;  /* the most, */
  uint32_t most;     /* and the object that does; LP_NONE: none is said. */
  uint64_t chain;    /* Objects of a list that goes on from here, or 0. */
  uint32_t inner;  /* If `shape` says little: one that says more, of most of */
  uint64_t inners; /* what is kept indirectly, or LP_NONE; and how many. */
  const LpShared *shared; /* What several objects keep together, or NULL. */
} LpSuspect;

/* Find the suspects of a heap, largest first. Returns how many there are: none
** where it is not known what objects keep.
*/
size_t lp_suspects(const LpHeap *h, LpSuspect *s);

/* The same of objects that keep more than so many PERCENT of what is reached;
** room is for MOST.
*/
size_t lp_suspects_above(const LpHeap *h, unsigned percent, LpSuspect *s,
                         size_t most);

/* Entries of a table that look alike, LP_SUSPECT_ENTRIES or more of one shape,
** and keep LEAST bytes each by KEPT, which has them by object. Fields and
** globals are entries only if they keep less than FEW. Returns how many there
** are.
*/
size_t lp_suspect_entries(const LpHeap *h, uint32_t table, const uint64_t *kept,
                          uint64_t least, uint64_t few,
                          uint32_t id[LP_SUSPECT_ALIKE]);

/* A group as if it was a suspect: its shape, and what is in that. */
LpSuspect lp_suspect_shared(const LpHeap *h, const LpShared *g);

#endif

/*
** All that refers to some objects, merged into a tree from the roots.
**
** An owner of an object refers to it, and can be reached without passing any of
** the objects that are looked for. The rows are the shortest ways to owners;
** objects of one shape below the same row are one row if they are many, or if
** one leads to the next.
*/

#ifndef LP_OWNERS_H
#define LP_OWNERS_H

#include "analysis.h"

#define LP_OWNERS_ROWS 10000    /* At most. */
#define LP_OWNERS_ROOT SIZE_MAX /* For the number of a row: the roots. */

/* Rows of owners in LpOwnersBy; the last one stands for all further ones. */
#define LP_OWNERS_BITS 64

/* A row. Those below it follow it. */
typedef struct LpOwner {
  unsigned depth; /* 0: below the roots. */
  uint32_t id;    /* Its object, or the first of */
  size_t n;       /* so many. */
  uint64_t held;  /* How many of those looked for are reached through it. */
  int last;       /* It is these; */
  uint32_t from;  /* then the only owner that the row has, or LP_NONE. */
} LpOwner;

/* Objects that have the same owners. */
typedef struct LpOwnersBy {
  uint64_t bits; /* By number in `owner`. */
  uint64_t n;    /* How many they are. */
} LpOwnersBy;

typedef struct LpOwners {
  LpPaths paths; /* Up to the objects, not behind them. */
  LpOwner *row;
  size_t n, cap;
  int full;         /* There would be more rows. */
  uint64_t objects; /* How many are looked for, */
  uint64_t alone;   /* and how many are only reached through others of them. */
  size_t
      owner[LP_OWNERS_BITS]; /* Rows that refer to some, or LP_OWNERS_ROOT. */
  size_t nowner;
  LpOwnersBy *by; /* Most first. */
  size_t nby, capby;
} LpOwners;

/* Find the owners of N objects. The caller frees them with lp_owners_close. */
void lp_owners_open(LpOwners *o, const LpHeap *h, const uint32_t *id, size_t n);

/* Free the memory. */
void lp_owners_close(LpOwners *o);

#endif

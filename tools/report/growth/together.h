/*
** Holders of what several objects keep together, by names, so that the same
** ones are found in another dump.
*/

#ifndef LP_TOGETHER_H
#define LP_TOGETHER_H

#include "analysis.h"

/* A holder: an object, or one of its references. */
typedef struct LpNamed {
  char *path; /* Of the object; empty: the root. */
  char *step; /* Of the reference, or NULL. */
} LpNamed;

/* Holders of one group. */
typedef struct LpTogether {
  LpNamed *holder; /* Sorted by name. */
  size_t n;
  int cut; /* A path is cut, or there are too many: they are not looked for. */
} LpTogether;

/* The holders of a group. The caller frees them with lp_together_close. */
LpTogether lp_together(const LpHeap *h, const LpShared *g);

/* Free the memory. */
void lp_together_close(LpTogether *t);

/* Are they the same holders? */
int lp_together_same(const LpTogether *a, const LpTogether *b);

/* Append the names of the holders of a group, of MOST if there are more, and
** that they keep it together: "_G.a and _G.b together".
*/
void lp_together_name(LpBuf *b, const LpHeap *h, const LpShared *g,
                      size_t most);

/* Bytes that all holders of each of N groups keep together in a dump: 0 if one
** of them is not there. The caller frees the array.
*/
uint64_t *lp_together_bytes(const LpHeap *h, const LpTogether *t, size_t n);

#endif

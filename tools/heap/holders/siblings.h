/*
** What one object dominates directly, its kids. A kid to which the dominator
** itself does not refer is shared: several other kids lead to it, and none of
** them keeps it alone.
*/

#ifndef LP_SIBLINGS_H
#define LP_SIBLINGS_H

#include "kids.h"

typedef struct LpSiblings {
  uint32_t top;    /* The dominator. */
  uint32_t *kid;   /* The objects, by number. */
  uint32_t n;      /* How many. */
  uint8_t *shared; /* By number. */
  uint32_t *of;    /* By object: the number of the kid that it is, or that
                   ** dominates it; LP_NONE if TOP does not. The caller's. */
  uint32_t below;  /* Objects that TOP dominates. */
} LpSiblings;

/* Objects by whether their dominator refers to them: 1 if it does. The caller
** frees the array.
*/
uint8_t *lp_siblings_direct(const LpDomTree *t);

/* Find the kids of TOP, with DIRECT from lp_siblings_direct. OF is LP_NONE for
** all objects. The caller frees the kids with lp_siblings_close.
*/
void lp_siblings_open(LpSiblings *s, const LpDomTree *t, uint32_t top,
                      const uint8_t *direct, uint32_t *of);

/* Free the memory. OF is as it was before. */
void lp_siblings_close(LpSiblings *s, const LpDomTree *t);

/* Objects that are kids, or dominated by kids, that are not shared: the one
** after AT, which KID is or dominates; the first one if AT is LP_NONE and *KID
** 0. Returns LP_NONE behind the last one.
*/
uint32_t lp_siblings_next(const LpSiblings *s, const LpDomTree *t,
                          uint32_t *kid, uint32_t at);

/* If a reference of the object FROM, which TOP dominates, leads to a shared kid
** that does not dominate FROM, the number of that kid; else LP_NONE.
*/
static inline uint32_t lp_siblings_edge(const LpSiblings *s, const LpDomTree *t,
                                        uint32_t from, const LpEdge *e)
{
  uint32_t to = lp_edge_to(e), kid;
  if (t->dom->parent[to] != s->top)
    return LP_NONE;
  kid = s->of[to];
  return s->shared[kid] && kid != s->of[from] ? kid : LP_NONE;
}

#endif

/*
** Where the sites of a baseline are now.
*/

#ifndef LP_MOVES_H
#define LP_MOVES_H

#include "places.h"
#include "sites.h"

typedef struct LpMoves {
  LpProfile *prof;
  LpPlaces side[LP_NSIDE]; /* With their pairs. */
  uint32_t *place;         /* Of the baseline, by function, */
  uint32_t nfunc;          /* for so many. */
  LpSites now;             /* The sites there are now. */
  uint32_t *site;          /* Where a site is now, */
  uint32_t nsite;          /* for so many: others stay where they are; */
  uint32_t moved;          /* of these, so many are elsewhere. */
} LpMoves;

/* Find where functions, lines and traces of the baseline of PROF are now. Sites
** that only the baseline has are made there. The caller calls lp_moves_close.
*/
void lp_moves_open(LpMoves *m, LpProfile *prof);

/* Free the memory. */
void lp_moves_close(LpMoves *m);

/* Where a site of the baseline is now. */
static inline uint32_t lp_moves_site(const LpMoves *m, uint32_t site)
{
  return site < m->nsite ? m->site[site] : site;
}

#endif

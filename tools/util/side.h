/*
** The two sides of a comparison.
*/

#ifndef LP_SIDE_H
#define LP_SIDE_H

typedef enum LpSide {
  LP_NOW,  /* What was read last. */
  LP_BASE, /* What that is compared with. */
  LP_NSIDE
} LpSide;

#endif

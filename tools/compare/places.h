/*
** Where the Lua functions of the two sides of a diff are.
*/

#ifndef LP_PLACES_H
#define LP_PLACES_H

#include "profile.h"

/* A function of one side. */
typedef struct LpPlace {
  uint32_t id;                 /* In the profile. */
  uint32_t chunk;              /* The name of its chunk now, by its number. */
  uint32_t name;               /* The same of the function; 0: it has none. */
  uint64_t first, lines, hash; /* As in the profile. */
  uint32_t up;                 /* The place around it, or LP_NONE. */
  uint32_t pair;               /* What it is in the other side, or LP_NONE. */
  int guessed;                 /* That is so by its bytecode alone. */
} LpPlace;

#define LP_PLACE_MAIN UINT32_MAX /* The name of what is in no function. */
#define LP_PLACE_ALL  UINT32_MAX /* Its lines, which are not known. */

/* In the order of chunks, and of each in that of the file: what is around a
** function comes before it.
*/
typedef struct LpPlaces {
  LpPlace *at;
  uint32_t n;
} LpPlaces;

/* The places of both sides, by LpSide, without pairs. Chunks under another root
** are the same. The caller calls lp_places_close.
*/
void lp_places_open(LpPlaces side[LP_NSIDE], const LpProfile *prof);

/* Free the memory. */
void lp_places_close(LpPlaces side[LP_NSIDE]);

#endif

/*
** Which Lua function of the baseline is which one now.
*/

#ifndef LP_MATCH_H
#define LP_MATCH_H

#include "places.h"

/* Pair the places of both sides. A function is the same by its chunk and name,
** and what it is in; where that is not one only, by its bytecode and the order
** in the file. What is left is guessed to be the same if it alone has a name
** and bytecode, in whichever chunk, or if it alone has its bytecode in a
** chunk.
*/
void lp_match(LpPlaces side[LP_NSIDE]);

#endif

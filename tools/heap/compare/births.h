/*
** Objects that one of two heaps has and the other one has not, by shape.
**
** An object of the same program is the same where its address and the name of
** its shape are: LuaJIT moves no objects. So what was freed and made again at
** the same place is not told, and one whose shape has changed counts as gone
** and as new.
*/

#ifndef LP_BIRTHS_H
#define LP_BIRTHS_H

#include "pairs.h"

typedef struct LpBirths {
  int known;               /* The dumps are of one process, and whole. */
  uint64_t *one[LP_NSIDE]; /* By shape of a heap: how many of its objects only
                           ** this one has. */
} LpBirths;

/* Compare both heaps of G, of which there is a base. The caller calls
** lp_births_close.
*/
LpBirths lp_births(const LpPairing *g);

/* Free the memory. */
void lp_births_close(LpBirths *b);

#endif

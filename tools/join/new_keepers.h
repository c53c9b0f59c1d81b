/*
** Keepers of what is new: what grows may be little beside the heap.
*/

#ifndef LP_NEW_KEEPERS_H
#define LP_NEW_KEEPERS_H

#include "join.h"

#define LP_NEW_KEEPERS 100 /* At most. */

/* Add to the N keepers of H in KEEPER, which has room, those of what was born
** behind the record of R's base. Returns how many there are.
*/
size_t lp_new_keepers(const LpHeap *h, LpReplay *r, LpKeeper *keeper, size_t n);

#endif

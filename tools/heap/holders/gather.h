/*
** Groups of objects that have the same holders.
*/

#ifndef LP_GATHER_H
#define LP_GATHER_H

#include "sources.h"

/* Add the groups of some sets that keep LEAST bytes or more, without `freed`.
 */
void lp_gather(const LpDomTree *t, const LpSiblings *s, const LpCycles *c,
               const LpKidSets *sets, uint64_t least, LpSharing *out);

#endif

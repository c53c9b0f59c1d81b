/*
** What could be freed without the holders of a group.
*/

#ifndef LP_FREED_H
#define LP_FREED_H

#include "shared.h"
#include "siblings.h"

/* Set `freed` of N groups, which are those of S and have their holders. */
void lp_freed(const LpDomTree *t, const LpSiblings *s, LpShared *group,
              size_t n);

#endif

/*
** Attributes samples in allocation and garbage collection to Lua functions.
*/

#ifndef LP_ALLOCGC_H
#define LP_ALLOCGC_H

#include "profile.h"

/* By node: the node of the innermost Lua function, if a function of allocation
** or collection is called inside of it; else LP_NONE. The caller frees the
** array.
*/
uint32_t *lp_allocgc(const LpProfile *prof);

#endif

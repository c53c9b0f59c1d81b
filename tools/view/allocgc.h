/*
** Which samples were taken in allocation and garbage collection, and for whom.
*/

#ifndef LP_ALLOCGC_H
#define LP_ALLOCGC_H

#include "profile.h"

uint32_t *lp_allocgc(const LpProfile *prof);

#endif

/*
** The two sides of a diff, made comparable: functions of the baseline that have
** moved, and lines in them, count where they are now.
*/

#ifndef LP_COMPARE_H
#define LP_COMPARE_H

#include "profile.h"

/* Match the Lua functions of the baseline of PROF, if it has one, with those
** that were read behind it, and have the baseline's figures at their places of
** now. prof->baseline.match says which ones have moved. To be called again when
** more was read.
*/
void lp_compare(LpProfile *prof);

#endif

/*
** What a sample was doing: which part of the time of a Lua line it belongs to.
*/

#ifndef LP_PART_H
#define LP_PART_H

#include "metric.h"

/* Are samples charged to Lua lines? Not with --native, nor in a profile without
** any Lua function.
*/
int lp_luafirst(const LpProfile *prof);

/* By sampled stack, the metric that its samples count for
** beside LP_METRIC_SAMPLES: LP_METRIC_INTERPRETED to LP_METRIC_UNNAMED. The
** caller frees the array.
*/
uint8_t *lp_parts(const LpProfile *prof);

/* By sampled stack: how many frames it has up to the innermost Lua function, if
** a function of allocation or collection is called inside of that; else 0. The
** caller frees the array.
*/
uint32_t *lp_allocgc(const LpProfile *prof);

/* Whether allocation and collection can be told from other native code in all
** VMs of a profile. If not, such numbers are not known: they are no 0.
*/
int lp_allocgc_known(const LpProfile *prof);

#endif

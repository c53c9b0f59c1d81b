/*
** Counts events into a profile.
*/

#ifndef LP_COUNT_H
#define LP_COUNT_H

#include "record.h"

/* The sink's events function. ST is an LpStream. Its sums include events
** outside of the wanted time, as the recorder's totals do.
*/
void lp_count_events(void *st, const LpEvent *ev, size_t n);

#endif

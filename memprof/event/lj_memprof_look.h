/*
** Looks at the clock between events.
*/

#ifndef _LJ_MEMPROF_LOOK_H
#define _LJ_MEMPROF_LOOK_H

#include "lj_memprof.h"
#include "lj_memprof_hook.h"

/*
** Before an event: marks the time, writes a full buffer, ends a recording that
** is over. isfree: the event is a deallocation.
*/
LJ_FUNC void lj_memprof_look(MPHook *h, MPState *mp, int isfree);

#endif

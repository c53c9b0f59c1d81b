/*
** The exit of the process: ends the recordings that go on.
*/

#ifndef _LJ_MEMPROF_EXIT_H
#define _LJ_MEMPROF_EXIT_H

#include "lj_memprof.h"

/* Before any start: from here on, the exit ends all recordings. */
LJ_FUNC void lj_memprof_atexit(void);

/*
** Bytes on the heap of a VM, by the recorder's own sum: for one that may be
** running, or is about to free what it does not count any more.
*/
LJ_FUNC uint64_t lj_memprof_estimate(const MPState *mp);

#endif

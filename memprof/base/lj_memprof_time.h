/*
** The monotonic clock, and the deadline of a process that exits.
*/

#ifndef _LJ_MEMPROF_TIME_H
#define _LJ_MEMPROF_TIME_H

#include "lj_memprof.h"

#define MP_MS  U64x(00000000, 000f4240) /* Nanoseconds. */
#define MP_NAP 200000 /* Nanoseconds between two looks at another thread. */

/* CLOCK_MONOTONIC in nanoseconds. */
LJ_FUNC uint64_t lj_memprof_now(void);

/* Waits for so many nanoseconds, less than a second. */
LJ_FUNC void lj_memprof_sleep(long ns);

/*
** When the process exits: from here on no reader is waited for longer than
** until then, in nanoseconds of lj_memprof_now(). For all recordings.
*/
LJ_FUNC void lj_memprof_setdeadline(uint64_t until);

/* That time, or 0. */
LJ_FUNC uint64_t lj_memprof_deadline(void);

#endif

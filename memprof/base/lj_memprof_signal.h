/*
** The RFC's timer: a signal that counts time. No thread of the host gets it.
*/

#ifndef _LJ_MEMPROF_SIGNAL_H
#define _LJ_MEMPROF_SIGNAL_H

#include "lj_def.h"

/* A timer, which counts its signals. */
typedef struct MPTicks MPTicks;

/* True if a signal can be that of a timer, or is 0. */
LJ_FUNC int lj_memprof_cancatch(int signo);

/* True if the calling thread blocks a signal, or it is 0. */
LJ_FUNC int lj_memprof_isblocked(int signo);

/*
** Puts our handler in the place of a signal's: what is not our timer's goes to
** the one that was there, as it would without us. ns: nanoseconds between two
** ticks. Returns NULL and errno.
*/
LJ_FUNC MPTicks *lj_memprof_newticks(int signo, uint64_t ns);

/*
** Starts the timer, for the calling thread, which blocks the signal until
** then. Returns errno, or 0.
*/
LJ_FUNC int lj_memprof_startticks(MPTicks *t);

/* Called by this thread: it gets no more of them. */
LJ_FUNC void lj_memprof_stopticks(MPTicks *t);

/*
** Puts the signal's handler back, if ours is still there and no other timer
** needs it, and frees the timer, which has been stopped or never started.
*/
LJ_FUNC void lj_memprof_freeticks(MPTicks *t);

/* How many there were. Any thread may call this. */
LJ_FUNC uint32_t lj_memprof_ticks(const MPTicks *t);

/*
** In a child of fork(), which has no timers: puts all handlers back. With the
** lock of all recordings held, as it is in the parent at the fork.
*/
LJ_FUNC void lj_memprof_forksignals(void);

#endif

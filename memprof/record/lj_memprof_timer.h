/*
** The thread that ends the stream of a recording when its time is over, also if
** the VM is idle; and the timer whose signal counts time.
*/

#ifndef _LJ_MEMPROF_TIMER_H
#define _LJ_MEMPROF_TIMER_H

#include "lj_memprof.h"

/* See lj_memprof_timer.c. */
typedef struct MPTimer MPTimer;

/* True if a signal can be that of a timer. 0 is none. */
LJ_FUNC int lj_memprof_checksignal(int signo);

/*
** Starts the thread of a recording that has an end, or a signal. ours: the
** thread may call the writer. To be called after META is written. Returns 0 and
** errno if there is none. mp->timer stays NULL if none is needed.
*/
LJ_FUNC int lj_memprof_starttimer(MPState *mp, int signo, int ours);

/*
** Stops the thread, if there is one, waits for it and frees what it had. The
** signal has the handler that it had before. Not to be called while the thread
** ends the stream (MP_EXPIRED). In a child of fork() there is no thread, and
** nothing to wait for.
*/
LJ_FUNC void lj_memprof_endtimer(MPState *mp);

#endif

/*
** The exit of the process: ends the recordings that go on.
*/

#ifndef _LJ_MEMPROF_EXIT_H
#define _LJ_MEMPROF_EXIT_H

#include "lj_memprof.h"

/* Before any start: from here on, the exit ends all recordings. */
LJ_FUNC void lj_memprof_atexit(void);

#endif

/*
** The recorder's lock of the process.
*/

#ifndef _LJ_MEMPROF_LOCK_H
#define _LJ_MEMPROF_LOCK_H

#include "lj_memprof.h"

/* A fork waits for whoever has it. No recording begins or ends meanwhile. */
LJ_FUNC void lj_memprof_lock(void);

/* Gives it back. */
LJ_FUNC void lj_memprof_unlock(void);

/*
** Before it is first taken by one of several threads: from here on, fork()
** takes it. child() is called in the child process, which has it then.
*/
LJ_FUNC void lj_memprof_lockatfork(void (*child)(void));

#endif

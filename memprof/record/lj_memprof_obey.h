/*
** Events of a recording that takes none, for now.
*/

#ifndef _LJ_MEMPROF_OBEY_H
#define _LJ_MEMPROF_OBEY_H

#include "lj_memprof.h"
#include "lj_memprof_hook.h"

/*
** An event of a recording that may begin anew: see MPHook. As
** lj_memprof_pass(), but executes an order that waits, and in a child process
** goes on with the recording that the fork has copied.
*/
LJ_FUNC void *lj_memprof_obey(MPHook *h, void *ptr, size_t osize, size_t nsize);

/*
** Stops the recording as an order does: its stream and file end, and it can
** begin anew. At an event; ptr and size as for lj_memprof_complete(). Returns 0
** if it fails, or if another thread is ending it.
*/
LJ_FUNC int lj_memprof_pausehook(MPHook *h, const void *ptr, size_t size);

#endif

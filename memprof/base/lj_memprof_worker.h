/*
** A thread of the recorder's own.
*/

#ifndef _LJ_MEMPROF_WORKER_H
#define _LJ_MEMPROF_WORKER_H

#include "lj_memprof.h"

#if !defined(LUAJIT_DISABLE_MEMPROF) && !defined(LUAJIT_DISABLE_THREAD_SAFE)

#include <pthread.h>

/*
** Starts a thread that executes run(arg), with all signals blocked, and waits
** until it runs. name has at most 15 bytes. Returns 0, or an error number of
** pthread_create().
**
** A fork() afterwards does not copy what a thread holds while it is being made:
** in AddressSanitizer, a lock of its allocator, which a child process would
** wait for.
*/
LJ_FUNC int lj_memprof_startworker(pthread_t *thread, const char *name,
                                   void *(*run)(void *arg), void *arg);

#endif

#endif

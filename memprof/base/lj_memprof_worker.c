/*
** A thread of the recorder's own.
*/

#define lj_memprof_worker_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof_worker.h"

#if !defined(LUAJIT_DISABLE_MEMPROF) && !defined(LUAJIT_DISABLE_THREAD_SAFE)

#include <errno.h>
#include <semaphore.h>
#include <signal.h>

/* What a new thread is told; it is the starter's, until the thread runs. */
typedef struct WorkerStart {
  void *(*run)(void *arg);
  void *arg;
  sem_t runs;
} WorkerStart;

static void *worker_main(void *arg)
{
  WorkerStart *start = (WorkerStart *)arg;
  void *(*run)(void *) = start->run;
  void *its = start->arg;
  sem_post(&start->runs);
  return run(its);
}

int lj_memprof_startworker(pthread_t *thread, const char *name,
                           void *(*run)(void *arg), void *arg)
{
  WorkerStart start;
  sigset_t all, mask;
  int en;
  start.run = run;
  start.arg = arg;
  sem_init(&start.runs, 0, 0);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  en = pthread_create(thread, NULL, worker_main, &start);
  if (en == 0) {
#ifdef __linux__
    pthread_setname_np(*thread, name);
#else
    UNUSED(name);
#endif
    while (sem_wait(&start.runs) != 0 && errno == EINTR)
      continue;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  sem_destroy(&start.runs);
  return en;
}

#endif

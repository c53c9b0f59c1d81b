/*
** The recorder's lock of the process.
*/

#define lj_memprof_lock_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include "lj_memprof_lock.h"

#ifndef LUAJIT_DISABLE_THREAD_SAFE

#include <pthread.h>

static pthread_mutex_t lock_mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*lock_child)(void);

void lj_memprof_lock(void)
{
  pthread_mutex_lock(&lock_mutex);
}

void lj_memprof_unlock(void)
{
  pthread_mutex_unlock(&lock_mutex);
}

static void lock_forked(void)
{
  lock_child();
  lj_memprof_unlock();
}

void lj_memprof_lockatfork(void (*child)(void))
{
  lock_child = child;
  pthread_atfork(lj_memprof_lock, lj_memprof_unlock, lock_forked);
}

#else

void lj_memprof_lock(void)
{
}

void lj_memprof_unlock(void)
{
}

void lj_memprof_lockatfork(void (*child)(void))
{
  UNUSED(child);
}

#endif

#endif

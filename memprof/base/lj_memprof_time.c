/*
** The monotonic clock, and the deadline of a process that exits.
*/

#define lj_memprof_time_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <time.h>

#include "lj_memprof_time.h"

static uint64_t time_deadline;

uint64_t lj_memprof_now(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void lj_memprof_sleep(long ns)
{
  struct timespec ts = {0, ns};
  nanosleep(&ts, NULL);
}

void lj_memprof_setdeadline(uint64_t until)
{
  __atomic_store_n(&time_deadline, until, __ATOMIC_RELAXED);
}

uint64_t lj_memprof_deadline(void)
{
  return __atomic_load_n(&time_deadline, __ATOMIC_RELAXED);
}

#endif

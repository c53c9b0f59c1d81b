/*
** Ends the events of a VM that another thread may be running, when the process
** exits. An event only stores that it is at work, and that it is not: what
** orders these stores is paid for by the thread that exits.
*/

#define lj_memprof_exit_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXIT_NAP   200000          /* Nanoseconds between two looks. */
#define EXIT_DRAIN (20 * EXIT_NAP) /* No store waits that long to be seen. */

/* Of linux/membarrier.h, which older systems do not have. */
#define EXIT_EXPEDITED 0x08
#define EXIT_REGISTER  0x10

static void exit_sleep(long ns)
{
  struct timespec ts = {0, ns};
  nanosleep(&ts, NULL);
}

/* Waits a little. */
void lj_memprof_nap(void)
{
  exit_sleep(EXIT_NAP);
}

/*
** From here on other threads see what this one has stored, and what they had
** stored before is seen here. Without the system call, time does it.
*/
static void exit_barrier(void)
{
#ifdef SYS_membarrier
  if (syscall(SYS_membarrier, EXIT_REGISTER, 0) == 0 &&
      syscall(SYS_membarrier, EXIT_EXPEDITED, 0) == 0)
    return;
#endif
  exit_sleep(EXIT_DRAIN);
}

/*
** Lets a VM make no more events, and waits for the one that it is at. Returns 0
** if that takes too long: it may be waiting for its writer, or be this thread.
*/
int lj_memprof_quiesce(MPHook *h, uint64_t until)
{
  for (;;) {
    /* The end of a write would set it again. */
    lj_memprof_setactive(h, NULL);
    exit_barrier();
    if (!__atomic_load_n(&h->busy, __ATOMIC_ACQUIRE) &&
        lj_memprof_active(h) == NULL)
      return 1;
    if (lj_memprof_now() >= until)
      return 0;
    lj_memprof_nap();
  }
}

#endif

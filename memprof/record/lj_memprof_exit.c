/*
** The exit of the process: ends the recordings of VMs that other threads may be
** running. An event only stores that it is at work, and that it is not: what
** orders these stores is paid for by the thread that exits.
*/

#define lj_memprof_exit_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdlib.h>
#include <unistd.h>

#include "lj_memprof_control.h"
#include "lj_memprof_ends.h"
#include "lj_memprof_exit.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_lock.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_signal.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"
#include "lj_memprof_timer.h"

#define EXIT_PATIENCE (1000 * MP_MS) /* With other threads, in all, */
#define EXIT_LEAST    (100 * MP_MS)  /* or with each: it may wait for a CPU. */
#define EXIT_DRAIN    (4 * MP_MS)    /* No store waits that long to be seen. */

/* -- Other threads' events ------------------------------------------------ */

/*
** From here on other threads see what this one has stored, and what they had
** stored before is seen here. Without the system call, time does it.
*/
static void exit_barrier(void)
{
  if (!lj_memprof_barrier())
    lj_memprof_sleep(EXIT_DRAIN);
}

/*
** Lets a VM make no more events, and waits for the one that it is at. Returns 0
** if that takes too long: it may be waiting for its writer, or be this thread.
*/
static int exit_quiesce(MPHook *h, uint64_t until)
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
    lj_memprof_sleep(MP_NAP);
  }
}

/* -- Recordings ----------------------------------------------------------- */

/*
** Ends a recording whose VM may be running in another thread: nothing of the VM
** is changed, and the recording is not freed.
*/
static void exit_end(MPHook *h, uint64_t until)
{
  MPState *mp = h->rec;
  int (*on_stop)(void *arg) = mp->on_stop;
  void *arg = mp->buf.arg;
  uint64_t least = lj_memprof_now() + EXIT_LEAST;
  int over = mp->detached; /* Its stream has ended, when its time was over. */
  int done = over || exit_quiesce(h, until > least ? until : least);
  if (done && !over) {
    mp->detached = 1;
    lj_memprof_finish(mp, !lj_memprof_isinstalled(h), lj_memprof_estimate(mp));
    if (mp->buf.queue != NULL)
      done = lj_memprof_endthread(mp->buf.queue);
  }
  if (done)
    lj_memprof_endtimer(mp);
  lj_memprof_ended(h, done);
  if (done) /* Now lua_close() may free the rest. */
    on_stop(arg);
}

/* Ends all recordings. */
static void exit_all(void)
{
  uint64_t until = lj_memprof_now() + EXIT_PATIENCE;
  MPHook *h;
  int wait;
  lj_memprof_endcontrol();
  lj_memprof_setdeadline(until);
  do {
    h = lj_memprof_claimany(&wait);
    if (h != NULL)
      exit_end(h, until);
    else if (wait)
      lj_memprof_sleep(MP_NAP);
  } while (h != NULL || (wait && lj_memprof_now() < until));
}

/* In a child of fork(), which has none of its parent's threads and timers. */
static void exit_forked(void)
{
  lj_memprof_forkedhooks();
  lj_memprof_forkedcontrol();
  lj_memprof_forksignals();
}

/*
** Registers handlers at the first start. Those of atexit() run in reverse
** order: what existed before the first start still exists when the process
** exits, and when this library is unloaded.
*/
static void exit_init(void)
{
  lj_memprof_lockatfork(exit_forked);
  atexit(exit_all);
}

void lj_memprof_atexit(void)
{
#ifndef LUAJIT_DISABLE_THREAD_SAFE
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, exit_init);
#else
  static int done;
  if (!done)
    exit_init();
  done = 1;
#endif
}

#endif

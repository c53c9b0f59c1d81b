/*
** The thread that ends the stream of a recording when its time is over. The VM
** may be idle then, and look at no clock.
**
** The VM's thread and this one must not write at the same time. An event stores
** that it is at work, and then looks whether it is to be recorded: see
** lj_memprof_enter(). This thread stores that none is, lets the kernel order
** all that (membarrier), and looks whether one is at work. So an event pays
** nothing. Where the kernel cannot do it, the VM's thread ends the stream, at
** its next allocation.
**
** What else the end of a recording takes is left to the VM's thread, at its
** next allocation or whatever comes first: it takes the wrapper away, calls
** on_stop(), and the writer if that is the host's own.
*/

#define lj_memprof_timer_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_ends.h"
#include "lj_memprof_hooks.h"
#include "lj_memprof_queue.h"
#include "lj_memprof_signal.h"
#include "lj_memprof_state.h"
#include "lj_memprof_time.h"
#include "lj_memprof_timer.h"
#include "lj_memprof_worker.h"

#ifndef LUAJIT_DISABLE_THREAD_SAFE

#define TIMER_NAP_MAX (5 * MP_MS) /* Between two looks at a busy VM. */

struct MPTimer {
  pthread_mutex_t lock;
  pthread_cond_t wake; /* stop or ready was set. */
  pthread_t thread;    /* The starter's. */
  MPHook *hook;
  MPState *mp;
  uint64_t end;   /* Nanoseconds of the clock, or 0. */
  int ours;       /* The writer may be called. */
  int barrier;    /* The kernel orders what two threads have stored. */
  long pid;       /* The process that has the thread. */
  MPTicks *ticks; /* Of the signal, or NULL. */
  /* Under the lock. */
  int stop;  /* The recording ends otherwise. */
  int ready; /* The thread has begun: */
  int en;    /* why it cannot, or 0. */
};

/* -- The end of the stream ------------------------------------------------- */

/* True if the thread is to stop. */
static int timer_stopped(MPTimer *t)
{
  int stop;
  pthread_mutex_lock(&t->lock);
  stop = t->stop;
  pthread_mutex_unlock(&t->lock);
  return stop;
}

/* Ends the stream, which is in this thread's hands. */
static void timer_finish(const MPTimer *t)
{
  MPState *mp = t->mp;
  int done = 1;
  mp->detached = 1;
  lj_memprof_finish(mp, !lj_memprof_isinstalled(t->hook),
                    lj_memprof_estimate(mp));
  if (mp->buf.queue != NULL)
    done = lj_memprof_endthread(mp->buf.queue);
  lj_memprof_expired(t->hook, done);
}

/*
** The time is over: from here on the VM's thread ends the recording, if it gets
** there first. An event that is at work may wait for the writer.
*/
static void timer_over(MPTimer *t)
{
  uint64_t nap = MP_NAP;
  int status;
  while ((status = lj_memprof_expire(t->hook, t->mp)) == MP_CLAIM_LATER &&
         !timer_stopped(t))
    lj_memprof_sleep(MP_NAP);
  if (status != MP_CLAIM_DONE || !t->ours || !t->barrier ||
      !lj_memprof_barrier())
    return;
  while ((status = lj_memprof_claimidle(t->hook, t->mp)) == MP_CLAIM_LATER &&
         !timer_stopped(t)) {
    lj_memprof_sleep((long)nap);
    nap = 2 * nap < TIMER_NAP_MAX ? 2 * nap : TIMER_NAP_MAX;
  }
  if (status == MP_CLAIM_DONE)
    timer_finish(t);
}

/* -- The thread ------------------------------------------------------------ */

/* Waits for the end. Returns 0 if the thread is to stop. */
static int timer_wait(MPTimer *t)
{
  struct timespec ts = {(time_t)(t->end / (1000 * MP_MS)),
                        (long)(t->end % (1000 * MP_MS))};
  int stop;
  pthread_mutex_lock(&t->lock);
  if (t->end == 0)
    while (!t->stop)
      pthread_cond_wait(&t->wake, &t->lock);
  else
    while (!t->stop &&
           pthread_cond_timedwait(&t->wake, &t->lock, &ts) != ETIMEDOUT)
      ;
  stop = t->stop;
  pthread_mutex_unlock(&t->lock);
  /* The two clocks agree, but for those who test. */
  while (!stop && lj_memprof_now() < t->end) {
    lj_memprof_sleep(MP_MS);
    stop = timer_stopped(t);
  }
  return !stop;
}

/* Reports to the starter: why the thread cannot begin, or 0. */
static void timer_report(MPTimer *t, int en)
{
  pthread_mutex_lock(&t->lock);
  t->ready = 1;
  t->en = en;
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->lock);
}

/* The thread: it waits for the end, or to be stopped. */
static void *timer_main(void *arg)
{
  MPTimer *t = (MPTimer *)arg;
  int en = t->ticks != NULL ? lj_memprof_startticks(t->ticks) : 0, over;
  timer_report(t, en);
  if (en != 0)
    return NULL;
  over = timer_wait(t);
  if (t->ticks != NULL)
    lj_memprof_stopticks(t->ticks);
  if (over)
    timer_over(t);
  return NULL;
}

/* -- Start and stop -------------------------------------------------------- */

int lj_memprof_checksignal(int signo)
{
  return lj_memprof_cancatch(signo);
}

/* Frees a timer. What belongs to the parent of a fork stays. */
static void timer_free(MPTimer *t)
{
  if (t->pid == (long)getpid()) {
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->wake);
    if (t->ticks != NULL)
      lj_memprof_freeticks(t->ticks);
  }
  free(t);
}

/* Makes a timer without a thread. Returns NULL and errno. */
static MPTimer *timer_new(MPState *mp, int signo, int ours)
{
  MPTimer *t = (MPTimer *)calloc(1, sizeof(MPTimer));
  pthread_condattr_t attr;
  int en;
  if (t == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->wake, &attr);
  pthread_condattr_destroy(&attr);
  t->hook = mp->hook;
  t->mp = mp;
  t->end = mp->clock.end;
  t->ours = ours;
  t->pid = (long)getpid();
  /* The first one takes long. */
  t->barrier = t->end != 0 && lj_memprof_barrier();
  if (signo == 0)
    return t;
  t->ticks = lj_memprof_newticks(signo, mp->clock.marks * MP_MS);
  if (t->ticks != NULL)
    return t;
  en = errno;
  timer_free(t);
  errno = en;
  return NULL;
}

/* Starts the thread, with no signal but its own. Returns errno, or 0. */
static int timer_run(MPTimer *t)
{
  int en = lj_memprof_startworker(&t->thread, "ljprof-timer", timer_main, t);
  if (en != 0)
    return en;
  pthread_mutex_lock(&t->lock);
  while (!t->ready)
    pthread_cond_wait(&t->wake, &t->lock);
  en = t->en;
  pthread_mutex_unlock(&t->lock);
  if (en != 0)
    pthread_join(t->thread, NULL);
  return en;
}

int lj_memprof_starttimer(MPState *mp, int signo, int ours)
{
  MPTimer *t;
  int en;
  if (lj_memprof_isblocked(signo)) /* It is the host's, and stays so. */
    signo = 0;
  if (mp->clock.end == 0 && signo == 0)
    return 1;
  t = timer_new(mp, signo, ours);
  if (t == NULL)
    return 0;
  en = timer_run(t);
  if (en != 0) {
    timer_free(t);
    errno = en;
    return 0;
  }
  mp->timer = t;
  mp->ticks = t->ticks;
  mp->ticked = 0;
  return 1;
}

void lj_memprof_endtimer(MPState *mp)
{
  MPTimer *t = mp->timer;
  mp->timer = NULL;
  mp->ticks = NULL;
  if (t == NULL)
    return;
  if (t->pid == (long)getpid()) {
    pthread_mutex_lock(&t->lock);
    t->stop = 1;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
  }
  timer_free(t);
}

#else

int lj_memprof_checksignal(int signo)
{
  return signo >= 0 && signo < NSIG;
}

int lj_memprof_starttimer(MPState *mp, int signo, int ours)
{
  UNUSED(mp);
  UNUSED(signo);
  UNUSED(ours);
  return 1;
}

void lj_memprof_endtimer(MPState *mp)
{
  UNUSED(mp);
}

#endif

#endif

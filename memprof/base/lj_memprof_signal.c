/*
** The RFC's timer: a signal that counts time.
**
** The handler is the process's, but the timer's signal goes to a thread of ours
** alone: no call of the host's is interrupted, and no mask of its threads is
** changed. Whoever else sends the signal means the host: its handler is called,
** with its flags and its mask.
*/

#define lj_memprof_signal_c
#define LUA_CORE

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "lj_memprof.h"

#if !defined(LUAJIT_DISABLE_MEMPROF) && !defined(LUAJIT_DISABLE_THREAD_SAFE)

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_lock.h"
#include "lj_memprof_signal.h"

#define SIGNAL_TIMERS 64 /* Recordings with a signal at the same time. */

/*
** The timers of all recordings. They are static, since a signal may come when
** its timer is gone. The handler looks at the addresses, and at count.
*/
struct MPTicks {
  uint32_t count; /* Of ticks. Atomic. */
  int signo;      /* 0 if it is free; under the lock. */
  uint64_t every; /* Nanoseconds. */
  timer_t timer;
};

static MPTicks signal_ticks[SIGNAL_TIMERS];

/* The handler that ours has replaced. */
typedef struct SignalHost {
  struct sigaction action; /* Set before our handler is there. */
  int timers;              /* That need ours; under the lock. */
  int spent;               /* SA_RESETHAND has had its signal. Atomic. */
} SignalHost;

static SignalHost signal_host[NSIG];

/* -- The handler ----------------------------------------------------------- */

/* Takes the system's default action for a signal. */
static void signal_default(int signo)
{
  struct sigaction dfl, ours;
  sigset_t set, mask;
  memset(&dfl, 0, sizeof(dfl));
  dfl.sa_handler = SIG_DFL;
  sigemptyset(&set);
  sigaddset(&set, signo);
  if (sigaction(signo, &dfl, &ours) != 0)
    return;
  raise(signo);
  pthread_sigmask(SIG_UNBLOCK, &set, &mask);
  /* The process still runs: the signal is ignored, or it was continued. */
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  sigaction(signo, &ours, NULL);
}

/* Passes a signal that is not of our timers to the host's handler. */
static void signal_forward(int signo, siginfo_t *si, void *ctx)
{
  SignalHost *host = &signal_host[signo];
  const struct sigaction *sa = &host->action;
  int spent = 0;
  if (sa->sa_flags & SA_RESETHAND)
    spent = __atomic_exchange_n(&host->spent, 1, __ATOMIC_RELAXED);
  if (sa->sa_flags & SA_SIGINFO && !spent)
    sa->sa_sigaction(signo, si, ctx);
  else if (sa->sa_handler == SIG_DFL || spent)
    signal_default(signo);
  else if (sa->sa_handler != SIG_IGN)
    sa->sa_handler(signo);
}

static void signal_handler(int signo, siginfo_t *si, void *ctx)
{
  int saved = errno;
  if (si->si_code == SI_TIMER) {
    size_t i;
    for (i = 0; i < SIGNAL_TIMERS; i++)
      if (si->si_value.sival_ptr == &signal_ticks[i]) {
        __atomic_add_fetch(&signal_ticks[i].count, 1, __ATOMIC_RELAXED);
        return;
      }
  }
  signal_forward(signo, si, ctx);
  errno = saved;
}

/* True if a signal's handler is ours. */
static int signal_isours(int signo)
{
  struct sigaction now;
  return sigaction(signo, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
         now.sa_sigaction == signal_handler;
}

/* -- With the lock held ---------------------------------------------------- */

/*
** Puts our handler in the place of the host's. It has what the host's would
** have: its mask, its stack, and calls go on or not, as the host wants it.
** Where the host has none, they go on. Returns 0 and errno.
*/
static int signal_install(int signo)
{
  SignalHost *host = &signal_host[signo];
  struct sigaction ours;
  if (signal_isours(signo)) { /* The host has saved and restored our handler. */
    host->timers++;
    return 1;
  }
  if (sigaction(signo, NULL, &host->action) != 0)
    return 0;
  host->spent = 0;
  ours = host->action;
  if (!(ours.sa_flags & SA_SIGINFO) &&
      (ours.sa_handler == SIG_DFL || ours.sa_handler == SIG_IGN))
    ours.sa_flags |= SA_RESTART;
  ours.sa_flags &= ~(int)SA_RESETHAND;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = signal_handler;
  if (sigaction(signo, &ours, NULL) != 0)
    return 0;
  host->timers++;
  return 1;
}

/* Puts the host's back, unless the host has put another one there. */
static void signal_restore(int signo)
{
  SignalHost *host = &signal_host[signo];
  struct sigaction sa = host->action;
  if (!signal_isours(signo))
    return;
  if (host->spent) {
    sa.sa_flags &= ~(int)SA_SIGINFO;
    sa.sa_handler = SIG_DFL;
  }
  sigaction(signo, &sa, NULL);
}

static MPTicks *signal_get(int signo, uint64_t ns)
{
  MPTicks *t = signal_ticks;
  while (t < signal_ticks + SIGNAL_TIMERS && t->signo != 0)
    t++;
  if (t == signal_ticks + SIGNAL_TIMERS) {
    errno = EAGAIN;
    return NULL;
  }
  if (!signal_install(signo))
    return NULL;
  t->signo = signo;
  t->every = ns;
  __atomic_store_n(&t->count, 0, __ATOMIC_RELAXED);
  return t;
}

void lj_memprof_forksignals(void)
{
  int signo;
  for (signo = 1; signo < NSIG; signo++)
    if (signal_host[signo].timers != 0) {
      signal_host[signo].timers = 0;
      signal_restore(signo);
    }
  memset(signal_ticks, 0, sizeof(signal_ticks));
}

/* -- Timers ---------------------------------------------------------------- */

int lj_memprof_cancatch(int signo)
{
  struct sigaction sa;
  if (signo == 0)
    return 1;
  return signo > 0 && signo < NSIG && signo != SIGKILL && signo != SIGSTOP &&
         sigaction(signo, NULL, &sa) == 0;
}

int lj_memprof_isblocked(int signo)
{
  sigset_t mask;
  if (signo == 0)
    return 1;
  return pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 &&
         sigismember(&mask, signo);
}

MPTicks *lj_memprof_newticks(int signo, uint64_t ns)
{
  MPTicks *t;
  lj_memprof_lock();
  t = signal_get(signo, ns);
  lj_memprof_unlock();
  return t;
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int lj_memprof_startticks(MPTicks *t)
{
  struct sigevent ev;
  struct itimerspec every;
  sigset_t set;
  memset(&ev, 0, sizeof(ev));
  ev.sigev_notify = SIGEV_THREAD_ID;
  ev.sigev_signo = t->signo;
  ev.sigev_value.sival_ptr = t;
  ev.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  if (timer_create(CLOCK_MONOTONIC, &ev, &t->timer) != 0)
    return errno;
  every.it_interval.tv_sec = (time_t)(t->every / 1000000000u);
  every.it_interval.tv_nsec = (long)(t->every % 1000000000u);
  every.it_value = every.it_interval;
  timer_settime(t->timer, 0, &every, NULL);
  sigemptyset(&set);
  sigaddset(&set, t->signo);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  return 0;
}

void lj_memprof_stopticks(MPTicks *t)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, t->signo);
  /* One that is pending is gone when the thread is. */
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  timer_delete(t->timer);
}

void lj_memprof_freeticks(MPTicks *t)
{
  lj_memprof_lock();
  if (--signal_host[t->signo].timers == 0)
    signal_restore(t->signo);
  t->signo = 0;
  lj_memprof_unlock();
}

uint32_t lj_memprof_ticks(const MPTicks *t)
{
  return __atomic_load_n(&t->count, __ATOMIC_RELAXED);
}

#endif

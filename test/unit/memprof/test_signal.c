/*
** The RFC's signal, which counts time: the host's handlers and masks stay as
** they were. ThreadSanitizer has to find nothing here.
*/

#include "timed.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals; /* Handled by the host. */
static sigset_t signal_mask;          /* Of its handler. */

static void host_signal(int signo)
{
  (void)signo;
  signals++;
  pthread_sigmask(SIG_SETMASK, NULL, &signal_mask);
}

static void host_siginfo(int signo, siginfo_t *si, void *ctx)
{
  host_signal(signo);
  if (si->si_pid != getpid() || ctx == NULL)
    signals += 1000;
}

static void host_action(int signo, int flags, struct sigaction *sa)
{
  memset(sa, 0, sizeof(*sa));
  sa->sa_flags = flags;
  sigemptyset(&sa->sa_mask);
  sigaddset(&sa->sa_mask, SIGUSR2);
  if (flags & SA_SIGINFO)
    sa->sa_sigaction = host_siginfo;
  else
    sa->sa_handler = host_signal;
  ck_assert_int_eq(sigaction(signo, sa, NULL), 0);
}

/* True if the action of a signal and the mask are as they were. */
static bool is_action(int signo, const struct sigaction *sa,
                      const sigset_t *set)
{
  const int flags =
      SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK | (int)SA_RESETHAND;
  struct sigaction now;
  sigset_t mask;
  int i;
  sigaction(signo, NULL, &now);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
#ifdef __SANITIZE_THREAD__ /* It has flags and a mask of its own. */
  now.sa_flags = sa->sa_flags;
  now.sa_mask = sa->sa_mask;
#endif
  for (i = 1; i < NSIG; i++)
    if (sigismember(&now.sa_mask, i) != sigismember(&sa->sa_mask, i) ||
        sigismember(&mask, i) != sigismember(set, i))
      return false;
  /* The C library adds a flag of its own. */
  return ((now.sa_flags ^ sa->sa_flags) & flags) == 0 &&
         ((now.sa_flags & SA_SIGINFO) ? now.sa_sigaction == sa->sa_sigaction
                                      : now.sa_handler == sa->sa_handler);
}

/* Makes events for so many milliseconds; no call of the host is interrupted. */
static void work_on(lua_State *L, int ms)
{
  int i;
  for (i = 0; i < ms; i += 2) {
    ck_assert_int_eq(poll(NULL, 0, 2), 0);
    lua_newtable(L);
    lua_settop(L, 0);
  }
}

START_TEST(signal_of_a_host)
{
  static const int flags[] = {0, SA_SIGINFO, SA_RESTART | SA_NODEFER,
                              SA_SIGINFO | SA_RESETHAND};
  sigset_t mask;
  size_t i;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    int signo = i % 2 ? SIGUSR1 : SIGRTMIN + 3;
    lua_State *L = rec_open();
    struct luam_Prof_options opt = timed_options(LUAM_PROF_COMPACT, 0);
    struct sigaction host, now;
    RecStream s;
    host_action(signo, flags[i], &host);
    opt.signo = signo;
    opt.reserved[LUAM_PROF_MARKS] = 5;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    sigaction(signo, NULL, &now);
    ck_assert(now.sa_flags & SA_SIGINFO &&
              now.sa_sigaction != host.sa_sigaction);
    work_on(L, 100);
    ck_assert_int_eq(signals, 0);
    raise(signo);
    ck_assert_int_eq(signals, 1);
    ck_assert(sigismember(&signal_mask, SIGUSR2));
#ifndef __SANITIZE_THREAD__ /* Which blocks all, and calls the handler later.  \
                             */
    ck_assert_int_eq(sigismember(&signal_mask, signo),
                     flags[i] & SA_NODEFER ? 0 : 1);
#endif
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    s = rec_read(timed_path);
    ck_assert_uint_ge(rec_books(&s).times, 5);
    rec_free(&s);
    if (flags[i] & SA_RESETHAND) {
      host.sa_handler = SIG_DFL;
      host.sa_flags &= ~SA_SIGINFO;
    }
    ck_assert(is_action(signo, &host, &mask));
    signals = 0;
    lua_close(L);
  }
}
END_TEST

/* Two recordings share a signal, and a host takes it away from them. */
START_TEST(signal_of_two)
{
  lua_State *a = rec_open(), *b = rec_open();
  RecStream s = {0}, t = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  struct sigaction host, other;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  host_action(SIGUSR1, 0, &host);
  opt.signo = SIGUSR1;
  opt.reserved[LUAM_PROF_MARKS] = 1;
  ck_assert_int_eq(luaM_memprof_start(a, &opt), LUAM_PROFILE_SUCCESS);
  opt.arg = &t;
  ck_assert_int_eq(luaM_memprof_start(b, &opt), LUAM_PROFILE_SUCCESS);
  work_on(b, 40);
  ck_assert_int_eq(luaM_memprof_stop(a), LUAM_PROFILE_SUCCESS);
  ck_assert(!is_action(SIGUSR1, &host, &mask));
  raise(SIGUSR1);
  ck_assert_int_eq(signals, 1);
  host_action(SIGUSR1, SA_SIGINFO | SA_RESTART, &other);
  ck_assert_int_eq(luaM_memprof_stop(b), LUAM_PROFILE_SUCCESS);
  ck_assert(is_action(SIGUSR1, &other, &mask));
  ck_assert_uint_ge(rec_books(&t).times, 5);
  lua_close(a);
  lua_close(b);
  rec_free(&s);
  rec_free(&t);
}
END_TEST

/* A signal that the host blocks is the host's: the clock has marks, too. */
START_TEST(signal_that_is_blocked)
{
  lua_State *L = rec_open();
  struct luam_Prof_options opt = timed_options(LUAM_PROF_COMPACT, 0);
  struct sigaction host;
  const struct timespec none = {0, 0};
  sigset_t set, mask;
  RecStream s;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  sigaction(SIGUSR1, NULL, &host);
  opt.signo = SIGUSR1;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  ck_assert(is_action(SIGUSR1, &host, &mask));
  work_on(L, 100);
  ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
  ck_assert_int_eq(sigtimedwait(&set, NULL, &none), SIGUSR1);
  ck_assert_int_eq(sigtimedwait(&set, NULL, &none), -1);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  s = rec_read(timed_path);
  ck_assert_uint_ge(rec_books(&s).times, 3);
  rec_free(&s);
  lua_close(L);
}
END_TEST

/* What a process does that records with a signal, and has no handler. */
static void run_default(int how)
{
  struct luam_Prof_options opt = timed_options(LUAM_PROF_COMPACT, 0);
  lua_State *L = luaL_newstate();
  int signo = how == 1 ? SIGURG : SIGUSR1, status;
  struct sigaction now;
  pid_t pid;
  if (how == 2)
    signal(signo, SIG_IGN);
  opt.signo = signo;
  opt.reserved[LUAM_PROF_MARKS] = 1;
  if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
    _exit(1);
  work_on(L, 20);
  if (how == 3) { /* A child has the host's. */
    pid = fork();
    if (pid == 0) {
      sigaction(signo, NULL, &now);
      _exit(now.sa_handler == SIG_DFL ? 7 : 1);
    }
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
      _exit(2);
  } else {
    kill(getpid(), signo);
  }
  work_on(L, 20);
  if (luaM_memprof_stop(L) != LUAM_PROFILE_SUCCESS)
    _exit(3);
  _exit(7);
}

/* 0: it is killed. 1: by default the signal is ignored. 2: the host ignores it.
 */
START_TEST(signal_without_a_handler)
{
  int how;
  for (how = 0; how < 4; how++) {
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
      run_default(how);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    if (how == 0)
      ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    else
      ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
}
END_TEST

/* The signal and the end of time, many times. */
START_TEST(signal_and_the_end)
{
  struct sigaction before;
  sigset_t mask;
  int round;
  sigaction(SIGPROF, NULL, &before);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  for (round = rec_rounds(100); round-- > 0;) {
    lua_State *L = rec_open();
    struct luam_Prof_options opt = timed_options(LUAM_PROF_COMPACT, 3);
    opt.signo = SIGPROF;
    opt.reserved[LUAM_PROF_MARKS] = 1;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    timed_wait(L, round, 3);
    luaM_memprof_stop(L);
    ck_assert(is_action(SIGPROF, &before, &mask));
    timed_checkwhole(false);
    lua_close(L);
  }
}
END_TEST

int main(void)
{
  const TTest *tests[] = {signal_of_a_host, signal_of_two,
                          signal_that_is_blocked, signal_without_a_handler,
                          signal_and_the_end};
  rec_setup = timed_setup;
  rec_teardown = timed_teardown;
  return REC_MAIN("signal", tests);
}

/*
** Time: streams that end though the VM is idle, and whatever else ends at the
** same moment; the RFC's signal. ThreadSanitizer has to find nothing here.
*/

#include "rec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- membarrier(), by --wrap ----------------------------------------------- */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static atomic_bool refused; /* The kernel has no membarrier(). */

long __wrap_syscall(long number, ...)
{
  long a[6];
  va_list ap;
  int i;
  if (refused && number == SYS_membarrier) {
    errno = ENOSYS;
    return -1;
  }
  va_start(ap, number);
  for (i = 0; i < 6; i++)
    a[i] = va_arg(ap, long);
  va_end(ap);
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* -- Recordings ------------------------------------------------------------ */

static char path[64];

static void set_up(void)
{
  strcpy(path, "/tmp/ljprof-timer-XXXXXX");
  close(mkstemp(path));
}

static void tear_down(void)
{
  char old[80];
  snprintf(old, sizeof(old), "%s.old", path);
  unlink(old);
  unlink(path);
}

/* Options of a recording to the file for so many milliseconds. */
static struct luam_Prof_options to_file(int format, uint64_t ms)
{
  RecStream none = {0};
  struct luam_Prof_options opt = rec_options(&none, format);
  opt.reserved[LUAM_PROF_DURMS] = ms;
  ck_assert_int_eq(luaM_memprof_tofile(&opt, path), LUAM_PROFILE_SUCCESS);
  return opt;
}

/* The file as it is. */
static RecStream contents(void)
{
  RecStream s = {0};
  char data[65536];
  ssize_t n;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ck_assert_int_ge(fd, 0);
  while ((n = read(fd, data, sizeof(data))) > 0)
    rec_write(data, (size_t)n, &s);
  close(fd);
  return s;
}

static bool is_whole(void)
{
  RecStream s = contents();
  bool whole = rec_books(&s).whole;
  rec_free(&s);
  return whole;
}

/* Checks that the file is whole and adds up, but if it has samples. */
static void check_whole(bool samples)
{
  RecStream s = contents();
  RecBooks b = rec_books(&s);
  ck_assert_msg(b.whole, "the stream is not whole: %s", b.error);
  if (!samples)
    ck_assert_uint_eq(b.errors, 0);
  if (!samples && b.after != 0) {
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
    ck_assert_uint_eq(b.flags, 0);
  }
  rec_free(&s);
}

/* Waits until it is so, for a minute at most. The VMs are idle. */
static bool wait_until(bool (*fn)(void))
{
  int i;
  for (i = 0; i < 6000; i++) {
    if (fn())
      return true;
    usleep(10000);
  }
  return false;
}

static void nap(unsigned us)
{
  struct timespec ts = {0, (long)us * 1000};
  nanosleep(&ts, NULL);
}

/* -- Idle VMs -------------------------------------------------------------- */

START_TEST(idle)
{
  int format, how;
  for (format = 0; format < REC_FORMATS; format++)
    for (how = 0; how < (format == LUAM_PROF_COMPACT ? 3 : 1); how++) {
      lua_State *L = rec_open();
      struct luam_Prof_options opt = to_file(format, 30);
      void *ud, *ud0;
      lua_Alloc f0 = lua_getallocf(L, &ud0);
      opt.stack = how == 1 ? 16 : 0;
      opt.sample = how == 2 ? 128 : 0;
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      rec_run(L, "local t = {}; for i = 1, 100 do t[i] = {i} end");
      ck_assert(wait_until(is_whole));
      check_whole(how == 2);
      lua_newtable(L);
      ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
      ck_assert(!luaM_memprof_isrunning());
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
      lua_close(L);
    }
}
END_TEST

/* Whatever the idle VM does first does the rest; a free, too. */
enum { REST_ALLOC, REST_FREE, REST_STOP, REST_START, REST_CLOSE, REST_LUA };

static void do_rest(lua_State *L, int rest)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  void *ud;
  lua_Alloc f;
  if (rest == REST_ALLOC)
    lua_newtable(L);
  f = lua_getallocf(L, &ud);
  if (rest == REST_FREE)
    f(ud, lua_touserdata(L, 1), 16, 0);
  if (rest == REST_STOP)
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  if (rest == REST_START) {
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(s.stops, 1);
  }
  rec_free(&s);
  if (rest == REST_LUA)
    rec_run(L, "assert(misc.memprof.is_running() == false)");
}

START_TEST(rest)
{
  int i;
  for (i = REST_ALLOC; i <= REST_LUA; i++) {
    lua_State *L = rec_open();
    struct luam_Prof_options opt;
    void *ud;
    lua_Alloc f = lua_getallocf(L, &ud);
    lua_settop(L, 0);
    lua_pushlightuserdata(L, f(ud, NULL, 0, 16));
    opt = to_file(LUAM_PROF_COMPACT, 20);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert(wait_until(is_whole));
    ck_assert(luaM_memprof_isrunning());
    do_rest(L, i);
    if (i != REST_CLOSE)
      ck_assert(!luaM_memprof_isrunning());
    if (i != REST_FREE)
      f(ud, lua_touserdata(L, 1), 16, 0);
    lua_close(L);
    ck_assert(!luaM_memprof_isrunning());
    check_whole(false);
  }
}
END_TEST

/* -- Hosts' writers -------------------------------------------------------- */

static pthread_t vm_thread;
static atomic_int elsewhere; /* Calls in other threads. */

static size_t host_write(const void *data, size_t len, void *arg)
{
  if (!pthread_equal(pthread_self(), vm_thread))
    elsewhere++;
  return rec_write(data, len, arg);
}

static int host_stop(void *arg)
{
  if (!pthread_equal(pthread_self(), vm_thread))
    elsewhere++;
  return rec_onstop(arg);
}

/* Starts a recording whose time is over when this returns, in an idle VM. */
static void start_idle(lua_State *L, struct luam_Prof_options *opt,
                       RecStream *s)
{
  unsigned ms;
  for (ms = 10; ms < 1000; ms *= 3) {
    rec_free(s);
    opt->reserved[LUAM_PROF_DURMS] = ms;
    ck_assert_int_eq(luaM_memprof_start(L, opt), LUAM_PROFILE_SUCCESS);
    lua_newtable(L);
    lua_newtable(L);
    lua_settop(L, 0);
    nap(1000 * (ms + 50));
    if (s->stops == 0) /* Else its time was over too soon. */
      return;
  }
}

/* They get their last block when the VM allocates next, or stops, or closes. */
START_TEST(writer_of_a_host)
{
  int i, format;
  vm_thread = pthread_self();
  for (format = 0; format < REC_FORMATS; format++)
    for (i = 0; i < 4; i++) {
      RecStream s = {0};
      lua_State *L = rec_open();
      struct luam_Prof_options opt = rec_options(&s, format);
      RecBooks b;
      lua_gc(L, LUA_GCSTOP, 0);
      opt.writer = host_write;
      opt.on_stop = host_stop;
      start_idle(L, &opt, &s);
      ck_assert_int_eq(s.stops, 0);
      ck_assert(luaM_memprof_isrunning());
      if (i == 0)
        lua_newtable(L);
      else if (i == 1)
        lua_gc(L, LUA_GCCOLLECT, 0); /* A free may come first. */
      else if (i == 2)
        ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
      if (i < 3)
        ck_assert_int_eq(s.stops, 1);
      lua_close(L);
      ck_assert_int_eq(s.stops, 1);
      b = rec_books(&s);
      ck_assert_msg(b.whole, "%s", b.error);
      ck_assert_uint_eq(b.errors, 0);
      if (b.after != 0)
        ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
      rec_free(&s);
    }
  ck_assert_int_eq(elsewhere, 0);
}
END_TEST

static RecStream *threaded;

static bool threaded_whole(void)
{
  /* Only the thread writes, and only until the end. */
  usleep(200000);
  return rec_books(threaded).whole;
}

/* That of a thread gets all, and on_stop() waits for the VM. */
START_TEST(writer_in_a_thread)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  vm_thread = pthread_self();
  threaded = &s;
  opt.on_stop = host_stop;
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, LUAM_THREAD_WAIT, 0);
  start_idle(L, &opt, &s);
#ifndef __SANITIZE_THREAD__
  ck_assert(wait_until(threaded_whole));
#else
  usleep(500000);
  (void)threaded_whole;
#endif
  ck_assert_int_eq(s.stops, 0);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(rec_books(&s).whole);
  ck_assert_int_eq(elsewhere, 0);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Without membarrier() nothing is written while the VM is idle. */
START_TEST(no_membarrier)
{
  int format;
  refused = true;
  for (format = 0; format < REC_FORMATS; format++) {
    lua_State *L = rec_open();
    struct luam_Prof_options opt = to_file(format, 10);
    RecStream s;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    nap(100000);
    s = contents();
    rec_checkprefix(&s);
    rec_free(&s);
    lua_newtable(L);
    ck_assert(!luaM_memprof_isrunning());
    check_whole(false);
    lua_close(L);
  }
  refused = false;
}
END_TEST

/* -- The same moment ------------------------------------------------------- */

/* Waits for about as long as the recording takes, busy or not. */
static void about(lua_State *L, int round, int ms)
{
  struct timespec t0, t1;
  long until = ms * 1000L - 300 + round * 37 % 600, us;
  if (round & 1) {
    nap((unsigned)until);
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &t0);
  do {
    lua_newtable(L);
    lua_settop(L, 0);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    us = (t1.tv_sec - t0.tv_sec) * 1000000L + (t1.tv_nsec - t0.tv_nsec) / 1000;
  } while (us < until);
}

/* Ends a VM or its recording, when the time is over or about to be. */
START_TEST(end_at_that_moment)
{
  int round;
  for (round = rec_rounds(400); round-- > 0;) {
    bool file = round % 3 != 0, sample = round % 5 == 0;
    RecStream s = {0};
    lua_State *L = rec_open();
    int format = sample ? LUAM_PROF_COMPACT : round / 2 % REC_FORMATS, status;
    struct luam_Prof_options opt = rec_options(&s, format);
    if (file)
      opt = to_file(format, 0);
    opt.reserved[LUAM_PROF_DURMS] = 2;
    opt.sample = sample ? 64 : 0;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    about(L, round, 2);
    if (round % 4 < 2) {
      status = luaM_memprof_stop(L);
      ck_assert(status == LUAM_PROFILE_SUCCESS || status == LUAM_PROFILE_ERR);
      ck_assert(!luaM_memprof_isrunning());
    }
    lua_close(L);
    ck_assert(!luaM_memprof_isrunning());
    if (file) {
      check_whole(sample);
    } else {
      ck_assert_int_eq(s.stops, 1);
      ck_assert(rec_books(&s).whole);
    }
    rec_free(&s);
  }
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* It has to know of children. */
/* A child, in which the time of its parent's recording is over, too. */
static void child(lua_State *L, int round)
{
  char own[80];
  struct luam_Prof_options opt;
  if (luaM_memprof_isrunning())
    _exit(1);
  lua_newtable(L);
  if (luaM_memprof_stop(L) != LUAM_PROFILE_ERR)
    _exit(2);
  snprintf(own, sizeof(own), "%s.child", path);
  memcpy(path, own, sizeof(path));
  path[sizeof(path) - 1] = '\0';
  if (round % 3 == 0) {
    opt = to_file(LUAM_PROF_COMPACT, 1);
    if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
      _exit(3);
    about(L, round, 1);
    luaM_memprof_stop(L);
    if (!is_whole())
      _exit(4);
  }
  unlink(path);
  if (round % 2)
    lua_close(L);
  if (round % 4 < 2)
    exit(0);
  _exit(0);
}

START_TEST(fork_at_that_moment)
{
  int round;
  for (round = rec_rounds(100); round-- > 0;) {
    lua_State *L = rec_open();
    struct luam_Prof_options opt = to_file(round % REC_FORMATS, 2);
    int status;
    pid_t pid;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    about(L, round, 2);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
      child(L, round);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    luaM_memprof_stop(L);
    check_whole(false);
    lua_close(L);
  }
}
END_TEST
#endif

static lua_State *late;

/* What the exit has ended, this frees. */
static void close_late(void)
{
  lua_close(late);
}

/* Exits, in the VM's thread or another one. */
static void *exit_thread(void *arg)
{
  nap((unsigned)(1800 + *(const int *)arg * 53 % 500));
  exit(0);
}

static void run_exit(int round)
{
  struct luam_Prof_options opt = to_file(round % REC_FORMATS, 2);
  lua_State *L = late = luaL_newstate();
  pthread_t thread;
  luaL_openlibs(L);
  if (round % 3 == 1)
    atexit(close_late);
  if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
    _exit(5);
  if (round % 3 != 2) {
    about(L, round, 2);
    exit(0);
  }
  pthread_create(&thread, NULL, exit_thread, &round);
  for (;;)
    about(L, round / 3, 2);
}

START_TEST(exit_at_that_moment)
{
  int round;
  for (round = rec_rounds(120); round-- > 0;) {
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
      run_exit(round);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    check_whole(false);
  }
}
END_TEST

/* -- The RFC's signal ------------------------------------------------------ */

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
    struct luam_Prof_options opt = to_file(LUAM_PROF_COMPACT, 0);
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
    s = contents();
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
  struct luam_Prof_options opt = to_file(LUAM_PROF_COMPACT, 0);
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
  s = contents();
  ck_assert_uint_ge(rec_books(&s).times, 3);
  rec_free(&s);
  lua_close(L);
}
END_TEST

/* What a process does that records with a signal, and has no handler. */
static void run_default(int how)
{
  struct luam_Prof_options opt = to_file(LUAM_PROF_COMPACT, 0);
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
    struct luam_Prof_options opt = to_file(LUAM_PROF_COMPACT, 3);
    opt.signo = SIGPROF;
    opt.reserved[LUAM_PROF_MARKS] = 1;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    about(L, round, 3);
    luaM_memprof_stop(L);
    ck_assert(is_action(SIGPROF, &before, &mask));
    check_whole(false);
    lua_close(L);
  }
}
END_TEST

/* -- Options --------------------------------------------------------------- */

START_TEST(options)
{
  static const int bad[] = {SIGKILL, SIGSTOP, 32, NSIG, -1};
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  size_t i;
  for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    opt.signo = bad[i];
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  }
  opt.signo = 0;
  opt.reserved[LUAM_PROF_MARKS] = LUAM_PROF_MARKSMAX + 1;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  opt.reserved[LUAM_PROF_MARKS] = 1;
  opt.format = LUAM_PROF_RFC;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  ck_assert_uint_eq(s.calls, 0);
  lua_close(L);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {idle,
                          rest,
                          writer_of_a_host,
                          writer_in_a_thread,
                          no_membarrier,
                          end_at_that_moment,
#ifndef __SANITIZE_THREAD__
                          fork_at_that_moment,
#endif
                          exit_at_that_moment,
                          signal_of_a_host,
                          signal_of_two,
                          signal_that_is_blocked,
                          signal_without_a_handler,
                          signal_and_the_end,
                          options};
  rec_setup = set_up;
  rec_teardown = tear_down;
  return REC_MAIN("timer", tests);
}

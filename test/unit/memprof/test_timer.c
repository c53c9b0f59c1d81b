/*
** Time: streams that end though the VM is idle, and whatever else ends at the
** same moment. ThreadSanitizer has to find nothing here.
*/

#include "timed.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* -- Idle VMs -------------------------------------------------------------- */

START_TEST(idle)
{
  int format, how;
  for (format = 0; format < REC_FORMATS; format++)
    for (how = 0; how < (format == LUAM_PROF_COMPACT ? 3 : 1); how++) {
      lua_State *L = rec_open();
      struct luam_Prof_options opt = timed_options(format, 30);
      void *ud, *ud0;
      lua_Alloc f0 = lua_getallocf(L, &ud0);
      opt.stack = how == 1 ? 16 : 0;
      opt.sample = how == 2 ? 128 : 0;
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      rec_run(L, "local t = {}; for i = 1, 100 do t[i] = {i} end");
      ck_assert(wait_until(timed_iswhole));
      timed_checkwhole(how == 2);
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
    opt = timed_options(LUAM_PROF_COMPACT, 20);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert(wait_until(timed_iswhole));
    ck_assert(luaM_memprof_isrunning());
    do_rest(L, i);
    if (i != REST_CLOSE)
      ck_assert(!luaM_memprof_isrunning());
    if (i != REST_FREE)
      f(ud, lua_touserdata(L, 1), 16, 0);
    lua_close(L);
    ck_assert(!luaM_memprof_isrunning());
    timed_checkwhole(false);
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
    timed_nap(1000 * (ms + 50));
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
    struct luam_Prof_options opt = timed_options(format, 10);
    RecStream s;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    timed_nap(100000);
    s = rec_read(timed_path);
    rec_checkprefix(&s);
    rec_free(&s);
    lua_newtable(L);
    ck_assert(!luaM_memprof_isrunning());
    timed_checkwhole(false);
    lua_close(L);
  }
  refused = false;
}
END_TEST

/* -- The same moment ------------------------------------------------------- */

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
      opt = timed_options(format, 0);
    opt.reserved[LUAM_PROF_DURMS] = 2;
    opt.sample = sample ? 64 : 0;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    timed_wait(L, round, 2);
    if (round % 4 < 2) {
      status = luaM_memprof_stop(L);
      ck_assert(status == LUAM_PROFILE_SUCCESS || status == LUAM_PROFILE_ERR);
      ck_assert(!luaM_memprof_isrunning());
    }
    lua_close(L);
    ck_assert(!luaM_memprof_isrunning());
    if (file) {
      timed_checkwhole(sample);
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
  snprintf(own, sizeof(own), "%s.child", timed_path);
  memcpy(timed_path, own, sizeof(timed_path));
  timed_path[sizeof(timed_path) - 1] = '\0';
  if (round % 3 == 0) {
    opt = timed_options(LUAM_PROF_COMPACT, 1);
    if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
      _exit(3);
    timed_wait(L, round, 1);
    luaM_memprof_stop(L);
    if (!timed_iswhole())
      _exit(4);
  }
  unlink(timed_path);
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
    struct luam_Prof_options opt = timed_options(round % REC_FORMATS, 2);
    int status;
    pid_t pid;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    timed_wait(L, round, 2);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
      child(L, round);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    luaM_memprof_stop(L);
    timed_checkwhole(false);
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
  timed_nap((unsigned)(1800 + *(const int *)arg * 53 % 500));
  exit(0);
}

static void run_exit(int round)
{
  struct luam_Prof_options opt = timed_options(round % REC_FORMATS, 2);
  lua_State *L = late = luaL_newstate();
  pthread_t thread;
  luaL_openlibs(L);
  if (round % 3 == 1)
    atexit(close_late);
  if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
    _exit(5);
  if (round % 3 != 2) {
    timed_wait(L, round, 2);
    exit(0);
  }
  pthread_create(&thread, NULL, exit_thread, &round);
  for (;;)
    timed_wait(L, round / 3, 2);
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
    timed_checkwhole(false);
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
                          options};
  rec_setup = timed_setup;
  rec_teardown = timed_teardown;
  return REC_MAIN("timer", tests);
}

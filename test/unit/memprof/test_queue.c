/*
** The thread that calls the writer: whole streams, dropped blocks, and writers,
** processes and VMs that end at the wrong time. ThreadSanitizer has to find
** nothing here.
*/

#include "rec.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- A gate ---------------------------------------------------------------- */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_cond = PTHREAD_COND_INITIALIZER;
static bool gate_shut; /* Writers wait. Under the lock. */
static int gate_waits; /* So many do, or have. */

static void gate_set(bool shut)
{
  pthread_mutex_lock(&gate_lock);
  gate_shut = shut;
  pthread_cond_broadcast(&gate_cond);
  pthread_mutex_unlock(&gate_lock);
}

/* A writer's hook. */
static void gate_pass(RecStream *s)
{
  (void)s;
  pthread_mutex_lock(&gate_lock);
  if (gate_shut) {
    gate_waits++;
    pthread_cond_broadcast(&gate_cond);
  }
  while (gate_shut)
    pthread_cond_wait(&gate_cond, &gate_lock);
  pthread_mutex_unlock(&gate_lock);
}

/* Waits until a writer is at the gate. */
static void gate_await(void)
{
  pthread_mutex_lock(&gate_lock);
  while (gate_waits == 0)
    pthread_cond_wait(&gate_cond, &gate_lock);
  pthread_mutex_unlock(&gate_lock);
}

/* -- malloc() and its like, by --wrap -------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg);

static bool oom_on;      /* Only while no thread of the recorder runs. */
static size_t oom_calls; /* So far. */
static size_t oom_nth;   /* The call that fails. */

static bool oom_fails(void)
{
  return oom_on && ++oom_calls == oom_nth;
}

void *__wrap_malloc(size_t size)
{
  return oom_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return oom_fails() ? NULL : __real_calloc(n, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*fn)(void *), void *arg)
{
  if (oom_fails())
    return EAGAIN;
  if (oom_on) /* Else other threads may be looking. */
    oom_on = false;
  return __real_pthread_create(thread, attr, fn, arg);
}

/* -- Recordings ------------------------------------------------------------ */

static struct luam_Prof_options options(RecStream *s, int policy)
{
  struct luam_Prof_options opt = rec_options(s, LUAM_PROF_COMPACT);
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(65536, policy, 0);
  s->hook = gate_pass;
  return opt;
}

static void start(lua_State *L, const struct luam_Prof_options *opt)
{
  ck_assert_int_eq(luaM_memprof_start(L, opt), LUAM_PROFILE_SUCCESS);
}

START_TEST(whole)
{
  int policy, stack;
  for (policy = LUAM_THREAD_WAIT; policy <= LUAM_THREAD_DROP; policy++) {
    for (stack = 0; stack < 20; stack += 10) {
      RecStream s = {0};
      lua_State *L = rec_open();
      struct luam_Prof_options opt = options(&s, policy);
      int64_t live = rec_live(L);
      opt.stack = stack;
      /* All of it has room. */
      opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(1 << 23, policy, 0);
      start(L, &opt);
      rec_run(L, rec_large);
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
      ck_assert_int_eq(s.stops, 1);
      rec_checkwhole(&s, rec_live(L) - live);
      lua_close(L);
      rec_free(&s);
    }
  }
}
END_TEST

/* A queue of the least size, and a writer that takes a few bytes at a time. */
START_TEST(waits)
{
  RecStream s = {.most = 99};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
  int64_t live = rec_live(L);
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(2 * opt.buffer, 0, 0);
  start(L, &opt);
  rec_run(L, rec_large);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* The VM never waits: its code ends while the writer stands still. */
START_TEST(drops)
{
  int stack;
  for (stack = 0; stack < 20; stack += 10) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = options(&s, LUAM_THREAD_DROP);
    RecBooks b;
    opt.stack = stack;
    start(L, &opt);
    gate_waits = 0;
    gate_set(true);
    rec_run(L, rec_large);
    rec_run(L, rec_large);
    gate_await();
    gate_set(false);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    b = rec_books(&s);
    ck_assert_msg(b.whole, "%s", b.error);
    ck_assert_uint_eq(b.flags, 16);
    ck_assert_uint_gt(b.dropblocks, 2);
    ck_assert_uint_gt(b.dropped, 10000);
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* What dropped blocks have defined is there again when it is used later. */
START_TEST(defined_again)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_DROP);
  RecBooks b;
  opt.stack = 10;
  start(L, &opt);
  gate_waits = 0;
  gate_set(true);
  rec_run(L, "function f(n) local t for i = 1, n do t = {i, {}} end end\n"
             "function g(n) local t for i = 1, n do t = {i, {}} end end\n"
             "f(200000) g(100000)"); /* g is defined in what is dropped. */
  gate_await();
  gate_set(false);
  /* As soon as there is room again, nothing is dropped any more. */
  rec_run(L, "for i = 1, 20 do g(1000) end");
  usleep(100000);
  rec_run(L, "g(5000)");
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "%s", b.error);
  ck_assert_uint_gt(b.dropped, 10000);
  /* At most a few events for each block that was dropped. */
  ck_assert_uint_le(b.undefined, 4 * b.dropblocks);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* -- Failures -------------------------------------------------------------- */

START_TEST(fails_at_every_call)
{
  size_t failat, failed = 0;
  for (failat = 1; failat < 60; failat++) {
    RecStream s = {.failat = failat};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
    int status = luaM_memprof_start(L, &opt);
    if (status == LUAM_PROFILE_SUCCESS) {
      rec_run(L, rec_large);
      status = luaM_memprof_stop(L);
      ck_assert_int_eq(s.stops, 1);
    }
    ck_assert(!luaM_memprof_isrunning());
    ck_assert_int_eq(status, s.calls < failat ? LUAM_PROFILE_SUCCESS
                                              : LUAM_PROFILE_ERRIO);
    ck_assert_uint_le(s.calls, failat);
    failed += status == LUAM_PROFILE_ERRIO;
    if (status != LUAM_PROFILE_SUCCESS)
      rec_checkprefix(&s);
    lua_close(L);
    ck_assert_int_le(s.stops, 1);
    rec_free(&s);
  }
  ck_assert_uint_gt(failed, 10);
}
END_TEST

/* The VM waits for room when the writer fails. */
START_TEST(fails_while_full)
{
  RecStream s = {.failat = 4};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(2 * opt.buffer, 0, 0);
  start(L, &opt);
  rec_run(L, rec_large); /* Ends, though nothing is written any more. */
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(s.stops, 1);
  lua_close(L);
  rec_free(&s);
}
END_TEST

START_TEST(refused)
{
  static const uint64_t bad[] = {1,
                                 1 << 20,
                                 (uint64_t)1 << 63 | (uint64_t)1 << 50,
                                 LUAM_THREAD(32767, 0, 0),
                                 LUAM_THREAD((1u << 30) + 1, 0, 0),
                                 LUAM_THREAD(0, 2, 0),
                                 LUAM_THREAD(0, 0, LUAM_THREAD_ZSTDMAX + 1)};
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
  size_t i;
  for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    opt.reserved[LUAM_PROF_THREAD] = bad[i];
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  }
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
  opt.format = LUAM_PROF_RFC;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  ck_assert_uint_eq(s.calls, 0);
  lua_close(L);
}
END_TEST

static size_t null_write(const void *data, size_t len, void *arg)
{
  (void)data;
  (void)arg;
  return len;
}

static int null_stop(void *arg)
{
  (void)arg;
  return 0;
}

/* Starts while the oom_nth call fails, and stops. Returns the start's status.
 */
static int start_without(lua_State *L, const struct luam_Prof_options *opt)
{
  int status;
  oom_calls = 0;
  oom_on = true;
  status = luaM_memprof_start(L, opt);
  oom_on = false;
  ck_assert_int_eq(luaM_memprof_stop(L), status == LUAM_PROFILE_SUCCESS
                                             ? LUAM_PROFILE_SUCCESS
                                             : LUAM_PROFILE_ERR);
  ck_assert(!luaM_memprof_isrunning());
  return status;
}

/* A start without memory, or without a thread, leaves nothing behind. */
START_TEST(out_of_memory)
{
  struct luam_Prof_options opt = {.writer = null_write, .on_stop = null_stop};
  lua_State *L = rec_open();
  int failed = 0, nothread = 0;
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(0, 0, 0);
  for (oom_nth = 1; oom_nth < 1000; oom_nth++) {
    int status = start_without(L, &opt);
    failed += status == LUAM_PROFILE_ERRMEM;
    nothread += status == LUAM_PROFILE_ERRIO;
    if (oom_calls < oom_nth)
      break;
  }
  ck_assert_int_ge(failed, 4); /* State, buffer, queue, its ring. */
  ck_assert_int_eq(nothread, 1);
  oom_nth = 0;
  ck_assert_int_eq(start_without(L, &opt), LUAM_PROFILE_SUCCESS);
  lua_close(L);
}
END_TEST

/* -- Ends ------------------------------------------------------------------ */

START_TEST(closed_vm)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
  start(L, &opt);
  rec_run(L, rec_large);
  lua_close(L);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(rec_books(&s).whole);
  rec_free(&s);
}
END_TEST

START_TEST(time_over)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
  opt.reserved[LUAM_PROF_DURMS] = 20;
  start(L, &opt);
  while (luaM_memprof_isrunning())
    rec_run(L, rec_small);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(rec_books(&s).whole);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Waits for a child. Returns its exit status; fails if a signal has ended it.
 */
static int await(pid_t pid)
{
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
  return WEXITSTATUS(status);
}

/* What a child does with the VM. Returns its exit status. */
static int child_uses(lua_State *L, const RecStream *s)
{
  size_t before = s->calls;
  RecStream other = {0};
  struct luam_Prof_options opt = rec_options(&other, LUAM_PROF_COMPACT);
  rec_run(L, rec_large);
  if (luaM_memprof_start(L, &opt) != LUAM_PROFILE_SUCCESS)
    return 2;
  rec_run(L, rec_small);
  if (luaM_memprof_stop(L) != LUAM_PROFILE_SUCCESS)
    return 3;
  lua_close(L);
  return s->calls == before && *s->trespass == 0 && other.n > 0 ? 0 : 1;
}

/*
** Forks while the thread holds a block, and the queue more of them. The child
** has no thread: it must not write, or wait for one.
*/
static void forks_by(pid_t (*dofork)(void))
{
  int trespass = 0;
  RecStream s = {.owner = getpid(), .trespass = &trespass};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = options(&s, LUAM_THREAD_DROP);
  pid_t pid;
  int64_t live = rec_live(L);
  opt.reserved[LUAM_PROF_THREAD] = LUAM_THREAD(1 << 23, 0, 0);
  start(L, &opt);
  gate_waits = 0;
  gate_set(true);
  rec_run(L, rec_large);
  gate_await();
  pid = dofork();
  if (pid == 0)
    _exit(child_uses(L, &s));
  ck_assert_int_eq(await(pid), 0);
  gate_set(false);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}

START_TEST(forks)
{
  forks_by(fork);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* It has to know of children. */
/* Without what the C library does in a fork. */
static pid_t raw_clone(void)
{
  return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

START_TEST(raw_clones)
{
  forks_by(raw_clone);
}
END_TEST
#endif

/* exit() with a writer that stands still, and a full queue: a second or so. */
START_TEST(exits_while_stuck)
{
  struct timespec from, to;
  pid_t pid;
  clock_gettime(CLOCK_MONOTONIC, &from);
  pid = fork();
  if (pid == 0) {
    static RecStream s;
    lua_State *L = rec_open();
    struct luam_Prof_options opt = options(&s, LUAM_THREAD_DROP);
    start(L, &opt);
    gate_set(true);
    rec_run(L, rec_large);
    exit(7);
  }
  ck_assert_int_eq(await(pid), 7);
  clock_gettime(CLOCK_MONOTONIC, &to);
  ck_assert_int_lt(to.tv_sec - from.tv_sec, 20);
}
END_TEST

/* exit() writes out what is in the queue. */
START_TEST(exits)
{
  int fd[2];
  RecStream s = {0};
  char block[4096];
  ssize_t n;
  pid_t pid;
  ck_assert_int_eq(pipe(fd), 0);
  pid = fork();
  if (pid == 0) {
    lua_State *L = rec_open();
    struct luam_Prof_options opt = options(&s, LUAM_THREAD_WAIT);
    close(fd[0]);
    start(L, &opt);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_tofd(&opt, fd[1]), LUAM_PROFILE_SUCCESS);
    start(L, &opt);
    rec_run(L, rec_large);
    exit(7);
  }
  close(fd[1]);
  while ((n = read(fd[0], block, sizeof(block))) > 0)
    ck_assert_uint_eq(rec_write(block, (size_t)n, &s), (size_t)n);
  ck_assert_int_eq(await(pid), 7);
  ck_assert(rec_books(&s).whole);
  rec_free(&s);
}
END_TEST

/* -- main ------------------------------------------------------------------ */

int main(void)
{
  const TTest *const tests[] = {whole,
                                waits,
                                drops,
                                defined_again,
                                fails_at_every_call,
                                refused,
                                exits,
                                fails_while_full,
                                closed_vm,
                                time_over,
                                exits_while_stuck,
                                out_of_memory,
#ifndef __SANITIZE_THREAD__
                                raw_clones,
#endif
                                forks};
  return REC_MAIN("queue", tests);
}

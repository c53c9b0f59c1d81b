/*
** Processes that exit while they record: in which thread, and whatever the
** others are at. ThreadSanitizer has to find nothing here.
*/

#include "rec.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

/* What a process that is gone has left behind. */
typedef struct Shared {
  atomic_int stops;   /* Calls of on_stop. */
  atomic_int late;    /* Calls of on_stop when its objects were gone. */
  atomic_int written; /* Calls of the writer of a recording that is stuck. */
} Shared;

static Shared *shared;
static char dir[64];

/* A VM in a thread of its own, that records to a file. */
typedef struct Host {
  pthread_t thread;
  lua_State *L;
  struct luam_Prof_options opt;
  const char *code; /* What it runs when it records, or NULL. */
  int fd;
  bool lua;   /* It starts from Lua. */
  bool again; /* It starts and stops, all the time. */
} Host;

static Host hosts[THREADS];
static atomic_int ready;
static atomic_bool gone; /* Objects of writers were destroyed. */

static void path_of(char *path, size_t size, int i)
{
  snprintf(path, size, "%s/%d.ljm", dir, i);
}

/* -- The process ----------------------------------------------------------- */

static size_t host_write(const void *data, size_t len, void *arg)
{
  ssize_t n = write(((Host *)arg)->fd, data, len);
  return n > 0 ? (size_t)n : 0;
}

static int host_stop(void *arg)
{
  shared->stops++;
  if (gone)
    shared->late++;
  return close(((Host *)arg)->fd);
}

/* An on_stop that the exit comes upon. */
static int host_slowstop(void *arg)
{
  ready++;
  usleep(200000);
  return host_stop(arg);
}

/* A writer that never comes back, but for what a start writes. */
static size_t host_stuck(const void *data, size_t len, void *arg)
{
  if (shared->written++ < 2)
    return host_write(data, len, arg);
  ready++;
  for (;;)
    pause();
}

/* Starts a recording to the file of a number. */
static int host_start(Host *h, int i)
{
  char path[128], code[256];
  path_of(path, sizeof(path), i);
  if (h->lua) {
    snprintf(code, sizeof(code), "assert(misc.memprof.start('%s', {%s}))", path,
             h->opt.sample ? "sample = 512" : "stack = 8");
    return luaL_dostring(h->L, code) == 0 ? 0 : -1;
  }
  h->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  h->opt.arg = h;
  return luaM_memprof_start(h->L, &h->opt);
}

static void *host_main(void *arg)
{
  Host *h = arg;
  int i = (int)(h - hosts);
  h->L = luaL_newstate();
  luaL_openlibs(h->L);
  if (host_start(h, i) != 0)
    abort();
  if (h->opt.writer != host_stuck && h->opt.on_stop != host_slowstop)
    ready++;
  if (h->opt.on_stop == host_slowstop)
    luaM_memprof_stop(h->L);
  /* Until the exit lets nothing start any more. What it ends itself still has
  ** the writer's object, and is not this thread's to stop.
  */
  while (h->again)
    h->again = luaM_memprof_stop(h->L) == LUAM_PROFILE_SUCCESS &&
               host_start(h, i) == 0;
  if (h->code != NULL && luaL_dostring(h->L, h->code) != 0)
    abort();
  for (;;)
    pause();
  return NULL;
}

static void destroy(void)
{
  gone = true;
}

/* Runs n threads and returns from main() when they all record. */
static void run_threads(int n)
{
  int i;
  atexit(destroy);
  for (i = 0; i < n; i++) {
    pthread_create(&hosts[i].thread, NULL, host_main, &hosts[i]);
    pthread_detach(hosts[i].thread);
  }
  while (ready < n)
    usleep(1000);
  usleep(20000); /* They get to work. */
  exit(0);
}

/* -- The test -------------------------------------------------------------- */

static void set_up(void)
{
  int i;
  memset(hosts, 0, sizeof(hosts));
  for (i = 0; i < THREADS; i++) {
    hosts[i].opt.writer = host_write;
    hosts[i].opt.on_stop = host_stop;
    hosts[i].opt.buffer = 16384;
  }
  shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(shared != MAP_FAILED);
  strcpy(dir, "/tmp/ljprof-exit-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* Runs a process that exits. It has to end with status 0. */
static void exits(void (*fn)(int n), int n)
{
  int status;
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    fn(n);
    _exit(1);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_int_eq(status, 0);
  ck_assert_int_eq(shared->late, 0);
}

/* What the process has written to a file. */
static RecBooks file_books(int i)
{
  RecStream s;
  RecBooks b;
  char path[128];
  path_of(path, sizeof(path), i);
  s = rec_read(path);
  unlink(path);
  b = rec_books(&s);
  rec_free(&s);
  return b;
}

static void check_whole(int i)
{
  RecBooks b = file_books(i);
  ck_assert_msg(b.whole, "%d: the stream is not whole: %s", i, b.error);
  if (hosts[i].opt.sample != 0) /* They do not add up. */
    return;
  ck_assert_uint_eq(b.errors, 0);
  if (b.after != 0) {
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
    ck_assert_uint_eq(b.flags, 0);
  }
}

static void tear_down(void)
{
  ck_assert_int_eq(rmdir(dir), 0);
}

static const char forever[] = "local t = {}\n"
                              "while true do\n"
                              "  for i = 1, 100 do t[i] = { i, 'x' .. i } end\n"
                              "end\n";

/* Once, as the hosts do that wait in main(). */
static const char once[] = "local t = {}\n"
                           "for i = 1, 1000 do t[i] = { i, 'x' .. i } end\n";

START_TEST(other_threads_that_wait)
{
  int i;
  set_up();
  for (i = 0; i < THREADS; i++) {
    hosts[i].code = once;
    hosts[i].lua = i % 2;
  }
  exits(run_threads, THREADS);
  ck_assert_int_eq(shared->stops, THREADS / 2);
  for (i = 0; i < THREADS; i++)
    check_whole(i);
  tear_down();
}
END_TEST

START_TEST(other_threads_that_allocate)
{
  int round, i;
  for (round = rec_rounds(20); round-- > 0;) {
    set_up();
    for (i = 0; i < THREADS; i++) {
      hosts[i].code = forever;
      hosts[i].lua = i == 1 || i == 2;
      hosts[i].opt.sample = i == 2 || (i == 3 && round % 3 == 0) ? 512 : 0;
      if (i == 0)
        hosts[i].opt.format = round % REC_FORMATS;
    }
    exits(run_threads, THREADS);
    ck_assert_int_eq(shared->stops, 2);
    for (i = 0; i < THREADS; i++)
      check_whole(i);
    tear_down();
  }
}
END_TEST

/* They start and stop: each file is whole, or is that of a start in vain. */
START_TEST(other_threads_that_start_and_stop)
{
  int round, i;
  for (round = rec_rounds(20); round-- > 0;) {
    set_up();
    for (i = 0; i < THREADS; i++)
      hosts[i].again = true;
    exits(run_threads, THREADS);
    for (i = 0; i < THREADS; i++) {
      RecBooks b = file_books(i);
      ck_assert_msg(b.whole || b.allocs == 0, "%s", b.error);
    }
    tear_down();
  }
}
END_TEST

/* The exit waits for another thread's on_stop(). */
START_TEST(other_thread_at_its_end)
{
  set_up();
  hosts[0].opt.on_stop = host_slowstop;
  exits(run_threads, 1);
  ck_assert_int_eq(shared->stops, 1);
  check_whole(0);
  tear_down();
}
END_TEST

/* One that waits for its writer is left alone; the exit does not wait for it.
 */
START_TEST(writer_that_is_stuck)
{
  struct timespec t0, t1;
  set_up();
  hosts[0].opt.writer = host_stuck;
  hosts[0].code = hosts[1].code = forever;
  clock_gettime(CLOCK_MONOTONIC, &t0);
  exits(run_threads, 2);
  clock_gettime(CLOCK_MONOTONIC, &t1);
  ck_assert_int_lt(t1.tv_sec - t0.tv_sec, 60);
  ck_assert_int_eq(shared->stops, 1);
  ck_assert_int_eq(shared->written, 3);
  ck_assert(!file_books(0).whole);
  check_whole(1);
  tear_down();
}
END_TEST

/* The VM's own thread exits, outside and inside of a call. */
static int call_exit(lua_State *L)
{
  lua_newtable(L);
  exit(0);
}

static void run_main(int inside)
{
  Host *h = &hosts[0];
  atexit(destroy);
  h->L = luaL_newstate();
  luaL_openlibs(h->L);
  if (host_start(h, 0) != 0 || luaL_dostring(h->L, once) != 0)
    abort();
  if (inside)
    lua_cpcall(h->L, call_exit, NULL);
  exit(0);
}

START_TEST(own_thread)
{
  int inside;
  for (inside = 0; inside < 2; inside++) {
    set_up();
    exits(run_main, inside);
    ck_assert_int_eq(shared->stops, 1);
    check_whole(0);
    tear_down();
  }
}
END_TEST

/* What runs at the exit still has its VMs, and may close them. */
static void close_late(void)
{
  if (luaL_dostring(hosts[0].L, once) != 0 ||
      luaM_memprof_stop(hosts[0].L) != LUAM_PROFILE_ERR ||
      host_start(&hosts[0], 1) != LUAM_PROFILE_ERR || luaM_memprof_isrunning())
    abort();
  lua_close(hosts[0].L);
}

static void run_late(int n)
{
  atexit(close_late);
  run_main(n);
}

START_TEST(close_at_exit)
{
  char path[128];
  set_up();
  exits(run_late, 0);
  ck_assert_int_eq(shared->stops, 1);
  check_whole(0);
  path_of(path, sizeof(path), 1);
  ck_assert_int_eq(unlink(path), 0);
  tear_down();
}
END_TEST

/* A child of fork() exits: what its parent records is not ended there. */
static void run_fork(int n)
{
  Host *h = &hosts[0];
  int status;
  pid_t pid;
  h->L = luaL_newstate();
  luaL_openlibs(h->L);
  if (host_start(h, n) != 0)
    abort();
  pid = fork();
  if (pid == 0)
    exit(0);
  if (waitpid(pid, &status, 0) != pid || status != 0 || shared->stops != 0 ||
      luaL_dostring(h->L, once) != 0)
    abort();
  exit(0);
}

START_TEST(child)
{
  set_up();
  exits(run_fork, 0);
  ck_assert_int_eq(shared->stops, 1);
  check_whole(0);
  tear_down();
}
END_TEST

int main(void)
{
  const TTest *tests[] = {other_threads_that_wait,
                          other_threads_that_allocate,
                          other_threads_that_start_and_stop,
                          other_thread_at_its_end,
                          writer_that_is_stuck,
                          own_thread,
                          close_at_exit,
                          child};
  return REC_MAIN("exit", tests);
}

/*
** Orders from outside, while several threads run VMs, and a fork among them.
** ThreadSanitizer has to find nothing here.
*/

#include "rec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lj_memprof_hooks.h"

/* TSan has no threads in a child of a process with threads. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_THREAD 0
#endif
#elif defined(__SANITIZE_THREAD__)
#define CHILD_THREAD 0
#endif
#ifndef CHILD_THREAD
#define CHILD_THREAD 1
#endif

/* A lock of their allocators may be held in a child, by a thread that is not
** there.
*/
#if defined(__SANITIZE_ADDRESS__) || !CHILD_THREAD
#define FORK_BESIDE 0
#else
#define FORK_BESIDE 1
#endif

#define THREADS 3
#define ROUNDS  30

static char dir[64]; /* Of all files of a test. */

static void make_dir(void)
{
  strcpy(dir, "/tmp/control-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  setenv("XDG_RUNTIME_DIR", dir, 1);
}

static void remove_dir(void)
{
  char command[128];
  snprintf(command, sizeof(command), "rm -rf '%s'", dir);
  ck_assert_int_eq(system(command), 0);
}

/* -- Orders ---------------------------------------------------------------- */

/* Gives this process an order. Returns the answer, which is static. */
static const char *order(const char *what)
{
  static char answer[16384];
  struct sockaddr_un addr = {.sun_family = AF_UNIX};
  size_t len = 0;
  ssize_t n;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/ljprof/%ld.sock", dir,
           (long)getpid());
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
  ck_assert_int_eq(send(fd, what, strlen(what), MSG_NOSIGNAL), strlen(what));
  while ((n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0)) > 0)
    len += (size_t)n;
  close(fd);
  answer[len] = '\0';
  return answer;
}

/* How often a string is in another one. */
static int count(const char *s, const char *what)
{
  int n = 0;
  while ((s = strstr(s, what)) != NULL) {
    s += strlen(what);
    n++;
  }
  return n;
}

/*
** Records a VM to a file of this name for so many milliseconds, or for ever if
** they are 0, with the options CONTROL and FOLLOW.
*/
static void start_for(lua_State *L, const char *name, unsigned ms,
                      int controlled, int follow)
{
  struct luam_Prof_options opt = {0};
  char path[128];
  opt.reserved[LUAM_PROF_DURMS] = ms;
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  opt.reserved[LUAM_PROF_ANEW] =
      (controlled ? LUAM_ANEW_CONTROL : 0) | (follow ? LUAM_ANEW_FOLLOW : 0);
  ck_assert_int_eq(luaM_memprof_tofile(&opt, path), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
}

/* The same for ever. */
static void start(lua_State *L, const char *name, int controlled, int follow)
{
  start_for(L, name, 0, controlled, follow);
}

/* Reads a file as a stream. Returns its books. */
static RecBooks books(const char *name)
{
  RecStream s;
  RecBooks b;
  char path[128];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  s = rec_read(path);
  b = rec_books(&s);
  rec_free(&s);
  return b;
}

/* -- Threads --------------------------------------------------------------- */

static atomic_bool finished;

static void *worker_main(void *arg)
{
  lua_State *L = arg;
  while (!finished)
    rec_run(L, rec_small);
  return NULL;
}

static lua_State *vm[THREADS];
static pthread_t worker[THREADS];

static void begin_threads(int follow)
{
  int i;
  char name[32];
  finished = false;
  for (i = 0; i < THREADS; i++) {
    vm[i] = rec_open();
    snprintf(name, sizeof(name), "%d.ljm", i);
    start(vm[i], name, 1, follow);
    ck_assert_int_eq(pthread_create(&worker[i], NULL, worker_main, vm[i]), 0);
  }
}

static void end_threads(void)
{
  int i;
  finished = true;
  for (i = 0; i < THREADS; i++) {
    ck_assert_int_eq(pthread_join(worker[i], NULL), 0);
    lua_close(vm[i]);
  }
}

/* Gives an order until no VM has it before it: a loaded machine is slow. */
static const char *order_all(const char *what, const char *state)
{
  const char *answer = order(what);
  while (strstr(answer, "pending") != NULL)
    answer = order("status\n");
  ck_assert_msg(count(answer, state) == THREADS, "%s: %s", what, answer);
  return answer;
}

START_TEST(orders_of_threads)
{
  int i;
  char name[32];
  make_dir();
  begin_threads(0);
  for (i = 0; i < ROUNDS; i++) {
    order_all("flush\n", "recording: ");
    if (i % 10 == 0)
      order_all("dump\n", ", dump: ");
    order_all("stop\n", "stopped: ");
    ck_assert(!luaM_memprof_isrunning());
    if (i % 10 == 5)
      order_all("dump\n", "stopped: ");
    order_all("start\n", "recording: ");
    ck_assert(luaM_memprof_isrunning());
  }
  end_threads();
  for (i = 0; i < THREADS; i++) {
    RecBooks b;
    snprintf(name, sizeof(name), "%d.ljm", i);
    b = books(name);
    ck_assert_msg(b.whole, "%s: %s", name, b.error);
    ck_assert_uint_eq(b.lost, 0);
    ck_assert_int_eq(b.sum, (int64_t)(b.after - b.before));
    snprintf(name, sizeof(name), "%d.ljm.old", i);
    b = books(name);
    ck_assert_msg(b.whole, "%s: %s", name, b.error);
    ck_assert_int_eq(b.sum, (int64_t)(b.after - b.before));
  }
  ck_assert_str_eq(order("status\n"), "none\n");
  ck_assert_str_eq(order("hello\n"), "unknown\n");
  remove_dir();
}
END_TEST

/* In the child: its only VM has a recording, and a socket, of its own. */
static int child(lua_State *L)
{
  rec_run(L, rec_small);
  if (CHILD_THREAD && count(order("status\n"), "recording: ") != 1)
    return 2;
  return luaM_memprof_stop(L) == LUAM_PROFILE_SUCCESS ? 0 : 3;
}

START_TEST(fork_of_threads)
{
  lua_State *L = rec_open();
  int i;
  make_dir();
  start(L, "main.ljm", CHILD_THREAD, 1);
  if (FORK_BESIDE)
    begin_threads(1);
  for (i = 0; i < ROUNDS / 3; i++) {
    char name[32];
    RecBooks b;
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
      _exit(child(L));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    snprintf(name, sizeof(name), "main.ljm.%ld", (long)pid);
    b = books(name);
    ck_assert_msg(b.whole, "%s: %s", name, b.error);
    ck_assert_uint_gt(b.allocs, 100);
    ck_assert_int_eq(b.sum, (int64_t)(b.after - b.before));
    rec_run(L, rec_small);
  }
  if (FORK_BESIDE)
    end_threads();
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert(books("main.ljm").whole);
  lua_close(L);
  remove_dir();
}
END_TEST

/* -- With an end ----------------------------------------------------------- */

/* Waits until the stream of an idle VM has ended. Returns the answer. */
static const char *await_stop(void)
{
  const struct timespec nap = {0, 1000000};
  const char *answer;
  int i;
  for (i = 0; i < 5000; i++) {
    answer = order("status\n");
    if (strstr(answer, "stopped: ") != NULL)
      break;
    nanosleep(&nap, NULL);
  }
  return answer;
}

static void check_books(const char *name)
{
  RecBooks b = books(name);
  ck_assert_msg(b.whole, "%s: %s", name, b.error);
  ck_assert_uint_eq(b.lost, 0);
  ck_assert_int_eq(b.sum, (int64_t)(b.after - b.before));
}

/* Its time is over while the VM is idle; an order begins it anew. */
START_TEST(time_is_over)
{
  lua_State *L = rec_open();
  int i;
  make_dir();
  start_for(L, "main.ljm", 20, 1, 0);
  for (i = 0; i < 5; i++) {
    rec_run(L, rec_small);
    ck_assert_int_eq(count(await_stop(), "stopped: "), 1);
    rec_run(L, rec_small); /* Closes the file. */
    check_books("main.ljm");
    order("start\n"); /* It waits for the next allocation. */
  }
  rec_run(L, rec_small);
  luaM_memprof_stop(L); /* Or it was over before. */
  lua_close(L);
  remove_dir();
}
END_TEST

/*
** What was allocated last is freed after that end: whatever ends the recording
** for good must not look at it. AddressSanitizer finds it.
*/
START_TEST(freed_after_the_end)
{
  int closes;
  make_dir();
  for (closes = 0; closes < 2; closes++) {
    lua_State *L = rec_open();
    start_for(L, "main.ljm", 20, 1, 0);
    lua_newuserdata(L, 1000);
    ck_assert_int_eq(count(await_stop(), "stopped: "), 1);
    lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
    if (!closes)
      start(L, "next.ljm", 0, 0);
    lua_close(L);
    check_books("main.ljm");
    if (!closes)
      check_books("next.ljm");
  }
  remove_dir();
}
END_TEST

/* The VM allocates all the time: orders and ends meet. */
START_TEST(time_and_orders)
{
  const struct timespec nap = {0, 3000000};
  lua_State *L = rec_open();
  pthread_t thread;
  int i;
  make_dir();
  finished = false;
  start_for(L, "main.ljm", 2, 1, 0);
  ck_assert_int_eq(pthread_create(&thread, NULL, worker_main, L), 0);
  for (i = 0; i < 4 * ROUNDS; i++) {
    static const char *const orders[] = {"flush\n", "stop\n", "start\n",
                                         "dump\n",  "stop\n", "start\n"};
    order(orders[i % 6]);
    nanosleep(&nap, NULL);
  }
  finished = true;
  ck_assert_int_eq(pthread_join(thread, NULL), 0);
  luaM_memprof_stop(L);
  check_books("main.ljm");
  check_books("main.ljm.old");
  lua_close(L);
  remove_dir();
}
END_TEST

#if CHILD_THREAD
/* The stream of an idle child ends by the timer of that process. */
START_TEST(time_of_a_child)
{
  lua_State *L = rec_open();
  char name[32];
  int status;
  pid_t pid;
  make_dir();
  start_for(L, "main.ljm", 300, 1, 1);
  pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    rec_run(L, rec_small);
    _exit(strstr(await_stop(), "stopped: ") != NULL ? 0 : 2);
  }
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert_int_eq(status, 0);
  snprintf(name, sizeof(name), "main.ljm.%ld", (long)pid);
  check_books(name);
  luaM_memprof_stop(L);
  lua_close(L);
  remove_dir();
}
END_TEST
#endif

/* -- Each allocation ------------------------------------------------------- */

#ifndef REC_AMALG

/* Below a VM's wrapper: the next allocation has an order to execute. */
static struct {
  lua_Alloc allocf;
  void *allocd;
  int on;
  unsigned stops; /* Executed so far. */
} below;

static void below_look(void *arg, const MPControlled *c)
{
  *(MPControlled *)arg = *c;
}

static void *below_alloc(void *ud, void *ptr, size_t osize, size_t nsize)
{
  MPControlled c = {0};
  (void)ud;
  if (below.on && nsize != 0) {
    lj_memprof_controlled(MPORDER_NONE, below_look, &c);
    ck_assert_int_eq(c.answer, 0);
    below.stops += c.state == MP_PAUSED;
    lj_memprof_controlled(c.state == MP_PAUSED ? MPORDER_START : MPORDER_STOP,
                          below_look, &c);
  }
  return below.allocf(below.allocd, ptr, osize, nsize);
}

/* All that a VM makes: closures of several kinds, bytecode that is loaded. */
static const char each_code[] =
    "local t, s = {}, 'x'\n"
    "local function make(a, b)\n"
    "  local c = {a}\n"
    "  return function() b = a return c, b end, function() a = c end\n"
    "end\n"
    "for i = 1, 60 do t[i], t['k' .. i] = make(i, s) end\n"
    "local code = 'local a, b = ... local function f(x) return function() '\n"
    "  .. 'return a, b, x end end return f({1, 2}), f(3.5), \"text\"'\n"
    "for i = 1, 5 do\n"
    "  local f = loadstring(code .. ' --' .. i)\n"
    "  t[i] = loadstring(string.dump(f, i > 2))(t, s)\n"
    "end\n"
    "local co = coroutine.wrap(function(a) while true do\n"
    "  a = coroutine.yield({a, ('y'):rep(a)}) end end)\n"
    "for i = 1, 20 do t[#t + 1] = co(i) end\n"
    "local m = setmetatable({}, {__gc = 1, __index = function() return t end})\n"
    "collectgarbage() collectgarbage('step')\n"
    "return m, newproxy and newproxy(true)";

START_TEST(each_allocation)
{
  lua_State *L = rec_open();
  RecBooks b;
  int jit;
  make_dir();
  for (jit = 0; jit < 2; jit++) {
    rec_run(L, jit ? "if jit then jit.on() jit.opt.start('hotloop=2') end"
                   : "if jit then jit.off() end");
    below.allocf = lua_getallocf(L, &below.allocd);
    below.stops = 0;
    lua_setallocf(L, below_alloc, NULL);
    start(L, "each.ljm", 1, 0);
    below.on = 1;
    rec_run(L, each_code);
    below.on = 0;
    rec_run(L, "local t = {{}}");
    luaM_memprof_stop(L); /* It may be stopped. */
    lua_setallocf(L, below.allocf, below.allocd);
    ck_assert_uint_gt(below.stops, 200);
    b = books("each.ljm");
    ck_assert_msg(b.whole, "%s", b.error);
    b = books("each.ljm.old");
    ck_assert_msg(b.whole, "%s", b.error);
  }
  lua_close(L);
  remove_dir();
}
END_TEST

#endif

/* -- Options --------------------------------------------------------------- */

START_TEST(options)
{
  lua_State *L = rec_open();
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  make_dir();
  opt.reserved[LUAM_PROF_ANEW] = LUAM_ANEW_FOLLOW; /* Of a host's writer. */
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  opt.reserved[LUAM_PROF_ANEW] = LUAM_ANEW_CONTROL;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  ck_assert_int_eq(luaM_memprof_tofd(&opt, 2), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERRIO);
  luaM_memprof_drop(&opt);
  start(L, "a.ljm", 1, 1);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_free(&s);
  lua_close(L);
  remove_dir();
}
END_TEST

int main(void)
{
  const TTest *tests[] = {
    orders_of_threads,
    fork_of_threads,
    time_is_over,
    freed_after_the_end,
    time_and_orders,
    options,
#if CHILD_THREAD
    time_of_a_child,
#endif
#ifndef REC_AMALG
    each_allocation,
#endif
  };
  return REC_MAIN("control", tests);
}

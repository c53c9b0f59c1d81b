/*
** Ends that nobody asked for with stop: lua_close(), the clock, a fork.
*/

#include "rec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- The clock, by --wrap ------------------------------------------------- */

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

static bool clock_fake;     /* The time is what a test says. */
static uint64_t clock_now;  /* Nanoseconds. */
static uint64_t clock_tick; /* By which each look advances it. */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
  if (!clock_fake)
    return __real_clock_gettime(id, ts);
  clock_now += clock_tick;
  ts->tv_sec = (time_t)(clock_now / 1000000000u);
  ts->tv_nsec = (long)(clock_now % 1000000000u);
  return 0;
}

/* From now on it is MS milliseconds after the test's start. Check asks for
** the time, too, so that must not be far from here at its end.
*/
static void clock_set(uint64_t ms)
{
  static uint64_t start;
  struct timespec ts;
  if (start == 0) {
    __real_clock_gettime(CLOCK_MONOTONIC, &ts);
    start = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
  }
  clock_fake = true;
  clock_now = start + ms * 1000000u;
  clock_tick = 0;
}

/* Makes so many events that the clock is looked at. */
static void make_events(lua_State *L, int n)
{
  int i;
  for (i = 0; i < n; i++) {
    lua_newtable(L);
    lua_pop(L, 1);
  }
}

/* -- lua_close() ---------------------------------------------------------- */

START_TEST(close_while_running)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, format);
    RecBooks b;
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    lua_close(L);
    ck_assert_int_eq(s.stops, 1);
    ck_assert(!luaM_memprof_isrunning());
    b = rec_books(&s);
    ck_assert_msg(b.whole, "%s", b.error);
    ck_assert_uint_eq(b.errors, 0);
    if (format == LUAM_PROF_COMPACT) {
      ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
      ck_assert_uint_eq(b.flags, 0);
    }
    rec_free(&s);
  }
}
END_TEST

/* on_stop() is called once, whatever writer and on_stop return. */
START_TEST(close_with_a_failing_writer)
{
  size_t failat;
  for (failat = 3; failat < 8; failat++) {
    RecStream s = {.failat = failat, .stopcode = 1};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    lua_close(L);
    ck_assert_int_eq(s.stops, 1);
    ck_assert_uint_eq(s.calls, failat);
    rec_checkprefix(&s);
    rec_free(&s);
  }
}
END_TEST

/* -- dursec --------------------------------------------------------------- */

START_TEST(duration)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, format);
    void *ud, *ud0;
    lua_Alloc f0 = lua_getallocf(L, &ud0);
    size_t calls;
    RecBooks b;
    opt.dursec = 2;
    opt.reserved[LUAM_PROF_DURMS] = 995;
    clock_set(0);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    clock_set(2990);
    make_events(L, 2000);
    ck_assert(luaM_memprof_isrunning());
    clock_set(2995);
    make_events(L, 2000);
    ck_assert_int_eq(s.stops, 1);
    ck_assert(!luaM_memprof_isrunning());
    ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
    calls = s.calls;
    make_events(L, 2000);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
    ck_assert_uint_eq(s.calls, calls);
    b = rec_books(&s);
    ck_assert_msg(b.whole, "%s", b.error);
    ck_assert_uint_eq(b.errors, 0);
    ck_assert_uint_ge(b.allocs, 2000);
    if (format == LUAM_PROF_COMPACT) {
      ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
      ck_assert_uint_eq(b.flags, 0);
    }
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    lua_close(L);
    ck_assert_int_eq(s.stops, 2);
    rec_free(&s);
  }
}
END_TEST

/* A destroyer that starts the next recording. */
typedef struct Chain {
  lua_State *L;
  RecStream s, next;
  int status; /* What the start returned. */
} Chain;

static size_t chain_write(const void *data, size_t len, void *arg)
{
  return rec_write(data, len, &((Chain *)arg)->s);
}

static int chain_stop(void *arg)
{
  Chain *c = arg;
  struct luam_Prof_options opt = rec_options(&c->next, LUAM_PROF_COMPACT);
  c->status = luaM_memprof_start(c->L, &opt);
  return rec_onstop(&c->s);
}

/* Where dursec is over the VM is in the middle of an allocation: nothing may
** start there. After a stop it may.
*/
START_TEST(duration_and_the_next_start)
{
  int i;
  for (i = 0; i < 4; i++) {
    Chain c = {.L = rec_open()};
    struct luam_Prof_options opt = rec_options(&c.s, LUAM_PROF_COMPACT);
    opt.arg = &c;
    opt.writer = chain_write;
    opt.on_stop = chain_stop;
    opt.dursec = 1;
    opt.sample = i & 1 ? 256 : 0;
    opt.stack = i & 2 ? 16 : 1;
    clock_set(0);
    ck_assert_int_eq(luaM_memprof_start(c.L, &opt), LUAM_PROFILE_SUCCESS);
    clock_set(2000);
    make_events(c.L, 5000);
    ck_assert_int_eq(c.s.stops, 1);
    ck_assert_int_eq(c.status, LUAM_PROFILE_ERR);
    ck_assert(!luaM_memprof_isrunning());
    opt.dursec = 0;
    ck_assert_int_eq(luaM_memprof_start(c.L, &opt), LUAM_PROFILE_SUCCESS);
    make_events(c.L, 100);
    ck_assert_int_eq(luaM_memprof_stop(c.L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(c.status, LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(luaM_memprof_stop(c.L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(c.next.stops, 1);
    lua_close(c.L);
    rec_free(&c.s);
    rec_free(&c.next);
  }
}
END_TEST

/* The end may come in any event: the books are right at each of them. */
START_TEST(duration_ends_anywhere)
{
  int n, ended = 0;
  for (n = 1; n < 300; n++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    RecBooks b;
    opt.dursec = 1;
    clock_set(0);
    clock_tick = 1000000000u / (unsigned)n; /* It is over at the n-th look. */
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_small);
    if (!luaM_memprof_isrunning())
      ended++;
    ck_assert_int_eq(s.stops, luaM_memprof_isrunning() ? 0 : 1);
    luaM_memprof_stop(L);
    ck_assert_int_eq(s.stops, 1);
    b = rec_books(&s);
    ck_assert_msg(b.whole, "%s", b.error);
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
    lua_close(L);
    rec_free(&s);
  }
  ck_assert_int_gt(ended, 5);
}
END_TEST

START_TEST(duration_of_ages)
{
  static const uint64_t ages[] = {UINT64_MAX, UINT64_MAX / 1000000000u,
                                  (uint64_t)1 << 40};
  size_t i;
  for (i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    opt.dursec = ages[i];
    clock_set(0);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    clock_set(2000000);
    make_events(L, 2000);
    ck_assert(luaM_memprof_isrunning());
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* A failed writer does not keep a recording from ending in time. */
START_TEST(duration_with_a_failing_writer)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  opt.dursec = 2;
  clock_set(0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  s.failat = s.calls + 1;
  make_events(L, 20000);
  ck_assert_uint_eq(s.calls, s.failat);
  clock_set(3000);
  make_events(L, 20000);
  if (luaM_memprof_isrunning()) /* Or it waits to tell of the failure. */
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(s.stops, 1);
  lua_close(L);
  ck_assert_int_eq(s.stops, 1);
  rec_free(&s);
}
END_TEST

/* -- Marks of time -------------------------------------------------------- */

/* About every 10 ms while events flow, none while they do not. */
START_TEST(time_records)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  RecBooks b;
  int ms;
  opt.buffer = 16u << 20;
  clock_set(0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  for (ms = 0; ms < 500; ms++) {
    clock_set((uint64_t)ms);
    make_events(L, 1000);
  }
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert(b.whole);
  ck_assert_uint_ge(b.times, 45);
  ck_assert_uint_le(b.times, 60);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* The RFC's mark: about every second. */
START_TEST(rfc_marks)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_RFC);
  RecBooks b;
  int ms;
  clock_set(0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  for (ms = 0; ms < 10500; ms += 10) {
    clock_set((uint64_t)ms);
    make_events(L, 100);
  }
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert(b.whole);
  ck_assert_uint_ge(b.marks, 9);
  ck_assert_uint_le(b.marks, 11);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Slow events are written out after about a second. */
START_TEST(slow_events_are_written)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    RecStream s = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, format);
    size_t n;
    int ms;
    clock_set(0);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    n = s.n;
    for (ms = 0; ms <= 3000; ms += 100) {
      clock_set((uint64_t)ms);
      lua_newtable(L);
      lua_pop(L, 1);
    }
    ck_assert_uint_gt(s.n, n);
    ck_assert_uint_ge(rec_checkprefix(&s).allocs, 10);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* -- fork() --------------------------------------------------------------- */

/* What parent and child tell each other. */
typedef struct Shared {
  int trespass; /* Writes of the child to the parent's stream. */
  int done;     /* The child came to its end. */
} Shared;

static Shared *shared;

/* How a child ends, and what it does before. */
enum {
  CHILD_CLOSE,
  CHILD_EXIT,
  CHILD_STOP,
  CHILD_AGAIN,
  CHILD_LEAVE,
  CHILD__MAX
};

static void child_main(lua_State *L, RecStream *s, int how)
{
  ck_assert(!luaM_memprof_isrunning());
  lua_pop(L, 1); /* The parent's last event was its allocation. */
  lua_gc(L, LUA_GCCOLLECT, 0);
  rec_run(L, rec_large); /* Many buffers full. */
  if (how == CHILD_STOP) {
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
    rec_run(L, rec_small);
  }
  if (how == CHILD_AGAIN) {
    RecStream own = {0};
    struct luam_Prof_options opt = rec_options(&own, s->ctx == NULL ? 0 : 1);
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert(luaM_memprof_isrunning());
    rec_run(L, rec_large);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(own.stops, 1);
    rec_checkwhole(&own, rec_live(L) - live);
    rec_free(&own);
  }
  if (how != CHILD_EXIT && how != CHILD_LEAVE)
    lua_close(L);
  ck_assert_int_le(s->stops, 1);
  shared->done = 1;
  if (how == CHILD_LEAVE)
    _exit(0);
  exit(0);
}

START_TEST(fork_while_running)
{
  int how, format;
  shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ck_assert(shared != MAP_FAILED);
  for (how = 0; how < CHILD__MAX; how++) {
    for (format = 0; format < REC_FORMATS; format++) {
      lua_State *L = rec_open();
      RecStream s = {.owner = (long)getpid(), .trespass = &shared->trespass};
      struct luam_Prof_options opt = rec_options(&s, format);
      int64_t live = rec_live(L);
      int status;
      pid_t pid;
      shared->done = 0;
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      rec_run(L, rec_small); /* The buffer is not empty at the fork. */
      lua_newuserdata(L, 1000);
      pid = fork();
      ck_assert_int_ge(pid, 0);
      if (pid == 0)
        child_main(L, &s, how);
      lua_pop(L, 1);
      rec_run(L, rec_large);
      ck_assert_int_eq(waitpid(pid, &status, 0), pid);
      ck_assert_int_eq(status, 0);
      ck_assert_int_eq(shared->done, 1);
      rec_run(L, rec_small);
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
      ck_assert_int_eq(s.stops, 1);
      ck_assert_int_eq(shared->trespass, 0);
      rec_checkwhole(&s, rec_live(L) - live);
      lua_close(L);
      rec_free(&s);
    }
  }
}
END_TEST

int main(void)
{
  const TTest *tests[] = {close_while_running,
                          close_with_a_failing_writer,
                          duration,
                          duration_and_the_next_start,
                          duration_ends_anywhere,
                          duration_of_ages,
                          duration_with_a_failing_writer,
                          time_records,
                          rfc_marks,
                          slow_events_are_written,
                          fork_while_running};
  return REC_MAIN("end", tests);
}

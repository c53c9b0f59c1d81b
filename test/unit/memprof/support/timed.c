/*
** Recordings to a file for so many milliseconds, for tests.
*/

#include "timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char timed_path[64];

void timed_setup(void)
{
  strcpy(timed_path, "/tmp/ljprof-timer-XXXXXX");
  close(mkstemp(timed_path));
}

void timed_teardown(void)
{
  char old[80];
  snprintf(old, sizeof(old), "%s.old", timed_path);
  unlink(old);
  unlink(timed_path);
}

struct luam_Prof_options timed_options(int format, uint64_t ms)
{
  RecStream none = {0};
  struct luam_Prof_options opt = rec_options(&none, format);
  opt.reserved[LUAM_PROF_DURMS] = ms;
  ck_assert_int_eq(luaM_memprof_tofile(&opt, timed_path), LUAM_PROFILE_SUCCESS);
  return opt;
}

bool timed_iswhole(void)
{
  RecStream s = rec_read(timed_path);
  bool whole = rec_books(&s).whole;
  rec_free(&s);
  return whole;
}

void timed_checkwhole(bool samples)
{
  RecStream s = rec_read(timed_path);
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

void timed_nap(unsigned us)
{
  struct timespec ts = {0, (long)us * 1000};
  nanosleep(&ts, NULL);
}

void timed_wait(lua_State *L, int round, int ms)
{
  struct timespec t0, t1;
  long until = ms * 1000L - 300 + round * 37 % 600, us;
  if (round & 1) {
    timed_nap((unsigned)until);
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

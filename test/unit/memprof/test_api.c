/*
** The C API's rules: statuses, who may start and stop, who is called when.
*/

#include "rec.h"

#include <string.h>

/* Starts with options that are wrong. Nothing may happen. */
static void refuse(lua_State *L, const struct luam_Prof_options *opt)
{
  void *ud, *ud0;
  lua_Alloc f, f0 = lua_getallocf(L, &ud0);
  RecStream *s = opt != NULL ? opt->arg : NULL;
  ck_assert_int_eq(luaM_memprof_start(L, opt), LUAM_PROFILE_ERR);
  ck_assert(!luaM_memprof_isrunning());
  f = lua_getallocf(L, &ud);
  ck_assert(f == f0 && ud == ud0);
  if (s != NULL) {
    ck_assert_int_eq(s->stops, 0);
    ck_assert_uint_eq(s->calls, 0);
  }
}

START_TEST(bad_options)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options good = rec_options(&s, LUAM_PROF_COMPACT), opt;
  size_t i;
  refuse(L, NULL);
  opt = good, opt.writer = NULL, refuse(L, &opt);
  opt = good, opt.on_stop = NULL, refuse(L, &opt);
  opt = good, opt.format = -1, refuse(L, &opt);
  opt = good, opt.format = LUAM_PROF_TARANTOOL + 1, refuse(L, &opt);
  opt = good, opt.buffer = 1, refuse(L, &opt);
  opt = good, opt.buffer = 16383, refuse(L, &opt);
  opt = good, opt.buffer = (16u << 20) + 1, refuse(L, &opt);
  opt = good, opt.buffer = UINT64_MAX, refuse(L, &opt);
  opt = good, opt.signo = -1, refuse(L, &opt);
  opt = good, opt.signo = 10000, refuse(L, &opt);
  opt = good, opt.stack = 257, refuse(L, &opt);
  opt = good, opt.stack = -1, refuse(L, &opt);
  opt = good, opt.stack = 2, opt.format = LUAM_PROF_RFC, refuse(L, &opt);
  opt = good, opt.sample = (1u << 30) + 1, refuse(L, &opt);
  opt = good, opt.sample = 1, opt.format = LUAM_PROF_RFC, refuse(L, &opt);
  opt = good, opt.seed = 1, refuse(L, &opt);
  opt = good, opt.lines = -1, refuse(L, &opt);
  opt = good, opt.lines = 3, refuse(L, &opt);
  opt = good, opt.strings = 1, refuse(L, &opt);
  for (i = 0; i < sizeof(good.reserved) / sizeof(good.reserved[0]); i++)
    opt = good,
    opt.reserved[i] = i == LUAM_PROF_MARKS || i == LUAM_PROF_DURMS ? 1001 : 1,
    refuse(L, &opt);
  ck_assert_int_eq(luaM_memprof_start(NULL, &good), LUAM_PROFILE_ERR);
  lua_close(L);
  ck_assert_int_eq(s.stops, 0);
}
END_TEST

/* The RFC's three fields come first, and its two next. */
START_TEST(layout)
{
  ck_assert_uint_eq(offsetof(struct luam_Prof_options, arg), 0);
  ck_assert_uint_eq(offsetof(struct luam_Prof_options, writer), 8);
  ck_assert_uint_eq(offsetof(struct luam_Prof_options, on_stop), 16);
  ck_assert_uint_eq(offsetof(struct luam_Prof_options, dursec), 24);
  ck_assert_uint_eq(offsetof(struct luam_Prof_options, signo), 32);
  ck_assert_int_eq(LUAM_PROFILE_SUCCESS, 0);
  ck_assert_int_eq(LUAM_PROFILE_ERR, 1);
  ck_assert_int_eq(LUAM_PROFILE_ERRMEM, 2);
  ck_assert_int_eq(LUAM_PROFILE_ERRIO, 3);
}
END_TEST

/* Fields that are zero mean a good default. */
START_TEST(defaults)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt;
  int64_t live = rec_live(L);
  memset(&opt, 0, sizeof(opt));
  opt.arg = &s;
  opt.writer = rec_write;
  opt.on_stop = rec_onstop;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_large);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* All that may be given, and no more than that, is taken from the options:
** the struct may be gone after the start.
*/
START_TEST(options_are_copied)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  int64_t live = rec_live(L);
  opt.signo = 10;
  opt.buffer = 16u << 20;
  opt.dursec = UINT64_MAX;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  memset(&opt, 0xff, sizeof(opt));
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(s.stops, 1);
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  rec_free(&s);
}
END_TEST

START_TEST(life)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    RecStream s = {0}, second = {0};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, format);
    struct luam_Prof_options opt2 = rec_options(&second, format);
    void *ud, *ud0;
    lua_Alloc f0 = lua_getallocf(L, &ud0);
    int64_t live = rec_live(L);
    ck_assert(!luaM_memprof_isrunning());
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    ck_assert(luaM_memprof_isrunning());
    ck_assert_int_eq((int)(live - rec_live(L)), 0);
    ck_assert_int_eq(luaM_memprof_start(L, &opt2), LUAM_PROFILE_ERR);
    ck_assert_int_eq(second.stops, 0);
    ck_assert_uint_eq(second.calls, 0);
    rec_run(L, rec_large);
    ck_assert_int_eq(s.stops, 0);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(s.stops, 1);
    ck_assert(!luaM_memprof_isrunning());
    ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
    rec_checkwhole(&s, rec_live(L) - live);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
    ck_assert_int_eq(s.stops, 1);
    lua_close(L);
    ck_assert_int_eq(s.stops, 1);
    rec_free(&s);
  }
}
END_TEST

START_TEST(null_stop)
{
  ck_assert_int_eq(luaM_memprof_stop(NULL), LUAM_PROFILE_ERR);
}
END_TEST

/* on_stop() failed: the stream is whole all the same. */
START_TEST(bad_on_stop)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  int64_t live = rec_live(L);
  s.stopcode = 7;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(s.stops, 1);
  ck_assert(!luaM_memprof_isrunning());
  rec_checkwhole(&s, rec_live(L) - live);
  lua_close(L);
  ck_assert_int_eq(s.stops, 1);
  rec_free(&s);
}
END_TEST

/* -- Several VMs ---------------------------------------------------------- */

START_TEST(another_vm)
{
  RecStream s = {0};
  lua_State *a = rec_open(), *b = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  int64_t live = rec_live(a);
  ck_assert_int_eq(luaM_memprof_start(a, &opt), LUAM_PROFILE_SUCCESS);
  ck_assert_int_eq(luaM_memprof_stop(b), LUAM_PROFILE_ERR);
  ck_assert_int_eq(s.stops, 0);
  ck_assert(luaM_memprof_isrunning());
  rec_run(a, rec_small);
  rec_run(b, rec_small);
  lua_close(b);
  ck_assert(luaM_memprof_isrunning());
  ck_assert_int_eq(luaM_memprof_stop(a), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(a) - live);
  lua_close(a);
  rec_free(&s);
}
END_TEST

#define MANY 24

/* Many VMs at once; they stop in another order than they started. */
START_TEST(many_vms)
{
  RecStream s[MANY];
  lua_State *L[MANY];
  int64_t live[MANY];
  int i, round;
  memset(s, 0, sizeof(s));
  for (i = 0; i < MANY; i++) {
    struct luam_Prof_options opt = rec_options(&s[i], i % REC_FORMATS);
    L[i] = rec_open();
    live[i] = rec_live(L[i]);
    ck_assert_int_eq(luaM_memprof_start(L[i], &opt), LUAM_PROFILE_SUCCESS);
  }
  for (round = 0; round < 3; round++)
    for (i = 0; i < MANY; i++)
      rec_run(L[(i * 7) % MANY], rec_small);
  for (i = 0; i < MANY; i++) {
    int k = (i * 5) % MANY;
    ck_assert(luaM_memprof_isrunning());
    if (i % 2 == 0) {
      ck_assert_int_eq(luaM_memprof_stop(L[k]), LUAM_PROFILE_SUCCESS);
      rec_checkwhole(&s[k], rec_live(L[k]) - live[k]);
    }
    lua_close(L[k]);
    ck_assert_int_eq(s[k].stops, 1);
    rec_free(&s[k]);
  }
  ck_assert(!luaM_memprof_isrunning());
}
END_TEST

/* -- Coroutines ----------------------------------------------------------- */

static RecStream *co_stream;

static int co_start(lua_State *L)
{
  struct luam_Prof_options opt = rec_options(co_stream, LUAM_PROF_COMPACT);
  lua_pushinteger(L, luaM_memprof_start(L, &opt));
  return 1;
}

static int co_stop(lua_State *L)
{
  lua_pushinteger(L, luaM_memprof_stop(L));
  return 1;
}

/* Started in one coroutine, which is gone, and stopped in another one. */
START_TEST(coroutines)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  co_stream = &s;
  lua_register(L, "start", co_start);
  lua_register(L, "stop", co_stop);
  rec_run(L, "local co = coroutine.create(start)\n"
             "local ok, status = coroutine.resume(co)\n"
             "assert(ok and status == 0)\n"
             "co = nil\n"
             "collectgarbage()\n"
             "local t = {}\n"
             "for i = 1, 500 do t[i] = { i } end\n"
             "assert(coroutine.wrap(start)() == 1)\n"
             "assert(coroutine.wrap(stop)() == 0)\n"
             "assert(stop() == 1)\n");
  ck_assert_int_eq(s.stops, 1);
  ck_assert(!luaM_memprof_isrunning());
  {
    RecBooks b = rec_books(&s);
    ck_assert(b.whole);
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
    ck_assert_uint_ge(b.allocs, 500);
  }
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Start and stop, again and again, leave nothing behind. */
START_TEST(again)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  int i;
  for (i = 0; i < 200; i++) {
    struct luam_Prof_options opt = rec_options(&s, i % REC_FORMATS);
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    lua_newtable(L);
    lua_pop(L, 1);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(s.stops, 1);
    if (i % 20 == 0) {
      RecBooks b = rec_books(&s);
      ck_assert(b.whole);
      ck_assert_int_eq(b.sum, rec_live(L) - live);
    }
    rec_free(&s);
  }
  lua_close(L);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {
      bad_options, layout,     defaults, options_are_copied, life, null_stop,
      bad_on_stop, another_vm, many_vms, coroutines,         again};
  return REC_MAIN("api", tests);
}

/*
** Writers that misbehave, at every call.
*/

#include "rec.h"

#include <errno.h>
#include <string.h>

/* The VM must be as if nothing had happened, and can be profiled again. */
static void check_unharmed(lua_State *L, lua_Alloc f0, void *ud0)
{
  RecStream s = {0};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  void *ud;
  int64_t live;
  ck_assert(!luaM_memprof_isrunning());
  ck_assert(lua_getallocf(L, &ud) == f0 && ud == ud0);
  rec_run(L, rec_small);
  live = rec_live(L);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  rec_checkwhole(&s, rec_live(L) - live);
  rec_free(&s);
}

/* Records with a writer whose call FAILAT fails. Returns how often it is
** called; 0 if it never failed.
*/
static size_t record_failing(int format, size_t failat)
{
  RecStream s = {.failat = failat};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, format);
  void *ud0;
  lua_Alloc f0 = lua_getallocf(L, &ud0);
  int status = luaM_memprof_start(L, &opt);
  size_t calls;
  if (status != LUAM_PROFILE_SUCCESS) {
    ck_assert_int_eq(status, LUAM_PROFILE_ERRIO);
    ck_assert_uint_eq(s.calls, failat);
    ck_assert_int_eq(s.stops, 0);
  } else {
    rec_run(L, rec_large);
    ck_assert_int_eq(s.stops, 0);
    ck_assert(luaM_memprof_isrunning());
    status = luaM_memprof_stop(L);
    ck_assert_int_eq(s.stops, 1);
    if (s.calls < failat || failat == 0) { /* It never came to that call. */
      ck_assert_int_eq(status, LUAM_PROFILE_SUCCESS);
    } else {
      ck_assert_int_eq(status, LUAM_PROFILE_ERRIO);
      ck_assert_uint_eq(s.calls, failat); /* Nothing is told any more. */
    }
  }
  if (status != LUAM_PROFILE_SUCCESS)
    rec_checkprefix(&s);
  check_unharmed(L, f0, ud0);
  lua_close(L);
  ck_assert_int_le(s.stops, 1);
  calls = status == LUAM_PROFILE_SUCCESS && failat != 0 ? 0 : s.calls;
  rec_free(&s);
  return calls;
}

START_TEST(fails_at_every_call)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    size_t total = record_failing(format, 0), n = 1;
    ck_assert_uint_gt(total, 10);
    while (record_failing(format, n) != 0)
      n++;
    ck_assert_uint_gt(n, 10);
  }
}
END_TEST

/* A writer that takes a few bytes at a time is given the rest. */
START_TEST(short_writes)
{
  static const size_t most[] = {1, 2, 7, 100, 16383};
  int format;
  size_t i;
  for (format = 0; format < REC_FORMATS; format++) {
    for (i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
      RecStream s = {.most = most[i]};
      lua_State *L = rec_open();
      struct luam_Prof_options opt = rec_options(&s, format);
      int64_t live = rec_live(L);
      ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
      rec_run(L, rec_large);
      ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
      ck_assert_uint_ge(s.calls, s.n / most[i]);
      rec_checkwhole(&s, rec_live(L) - live);
      lua_close(L);
      rec_free(&s);
    }
  }
}
END_TEST

/* Short writes, and then a failure: all that was taken is there. */
START_TEST(short_writes_that_fail)
{
  size_t failat, before = 0;
  for (failat = 1; failat < 40; failat++) {
    RecStream s = {.most = 5, .failat = failat};
    lua_State *L = rec_open();
    struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERRIO);
    ck_assert_uint_eq(s.calls, failat);
    ck_assert_int_eq(s.stops, 0);
    if (failat > 1) { /* One more call has taken one to five more bytes. */
      ck_assert_uint_gt(s.n, before);
      ck_assert_uint_le(s.n, before + 5);
      ck_assert_int_eq(memcmp(s.p, "ljs\x10\0", 5), 0);
      rec_checkprefix(&s);
    }
    before = s.n;
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* A writer that claims to have taken more than there was has failed. */
START_TEST(excess)
{
  RecStream s = {.excess = 1};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  void *ud0;
  lua_Alloc f0 = lua_getallocf(L, &ud0);
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(s.stops, 0);
  check_unharmed(L, f0, ud0);
  s.excess = 0;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  s.excess = 1;
  rec_run(L, rec_large);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERRIO);
  ck_assert_int_eq(s.stops, 1);
  check_unharmed(L, f0, ud0);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* -- Heap dumps ------------------------------------------------------------ */

/* Objects of many kinds, for a dump of many blocks. */
static const char dump_objects[] =
    "kept = {}\n"
    "for i = 1, 3000 do\n"
    "  kept[i] = { 'string ' .. i, function() return i end,\n"
    "    [i .. 'x'] = i % 100 == 0 and coroutine.create(print) or i }\n"
    "end\n";

/* Dumps a VM into S, which fails or writes short. Returns the status; the VM
** is as it was.
*/
static int dump_to(lua_State *L, RecStream *s)
{
  struct luam_Prof_options opt = {.writer = rec_write, .arg = s};
  int64_t live = rec_live(L);
  int status;
  opt.buffer = 16 << 10;
  status = luaM_memprof_dump(L, &opt);
  ck_assert_int_eq(rec_live(L), live);
  ck_assert_int_eq(s->stops, 0);
  ck_assert(!luaM_memprof_isrunning());
  return status;
}

START_TEST(dump_fails_at_every_call)
{
  lua_State *L = rec_open();
  RecStream whole = {0};
  void *ud0;
  lua_Alloc f0 = lua_getallocf(L, &ud0);
  size_t n;
  rec_run(L, dump_objects);
  ck_assert_int_eq(dump_to(L, &whole), LUAM_PROFILE_SUCCESS);
  ck_assert_uint_gt(whole.calls, 10);
  for (n = 1; n <= whole.calls; n++) {
    RecStream s = {.failat = n}, slow = {.failat = 3 * n, .most = 1000};
    ck_assert_int_eq(dump_to(L, &s), LUAM_PROFILE_ERRIO);
    ck_assert_uint_eq(s.calls, n); /* Nothing is told any more. */
    ck_assert_uint_lt(s.n, whole.n);
    ck_assert_int_eq(dump_to(L, &slow), LUAM_PROFILE_ERRIO);
    ck_assert_uint_eq(slow.calls, 3 * n);
    rec_free(&s);
    rec_free(&slow);
  }
  check_unharmed(L, f0, ud0);
  rec_free(&whole);
  lua_close(L);
}
END_TEST

/* What a writer takes in small pieces is what one takes at once. */
START_TEST(dump_short_writes)
{
  static const size_t most[] = {1, 7, 100, 16383};
  lua_State *L = rec_open();
  RecStream whole = {0}, over = {.excess = 1};
  size_t i, objects;
  rec_run(L, dump_objects);
  ck_assert_int_eq(dump_to(L, &whole), LUAM_PROFILE_SUCCESS);
  objects = rec_checkdump(&whole);
  ck_assert_uint_gt(objects, 12000);
  for (i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
    RecStream s = {.most = most[i]};
    ck_assert_int_eq(dump_to(L, &s), LUAM_PROFILE_SUCCESS);
    ck_assert_uint_ge(s.calls, s.n / most[i]);
    ck_assert_uint_eq(rec_checkdump(&s), objects);
    rec_free(&s);
  }
  ck_assert_int_eq(dump_to(L, &over), LUAM_PROFILE_ERRIO);
  rec_free(&over);
  rec_free(&whole);
  lua_close(L);
}
END_TEST

/* -- What a writer does besides ------------------------------------------- */

/* Calls the profiler's functions from a writer. */
static void hook_api(RecStream *s)
{
  static RecStream other;
  struct luam_Prof_options opt = rec_options(&other, LUAM_PROF_COMPACT);
  luaM_memprof_isrunning();
  ck_assert_int_eq(luaM_memprof_stop(s->ctx), LUAM_PROFILE_ERR);
  ck_assert_int_eq(luaM_memprof_start(s->ctx, &opt), LUAM_PROFILE_ERR);
  ck_assert_int_eq(s->stops, 0);
  ck_assert_uint_eq(other.calls, 0);
}

START_TEST(stop_inside_the_writer)
{
  int format;
  for (format = 0; format < REC_FORMATS; format++) {
    lua_State *L = rec_open();
    RecStream s = {.hook = hook_api, .ctx = L};
    struct luam_Prof_options opt = rec_options(&s, format);
    int64_t live = rec_live(L);
    ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
    rec_run(L, rec_large);
    ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
    ck_assert_int_eq(s.stops, 1);
    rec_checkwhole(&s, rec_live(L) - live);
    lua_close(L);
    rec_free(&s);
  }
}
END_TEST

/* Calls the allocator of the VM that is being profiled. */
static void hook_allocate(RecStream *s)
{
  void *ud;
  lua_Alloc f = lua_getallocf(s->ctx, &ud);
  void *p = f(ud, NULL, 0, 100);
  ck_assert_ptr_nonnull(p);
  p = f(ud, p, 100, 200);
  ck_assert_ptr_nonnull(p);
  ck_assert_ptr_null(f(ud, p, 200, 0));
}

/* A writer must not, but if it does, the stream says what it has lost. */
START_TEST(allocating_writer)
{
  lua_State *L = rec_open();
  RecStream s = {.ctx = L};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  RecBooks b;
  size_t calls;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  calls = s.calls;
  s.hook = hook_allocate;
  rec_run(L, rec_large);
  calls = s.calls - calls;
  ck_assert_uint_gt(calls, 5);
  s.hook = NULL;
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert_msg(b.whole, "%s", b.error);
  ck_assert_uint_eq(b.errors, 0);
  ck_assert_uint_eq(b.lost, 3 * calls);
  ck_assert_uint_eq(b.flags, 2);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Makes an object in the VM that is about to be profiled. */
static void hook_object(RecStream *s)
{
  lua_newuserdata(s->ctx, 1000);
}

/* The books are right, or say that they are not, if it does so at start. */
START_TEST(writer_allocates_at_start)
{
  lua_State *L = rec_open();
  RecStream s = {.ctx = L, .hook = hook_object};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  RecBooks b;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  s.hook = NULL;
  rec_run(L, rec_small);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  b = rec_books(&s);
  ck_assert(b.whole);
  if (b.flags == 0)
    ck_assert_int_eq((int64_t)b.before + b.sum, (int64_t)b.after);
  lua_close(L);
  rec_free(&s);
}
END_TEST

/* Changes errno, as any writer may. */
static void hook_errno(RecStream *s)
{
  (void)s;
  errno = EDOM;
}

static int check_errno(lua_State *L)
{
  int i;
  errno = ERANGE;
  for (i = 0; i < 20000; i++) {
    lua_newtable(L);
    lua_pop(L, 1);
    ck_assert_int_eq(errno, ERANGE);
  }
  return 0;
}

START_TEST(errno_is_kept)
{
  lua_State *L = rec_open();
  RecStream s = {.hook = hook_errno};
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  size_t calls;
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_SUCCESS);
  calls = s.calls;
  lua_pushcfunction(L, check_errno);
  ck_assert_int_eq(lua_pcall(L, 0, 0, 0), 0);
  ck_assert_uint_gt(s.calls, calls);
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_SUCCESS);
  lua_close(L);
  rec_free(&s);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {fails_at_every_call,       short_writes,
                          short_writes_that_fail,    excess,
                          dump_fails_at_every_call,  dump_short_writes,
                          stop_inside_the_writer,    allocating_writer,
                          writer_allocates_at_start, errno_is_kept};
  return REC_MAIN("writer", tests);
}

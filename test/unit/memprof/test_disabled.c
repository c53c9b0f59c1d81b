/*
** The C API of a LuaJIT that is built without the memory profiler.
*/

#include "rec.h"

START_TEST(disabled)
{
  RecStream s = {0};
  lua_State *L = rec_open();
  struct luam_Prof_options opt = rec_options(&s, LUAM_PROF_COMPACT);
  ck_assert(!luaM_memprof_isrunning());
  ck_assert_int_eq(luaM_memprof_start(L, &opt), LUAM_PROFILE_ERR);
  ck_assert_int_eq(luaM_memprof_start(L, NULL), LUAM_PROFILE_ERR);
  ck_assert(!luaM_memprof_isrunning());
  ck_assert_int_eq(luaM_memprof_stop(L), LUAM_PROFILE_ERR);
  rec_run(L, "local ok, msg, errno = misc.memprof.start('/nowhere/at/all')\n"
             "assert(ok == false and type(msg) == 'string' and errno == 38)\n"
             "ok, msg, errno = misc.memprof.stop()\n"
             "assert(ok == false and type(msg) == 'string' and errno == 38)\n"
             "assert(misc.memprof.is_running() == false)\n");
  lua_close(L);
  ck_assert_int_eq(s.stops, 0);
  ck_assert_uint_eq(s.calls, 0);
}
END_TEST

int main(void)
{
  const TTest *tests[] = {disabled};
  return REC_MAIN("disabled", tests);
}

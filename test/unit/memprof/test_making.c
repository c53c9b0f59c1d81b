/*
** What heap dumps call garbage, taken in an allocator, while the VM makes an
** object in several steps.
*/

#include "judge.h"
#include "rec.h"

static void survive(unsigned mean, unsigned seed)
{
  Judge j = {.take = luaM_memprof_dump,
             .scripts = REC_LUA_DIR,
             .mean = mean,
             .seed = seed};
  lua_State *L = judge_open(&j);
  if (L == NULL) /* LuaJIT cannot have an allocator here. */
    return;
  ck_assert_int_eq(luaL_loadfile(L, REC_LUA_DIR "/steps.lua"), 0);
  if (judge_call(&j, L, 0) != 0)
    ck_abort_msg("Lua code failed: %s", lua_tostring(L, -1));
  ck_assert_str_eq(j.fault, "");
  ck_assert_uint_gt(j.dumps, 20);
  ck_assert_uint_gt(j.garbage, 100);
  lua_close(L);
}

START_TEST(often)
{
  survive(4, 1);
}
END_TEST

START_TEST(rarely)
{
  unsigned seed, n = (unsigned)rec_rounds(5);
  for (seed = 1; seed <= n; seed++)
    survive(11 * seed, seed);
}
END_TEST

int main(void)
{
  const TTest *const tests[] = {often, rarely};
  return REC_MAIN("making", tests);
}

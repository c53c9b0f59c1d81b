/*
** The unwinder at every instruction of short Lua programs.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "suites.h"

/* How many steps of each program: some, or as many as LJPROF_WALK_STEPS says.
** LJPROF_WALK_ONLY has the names of programs, LJPROF_WALK_SHOW how many
** failures of each are told in full, LJPROF_WALK_LUA another LuaJIT than ours;
** with LJPROF_WALK_CAPI that has the same C API as ours.
*/
static uint64_t steps_of_each(void)
{
  const char *s = getenv("LJPROF_WALK_STEPS");
  return s ? strtoull(s, NULL, 10) : 4000;
}

#define BAD                                                                    \
  (1u << JUDGE_CUT | 1u << JUDGE_NATIVE | 1u << JUDGE_LEAF | 1u << JUDGE_LUA | \
   1u << JUDGE_PLACE)

#define RARE                                                                   \
  (1u << JUDGE_NOPC | 1u << JUDGE_JIT | 1u << JUDGE_MOVED | 1u << JUDGE_THROWN)

/* Go through walk.lua, from each mark on. */
static void step_through(const char *mode)
{
  static const char program[] = SOURCE "/walk.lua";
  const char *lua = getenv("LJPROF_WALK_LUA");
  const char *only = getenv("LJPROF_WALK_ONLY");
  const char *show = getenv("LJPROF_WALK_SHOW");
  const char *module = lua && !getenv("LJPROF_WALK_CAPI") ? NULL : CBENCH;
  const char *argv[] = {lua ? lua : LUAJIT, program, mode, module, NULL};
  Tracee *t = tracee_start(argv);
  static Judge all, one;
  char name[TRACEE_NAME];
  memset(&all, 0, sizeof(all));
  while (!t->ended && tracee_mark(t, name) && strcmp(name, "end") != 0) {
    uint32_t i;
    if (only && !strstr(only, name))
      continue;
    ck_assert_msg(t->vm != NULL, "no VM found");
    memset(&one, 0, sizeof(one));
    judge_run(&one, t, steps_of_each());
    judge_print(&one, name, show ? atoi(show) : 0);
    all.steps += one.steps;
    for (i = 0; i < JUDGE_KINDS; i++)
      all.bad[i] += one.bad[i];
    judge_end(&one);
  }
  tracee_end(t);
  judge_print(&all, mode, 0);
  ck_assert_uint_gt(all.steps, 1000);
  ck_assert_double_lt(judge_failed(&all, BAD), 0.001);
  ck_assert_double_lt(judge_failed(&all, 1u << JUDGE_LINE), 0.001);
  /* At exits from traces, while stacks grow, while errors are thrown: rare but
  ** in these programs.
  */
  ck_assert_double_lt(judge_failed(&all, RARE), 0.05);
}

START_TEST(walk_interpreted)
{
  step_through("nojit");
}
END_TEST

START_TEST(walk_compiled)
{
  step_through("jit");
}
END_TEST

Suite *suite_walk(void)
{
  const TTest *tests[] = {walk_interpreted, walk_compiled, NULL};
  return suite_of("walk", tests);
}

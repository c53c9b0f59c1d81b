/*
** The unwinder on programs in C, at every instruction from the first one on.
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "suites.h"

/* Step through a program from its first instruction to its end. */
static void step_through(const char *path, const char *kind)
{
  const char *argv[] = {path, NULL};
  const char *show = getenv("LJPROF_WALK_SHOW");
  const uint32_t bad = 1u << JUDGE_CUT | 1u << JUDGE_NATIVE | 1u << JUDGE_LEAF;
  static Judge j;
  Tracee *t = tracee_start(argv);
  memset(&j, 0, sizeof(j));
  judge_native(&j, t, 10000000);
  ck_assert(t->ended);
  tracee_end(t);
  judge_print(&j, kind, show ? atoi(show) : 0);
  ck_assert_uint_gt(j.steps, 10000);
  ck_assert_double_lt(judge_failed(&j, bad), 0.001);
  judge_end(&j);
}

START_TEST(step_plain)
{
  step_through(NATIVE "plain", "plain");
}
END_TEST

START_TEST(step_pointers)
{
  step_through(NATIVE "pointers", "pointers");
}
END_TEST

START_TEST(step_static)
{
  step_through(NATIVE "static", "static");
}
END_TEST

Suite *suite_native(void)
{
  const TTest *tests[] = {step_plain, step_pointers, step_static, NULL};
  return suite_of("native", tests);
}

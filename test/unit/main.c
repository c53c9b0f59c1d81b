/*
** Runs the suites; the one in CK_RUN_SUITE, which must be there, or all.
*/

#include <stdlib.h>

#include "suites.h"

/* A suite of one case. */
Suite *suite_of(const char *name, const TTest **tests)
{
  Suite *s = suite_create(name);
  TCase *tc = tcase_create(name);
  tcase_set_timeout(tc, 300);
  for (; *tests; tests++)
    tcase_add_test(tc, *tests);
  suite_add_tcase(s, tc);
  return s;
}

int main(void)
{
  SRunner *sr = srunner_create(NULL);
  int failed;
#define SUITE_ADD(name) srunner_add_suite(sr, suite_##name());
  SUITES(SUITE_ADD)
  srunner_run_all(sr, CK_ENV);
  failed = srunner_ntests_failed(sr) || srunner_ntests_run(sr) == 0;
  srunner_free(sr);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

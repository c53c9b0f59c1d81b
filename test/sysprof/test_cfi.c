#include "suites.h"
Suite *suite_cfi(void)
{
  const TTest *tests[] = {NULL};
  return suite_of("cfi", tests);
}

#include "suites.h"
Suite *suite_symbols(void)
{
  const TTest *tests[] = {NULL};
  return suite_of("symbols", tests);
}

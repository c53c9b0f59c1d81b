#include "suites.h"
Suite *suite_maps(void)
{
  const TTest *tests[] = {NULL};
  return suite_of("maps", tests);
}

#include "suites.h"
Suite *suite_elf(void)
{
  const TTest *tests[] = {NULL};
  return suite_of("elf", tests);
}

#include "suites.h"
Suite *suite_kallsyms(void)
{
  const TTest *tests[] = {NULL};
  return suite_of("kallsyms", tests);
}

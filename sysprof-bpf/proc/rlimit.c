/*
** Limits of this process.
*/

#include <sys/resource.h>

#include "rlimit.h"

static struct rlimit before; /* As it was; set by ls_rlimit_raise. */
static int raised;           /* It has been changed. */

void ls_rlimit_raise(unsigned n)
{
  struct rlimit now;
  if (getrlimit(RLIMIT_NOFILE, &before) || before.rlim_cur >= n)
    return;
  now.rlim_cur = n;
  now.rlim_max = before.rlim_max > n ? before.rlim_max : n;
  raised = 1;
  if (setrlimit(RLIMIT_NOFILE, &now) == 0)
    return;
  now = before; /* Without CAP_SYS_RESOURCE the hard limit holds. */
  now.rlim_cur = before.rlim_max;
  raised = setrlimit(RLIMIT_NOFILE, &now) == 0;
}

void ls_rlimit_restore(void)
{
  if (raised)
    setrlimit(RLIMIT_NOFILE, &before);
}

/*
** The priority of the thread that reads stacks.
**
** On a loaded machine a thread of the usual priority runs up to 70 ms after it
** was woken: a program may have started and ended by then. The nice value gives
** this thread its turn, and a short slice (Linux 6.12) an early one.
*/

#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "priority.h"

#define NICE     (-20)
#define SLICE_NS 100000

static struct sched_attr before; /* As it was; set by ls_priority_raise. */
static int raised;

void ls_priority_raise(void)
{
  struct sched_attr now;
  if (syscall(SYS_sched_getattr, 0, &before, sizeof(before), 0) ||
      before.sched_policy != 0 || before.sched_nice != 0)
    return; /* Someone has chosen it. */
  now = before;
  now.sched_nice = NICE;
  now.sched_runtime = SLICE_NS;
  raised = syscall(SYS_sched_setattr, 0, &now, 0) == 0;
}

void ls_priority_restore(void)
{
  if (raised)
    syscall(SYS_sched_setattr, 0, &before, 0);
}

/*
** Runs a pager for a report that is longer than the screen.
*/

#ifndef LP_PAGER_H
#define LP_PAGER_H

#include <sys/types.h>

/* Start the pager: LJPROF_PAGER, or PAGER, or less with the options FRX if LESS
** does not name others. Returns a descriptor to write to, and *PID; or -1 if
** there is none: "cat", an empty name, or one that is not installed. From now
** on SIGPIPE and SIGINT are ignored: the user ends the pager.
*/
int lp_pager_start(pid_t *pid);

/* Wait until the user has ended it. The descriptor must be closed. */
void lp_pager_wait(pid_t pid);

#endif

/*
** The child processes of a process.
*/

#ifndef LS_CHILDREN_H
#define LS_CHILDREN_H

#include <stddef.h>
#include <sys/types.h>

/* Write the children of PID, and theirs, to OUT, parents first: at most MOST of
** them. Returns how many. Processes may end, and others begin, at any time.
*/
size_t ls_children_find(pid_t pid, pid_t *out, size_t most);

#endif

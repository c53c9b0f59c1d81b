/*
** The control group of a process: a container, a service.
*/

#ifndef LS_CGROUP_H
#define LS_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

#define LS_CGROUP_MAX 512 /* Bytes of a path, with its end. */

/* Write the path of the control group of PID, as /proc/PID/cgroup has it, to
** PATH, of LS_CGROUP_MAX bytes: that of version 2 or, if it is the root one,
** the first other one of version 1. Empty if all are root ones, or PID cannot
** be read. Of a longer path the end is kept.
*/
void ls_cgroup_read(pid_t pid, char *path);

/* Does GLOB, as of fnmatch(3), match a path, or one of its components? */
int ls_cgroup_is(const char *path, const char *glob);

#endif

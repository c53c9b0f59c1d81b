/*
** Which of all processes --comm and --cgroup choose.
*/

#ifndef LS_MATCHING_H
#define LS_MATCHING_H

#include "modules.h"
#include "options.h"

/* With -a: may PID have a VM, and do --comm and --cgroup choose it? */
int ls_matching_wanted(const LsOptions *opt, LsModules *modules, pid_t pid);

/* Say on stderr that --comm and --cgroup chose no process, and which processes
** with a VM there are.
*/
void ls_matching_nothing(const LsOptions *opt, LsModules *modules);

#endif

/*
** Whether a live process agrees with the layout that was found in its code.
*/

#ifndef LS_VMCHECK_H
#define LS_VMCHECK_H

#include <sys/types.h>

#include "vmcode.h"

/* Look at the coroutine at address L and the global state at G of process PID:
** 1 if what is there is as *VM says, 0 if not, and WHY, which is "" else, says
** what is different. The process runs on, so a single 0 may be due to a
** race; see LS_DOUBTS.
*/
int ls_vm_check(pid_t pid, const struct ljs_vm *vm, uint64_t l, uint64_t g,
                char why[LS_WHY]);

#endif

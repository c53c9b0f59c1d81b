/*
** Control: orders from outside, by a Unix socket of the process.
**
** A thread receives and answers them. It touches nothing of a VM or of its
** recording: it stores the order in the VM's hook and takes the recording out
** of the way, so that the VM's next event looks at the hook. The VM's thread
** executes the order there.
*/

#ifndef _LJ_MEMPROF_CONTROL_H
#define _LJ_MEMPROF_CONTROL_H

#include "lj_memprof.h"

/*
** Starts the thread, unless this process has it. Returns 0 and errno if there
** is none.
*/
LJ_FUNC int lj_memprof_startcontrol(void);

/* Why there is none, of this process's last try: a static string or NULL. */
LJ_FUNC const char *lj_memprof_whynocontrol(void);

/*
** The process exits: ends the thread, and removes its socket. No order is left
** in any hook.
*/
LJ_FUNC void lj_memprof_endcontrol(void);

/* In a child of fork(), with the lock of the hooks: it has no thread. */
LJ_FUNC void lj_memprof_forkedcontrol(void);

#endif

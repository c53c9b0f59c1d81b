/*
** The unwinder of the BPF program in user space: the stack of a thread that
** does not run, from its registers and the memory of its process.
*/

#ifndef LS_USERWALK_H
#define LS_USERWALK_H

#include "modules.h"
#include "target.h"

typedef struct LsUserWalk LsUserWalk;

/* The unwinder without tables. The caller closes it. NULL without memory. */
LsUserWalk *ls_userwalk_open(void);

/* Free it with its tables. W may be NULL. */
void ls_userwalk_close(LsUserWalk *w);

/* Add the tables of module ID, which are copied: N rows, sorted by pc, and its
** VM, or NULL. Returns 0, or -1 without memory.
*/
int ls_userwalk_module(LsUserWalk *w, uint32_t id, const struct ljs_row *row,
                       size_t n, const struct ljs_vm *vm);

/* Ignore the VM in module ID from now on. */
void ls_userwalk_distrust(LsUserWalk *w, uint32_t id);

/* Walk the stack of thread *TH of process T, all kinds of frames but those of
** the kernel. It belongs to W, and is valid until the next walk. If the thread
** has run meanwhile, the stack is of no use.
*/
const struct ljs_stack *ls_userwalk(LsUserWalk *w, const LsTarget *t,
                                    const struct ljs_thread *th);

#endif

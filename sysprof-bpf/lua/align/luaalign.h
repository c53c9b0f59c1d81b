/*
** Alignment of a trace's machine code with the bytecode that it was compiled
** from, by its IR.
*/

#ifndef LS_LUAALIGN_H
#define LS_LUAALIGN_H

#include "luatrace.h"
#include "tracecode.h"

/* Find what the machine code C of a trace is of, as far as that is proven:
** T->span, which belongs to T. Its snapshots are read. Without memory, or if
** the VM's IR is not known, there is nothing. Callers belong to the pool.
*/
void ls_align_read(const LsIr *t, const LsCode *c, LsPool *pool, LsTrace *T);

#endif

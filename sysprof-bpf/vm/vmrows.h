/*
** The interpreter's rows of the unwind table.
*/

#ifndef LS_VMROWS_H
#define LS_VMROWS_H

#include "elf.h"
#include "ljs.h"
#include "rows.h"

/* Replace the rows of the interpreter in ROWS, of the same file. Returns 0, or
** -1 with errno: then ROWS is unchanged.
*/
int ls_vmrows(const LsElf *elf, const struct ljs_vm *vm, LsRows *rows);

#endif

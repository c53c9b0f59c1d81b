/*
** Rows for the outermost frames of stacks that have no unwind data.
*/

#ifndef LS_ROOTS_H
#define LS_ROOTS_H

#include "rows.h"

/* Add the rows, found by the machine code of E, of the outermost frames of
** processes and of stacks that a program makes by hand. Only code without
** unwind data is looked at. Returns 0, or -1 with errno: then ROWS is
** unchanged.
*/
int ls_roots_add(const LsElf *e, LsRows *rows);

#endif

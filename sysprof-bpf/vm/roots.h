/*
** Where stacks end though no unwind data says so.
*/

#ifndef LS_ROOTS_H
#define LS_ROOTS_H

#include "rows.h"

/* Adds to the table what E's code itself tells of the outermost frames of
** processes and of stacks that a program makes by hand. Only code without
** unwind data is looked at. Answers 0, or -1 with errno: then ROWS is as it
*was.
*/
int ls_roots_add(const LsElf *e, LsRows *rows);

#endif

/*
** DWARF expressions of CFAs and of saved registers, as linkers and compilers
** write them.
*/

#ifndef LS_EXPRESSION_H
#define LS_EXPRESSION_H

#include <stdint.h>

#include "cursor.h"

/* Match the expression of a CFA. Returns its LJS_CFA_*, with *OFFSET in bytes;
** LJS_CFA_UNKNOWN, with 0, if it is none of the known ones.
*/
int ls_expression_cfa(LsCursor b, int64_t *offset);

/* Match the expression of a saved register. Returns 0 if it is at rbp plus
** *OFFSET bytes, as in functions that realign the stack; else -1.
*/
int ls_expression_reg(LsCursor b, int64_t *offset);

#endif

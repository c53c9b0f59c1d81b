/*
** The few expressions by which linkers and compilers tell a CFA.
*/

#ifndef LS_EXPRESSION_H
#define LS_EXPRESSION_H

#include <stdint.h>

#include "bytes.h"

/* What an expression of DWARF says of the CFA, if it is one of those that are
** written: LJS_CFA_* and its offset. Any other is LJS_CFA_UNKNOWN.
*/
int ls_expression_cfa(LsBytes b, int64_t *offset);

/* Where an expression says that a register is saved: 0 if that is at rbp plus
** *OFFSET, as where a stack was realigned; else -1.
*/
int ls_expression_reg(LsBytes b, int64_t *offset);

#endif

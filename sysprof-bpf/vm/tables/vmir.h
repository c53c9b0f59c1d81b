/*
** How a VM numbers the operations of its IR: some versions have one more, or
** less.
*/

#ifndef LS_VMIR_H
#define LS_VMIR_H

#include <stdbool.h>

#include "elf.h"
#include "ljs.h"

#define LS_IR_OPS 102 /* Operations that there are in some version. */

/* A numbering: which operations a version has. */
enum {
  LS_IRFORM_KNOWN = 1,
  LS_IRFORM_ATAN2 = 2,
  LS_IRFORM_TMPREF = 4,
  LS_IRFORM_ALEN = 8
};

/* The numbering of the VM in E: LS_IRFORM_KNOWN and others, or 0 if it is none
** that is known, or there may be several.
*/
uint8_t ls_vm_irform(const LsElf *e);

/* Write to OP, for each number that a VM of a numbering may have, the number
** among the LS_IR_OPS operations; LS_IR_OPS if there is none.
*/
void ls_vm_irops(uint8_t form, uint8_t op[256]);

/* The mode of one of the LS_IR_OPS operations: bits 0 and 1 for its first
** operand, 2 and 3 for the second: 0 if that is an instruction or a constant;
** bits 5 and 6 are 0 if it has no effects and depends on nothing else.
*/
uint8_t ls_vm_irmode(uint8_t op);

#endif

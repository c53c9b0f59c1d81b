/*
** What the interpreter's registers mean, instruction by instruction.
*/

#ifndef LS_VMFLOW_H
#define LS_VMFLOW_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"

/* The interpreter's code. */
typedef struct LsVmText {
  const uint8_t *p;
  uint32_t n;
  const struct ljs_vm *vm;
} LsVmText;

/* For each byte where an instruction begins, what holds before it: LJS_VM(). To
** be freed. NULL without memory.
*/
uint16_t *ls_vmflow(const LsVmText *text);

#endif

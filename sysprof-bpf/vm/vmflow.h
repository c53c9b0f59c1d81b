/*
** Data flow of BASE and PC through the interpreter's registers.
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

/* What registers hold before each instruction, LJS_VM(): an element for each
** byte of the code and one more, by its offset. The caller frees it. NULL
** without memory.
*/
uint16_t *ls_vmflow(const LsVmText *text);

#endif

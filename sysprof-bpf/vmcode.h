/*
** Finds LuaJIT in an ELF file, and the layout of its VM, by the shape of its
** machine code: without symbols and without knowing the version.
*/

#ifndef LS_VMCODE_H
#define LS_VMCODE_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"

#define LS_WHY 160 /* Room for a sentence, with its NUL. */

/* One function of an ELF file that might be the interpreter. */
typedef struct LsVmCode {
  const uint8_t *code;
  size_t n;       /* Bytes of code. */
  uint32_t lo;    /* Address of the code, as the ELF file has it. */
  uint16_t frame; /* CFA - rsp in all of it, by the unwind table. */
  int16_t bp, bx; /* Where rbp and rbx are saved, from the CFA. */
} LsVmCode;

int ls_vm_scan(const LsVmCode *c, struct ljs_vm *out, char why[LS_WHY]);

#endif

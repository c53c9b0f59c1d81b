/*
** Finds LuaJIT in an ELF file, and the layout of its VM, by the shape of its
** machine code: without symbols and without knowing the version.
*/

#ifndef LS_VMCODE_H
#define LS_VMCODE_H

#include <stddef.h>
#include <stdint.h>

#include "elf.h"
#include "ljs.h"
#include "rows.h"

#define LS_WHY     160 /* Room for a sentence, with its NUL. */
#define LS_WHY_OLD "LuaJIT 2.0"

/* One function of an ELF file that might be the interpreter. */
typedef struct LsVmCode {
  const uint8_t *code;
  size_t n;       /* Bytes of code. */
  uint32_t lo;    /* Address of the code, as the ELF file has it. */
  uint16_t frame; /* CFA - rsp in all of it, by the unwind table. */
  int16_t bp, bx; /* Where rbp and rbx are saved, from the CFA. */
} LsVmCode;

/* Look at one function: 1 if it is LuaJIT's interpreter, with its layout in
** *OUT; 0 if not; -1 if it looks like it, but WHY says what was not certain.
*/
int ls_vm_scan(const LsVmCode *c, struct ljs_vm *out, char why[LS_WHY]);

/* Look for LuaJIT in an ELF file: 1 if it has one, *OUT is its layout; 0 if it
** has none; -1 if something in it looks like one, but WHY, which is "" else,
** says what was not certain, or is LS_WHY_OLD. ls_vm_check compares *OUT with a
** live process.
*/
int ls_vm_find(const LsElf *e, const LsRows *rows, struct ljs_vm *out,
               char why[LS_WHY]);

#endif

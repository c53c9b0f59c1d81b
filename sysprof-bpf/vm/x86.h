/*
** Machine code of x86-64, instruction by instruction: as much of it as is
** needed to read LuaJIT's interpreter, and what its compiler makes.
*/

#ifndef LS_X86_H
#define LS_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LS_RAX, LS_RCX, LS_RDX, LS_RBX, LS_RSP, LS_RBP, LS_RSI, LS_RDI };
#define LS_R14  14
#define LS_R15  15
#define LS_NREG 0xff /* No register. */

/* One instruction. */
typedef struct LsX86 {
  uint8_t len;   /* In bytes. */
  uint8_t map;   /* 0: one byte opcode; 1: 0F; 2: 0F 38; 3: 0F 3A. */
  uint8_t op;    /* Last byte of the opcode. */
  uint8_t reg;   /* Register, or more of the opcode (low 3 bits). */
  uint8_t rm;    /* Other register, if not in memory; else LS_NREG. */
  uint8_t base;  /* Of an address in memory, or LS_NREG. */
  uint8_t index; /* Likewise; it counts `scale` times. */
  uint8_t scale;
  bool mem;     /* One operand is in memory: base + index * scale + disp. */
  bool wide;    /* Operands have 64 bits. */
  bool prefix;  /* There is a prefix that changes its meaning. */
  uint8_t simd; /* The last of the prefixes 66, F2 and F3, or 0. */
  int32_t disp; /* Of the address, or of a jump. */
  int64_t imm;  /* Immediate operand, sign-extended. */
} LsX86;

/* Decode the instruction at CODE, of which N bytes can be read. Returns false
** if it is not known.
*/
bool ls_x86_decode(const uint8_t *code, size_t n, LsX86 *out);

/* Whether an instruction is a jump on a condition. */
bool ls_x86_isjcc(const LsX86 *x);

#endif

/*
** The machine code of a trace, instruction by instruction.
*/

#ifndef LS_TRACECODE_H
#define LS_TRACECODE_H

#include "traceir.h"
#include "x86.h"

typedef struct LsCodeIns {
  uint32_t ofs; /* In bytes. */
  LsX86 x;
} LsCodeIns;

typedef struct LsCode {
  LsCodeIns *ins;
  uint32_t n;
} LsCode;

/* Read the machine code of a trace. Returns false, and there is none, if some
** of it cannot be read, or is not known, or without memory.
*/
bool ls_code_read(const LsIr *t, LsCode *c);

/* Free the memory of *C. There is none in it then. */
void ls_code_free(LsCode *c);

/* The number of the first instruction that begins at OFS or behind, or c->n. */
uint32_t ls_code_at(const LsCode *c, uint32_t ofs);

#endif

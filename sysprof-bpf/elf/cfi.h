/*
** The programs of call frame information: they say, instruction by
** instruction, how a function's caller can be found. See DWARF, part 6.4.
*/

#ifndef LS_CFI_H
#define LS_CFI_H

#include <stdint.h>

#include "bytes.h"
#include "ljs.h"

/* Where a register of the caller is. */
typedef enum LsWhere {
  LS_AT_SAME, /* Where it was: not touched. For rsp: it is the CFA. */
  LS_AT_CFA,  /* In memory, at CFA + offset. */
  LS_AT_BP,   /* In memory, at rbp + offset. */
  LS_AT_NONE, /* Nowhere: it is lost. */
  LS_AT_ODD   /* Somewhere that a row cannot tell. */
} LsWhere;

typedef struct LsRule {
  LsWhere where;
  int64_t offset;
} LsRule;

/* Registers that we follow. */
enum { LS_CFI_BX, LS_CFI_BP, LS_CFI_SP, LS_CFI_RA, LS_CFI_REGS };

/* All that is known at one instruction of the function. The CFA is reg +
** offset, unless an expression tells it; these two stay as they are, then, for
** programs that come back to them.
*/
typedef struct LsCfi {
  uint64_t reg; /* By DWARF's number. */
  int64_t offset;
  int isexp;   /* An expression tells the CFA: */
  int how;     /* LJS_CFA_* of that, ... */
  int64_t exp; /* ... and its offset. */
  LsRule rule[LS_CFI_REGS];
} LsCfi;

/* What functions have in common. */
typedef struct LsCie {
  uint64_t at;        /* Where it is in its section. */
  uint64_t codealign; /* Factor of distances in code. */
  int64_t dataalign;  /* Factor of offsets. */
  uint8_t encoding;   /* Of pointers: DW_EH_PE_*. */
  uint8_t augmented;  /* FDEs have data of their own. */
  uint8_t signal;     /* Frames that the kernel makes for a signal. */
  uint8_t odd;        /* It is not understood. */
  LsCfi start;        /* Known when a function begins. */
} LsCie;

#define LS_CFI_DEPTH 16 /* States that can be remembered. */

/* A program that runs. */
typedef struct LsCfiRun {
  const LsCie *cie;
  LsBytes code;
  LsCfi now;
  LsCfi saved[LS_CFI_DEPTH];
  unsigned depth;
} LsCfiRun;

/* Find out CIE's start by its program. */
void ls_cfi_cie(LsCie *cie, LsBytes code);

/* Begin a function's program. */
void ls_cfi_begin(LsCfiRun *r, const LsCie *cie, LsBytes code);

/* Run on until it is told how many bytes of code the state holds for: *STEP.
** Returns 0 if the program ends, so that it holds up to the function's end.
*/
int ls_cfi_run(LsCfiRun *r, uint64_t *step);

/* The state as a row, but for its pc. */
void ls_cfi_row(const LsCfiRun *r, struct ljs_row *row);

#endif

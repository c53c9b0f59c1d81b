/*
** Interpreter of call frame instructions (DWARF, part 6.4): how the caller of
** a function is found, for each address of its code.
*/

#ifndef LS_CFI_H
#define LS_CFI_H

#include <stdint.h>

#include "cursor.h"
#include "ljs.h"

/* The register rules of DWARF that a row can hold: where the caller's value of
** a register is.
*/
typedef enum LsRuleKind {
  LS_RULE_SAME_VALUE, /* Not changed. For rsp: it is the CFA. */
  LS_RULE_OFFSET,     /* In memory, at CFA + offset. */
  LS_RULE_BP_OFFSET,  /* In memory, at rbp + offset. */
  LS_RULE_UNDEFINED,  /* Not recoverable. */
  LS_RULE_UNSUPPORTED /* Any other rule: no row can hold it. */
} LsRuleKind;

typedef struct LsRegRule {
  LsRuleKind kind;
  int64_t offset;
} LsRegRule;

/* Registers that we follow. */
enum { LS_CFI_BX, LS_CFI_BP, LS_CFI_SP, LS_CFI_RA, LS_CFI_REGS };

/* The rules at one address. The CFA is reg + offset unless an expression gives
** it; these two are kept then, since DW_CFA_def_cfa_offset may follow.
*/
typedef struct LsCfi {
  uint64_t reg; /* DWARF number. */
  int64_t offset;
  int isexp;   /* An expression gives the CFA: */
  int how;     /* its LJS_CFA_* */
  int64_t exp; /* and its offset. */
  LsRegRule rule[LS_CFI_REGS];
} LsCfi;

/* A common information entry: what the FDEs that refer to it share. */
typedef struct LsCie {
  uint64_t at;         /* Its offset in the section. */
  uint64_t codealign;  /* Factor of distances in code. */
  int64_t dataalign;   /* Factor of offsets. */
  uint8_t encoding;    /* Of pointers: DW_EH_PE_*. */
  uint8_t augmented;   /* FDEs have augmentation data. */
  uint8_t signal;      /* Frames that the kernel makes for a signal. */
  uint8_t unsupported; /* Its FDEs get unknown rows. */
  LsCfi start;         /* The rules at the begin of a function. */
} LsCie;

#define LS_CFI_DEPTH 16 /* States that can be remembered. */

/* The execution of an FDE's instructions. */
typedef struct LsCfiRun {
  const LsCie *cie;
  LsCursor code;
  LsCfi now;
  LsCfi saved[LS_CFI_DEPTH];
  unsigned depth;
} LsCfiRun;

/* Execute the initial instructions of CIE, which sets cie->start, and
** cie->unsupported if they are not understood.
*/
void ls_cfi_cie(LsCie *cie, LsCursor code);

/* Prepare *R to execute the instructions CODE of an FDE. CIE and the bytes of
** CODE belong to the caller and must live as long as *R.
*/
void ls_cfi_begin(LsCfiRun *r, const LsCie *cie, LsCursor code);

/* Execute up to the next DW_CFA_advance_loc*. Returns 1 if r->now holds for the
** next *STEP bytes of code; 0 at the end of the instructions, so that it holds
** up to the end of the FDE's range. What is not understood makes it unknown.
*/
int ls_cfi_run(LsCfiRun *r, uint64_t *step);

/* Convert r->now to *ROW, all of it but the pc. */
void ls_cfi_row(const LsCfiRun *r, struct ljs_row *row);

#endif

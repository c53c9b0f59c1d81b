/*
** The IR of a trace: a copy of its instructions and constants.
*/

#ifndef LS_TRACEIR_H
#define LS_TRACEIR_H

#include "irops.h"
#include "luaview.h"

#define LS_REF_BIAS 0x8000 /* Constants are below, code is from here on. */
#define LS_REF_NIL  0x7fff /* The constant nil. */

/* An IR instruction. */
typedef struct LsIns {
  uint16_t op1, op2;
  uint8_t type, op;
  uint8_t reg, spill;
} LsIns;

/* A snapshot as the VM has it. */
typedef struct LsRawSnap {
  uint32_t map; /* Its part of the map begins there, */
  uint32_t end; /* and ends here. */
  uint16_t ref; /* Its first IR instruction. */
  uint16_t mcofs;
  uint8_t nent; /* Entries of its part; the rest is a PC and frame links. */
} LsRawSnap;

/* A trace's header, and where its parts are in the process. */
typedef struct LsIr {
  LsView *v;
  uint64_t g;                         /* Global state, or 0. */
  uint32_t nsnap, nins, nk, nsnapmap; /* As VMs have had them since 2019. */
  uint64_t ir, snap, snapmap;
  uint64_t startpt, startpc, mcode;
  uint32_t szmcode, mcloop, traceno, link, root;
  uint8_t *k;     /* Copies: constants, from number nk on; */
  LsIns *ins;     /* instructions, from number LS_REF_BIAS on; */
  LsRawSnap *raw; /* snapshots, and */
  uint32_t *map;  /* the map of them. */
} LsIr;

/* Whether an instruction results in a floating-point number, or compares two.
 */
bool ls_ir_isfloat(const LsIns *ins);

/* Constant number REF of a trace: its operation, and its value; -1 if there is
** none.
*/
int ls_ir_constant(const LsIr *t, uint32_t ref, uint64_t *value);

/* The string that is the key of a look-up in a table; 0 if it has none. */
uint64_t ls_ir_key(const LsIr *t, const LsIns *ins);

/* Whether constants with an operation take two numbers. */
bool ls_ir_wide(const LsIr *t, int op);

/* Copy the IR of a trace, whose header is in *T. Returns false, and there is
** none, if it cannot be read, or without memory. The caller frees it by
** ls_ir_free.
*/
bool ls_ir_read(LsIr *t);

/* Free all copies. */
void ls_ir_free(LsIr *t);

#endif

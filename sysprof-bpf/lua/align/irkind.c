/*
** The kinds of IR instructions, by what emits them.
*/

#include "iremit.h"

#define ARITH                                                                  \
  (LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_MUL | LS_EMIT_DIV |       \
   LS_EMIT_NEG)

/* Addition and so on: of integers, or KIND. */
static uint32_t kind_numeric(const LsIns *ins, uint32_t kind)
{
  return ls_ir_isfloat(ins) ? kind : LS_EMIT_INT;
}

static unsigned kind_group(uint32_t kind)
{
  if (kind & ARITH)
    return LS_ONE_ARITH;
  switch (kind) {
  case LS_EMIT_ORDER:
    return LS_ONE_ORDER;
  case LS_EMIT_HASH:
    return LS_ONE_HASH;
  case LS_EMIT_LOAD:
  case LS_EMIT_UPLOAD:
    return LS_ONE_LOAD;
  case LS_EMIT_STORE:
  case LS_EMIT_UPSTORE:
    return LS_ONE_STORE;
  default:
    return LS_ONES;
  }
}

static uint32_t kind_of(const LsIns *ins)
{
  switch (ins->op) {
  case LS_IR_LT:
  case LS_IR_GE:
  case LS_IR_LE:
  case LS_IR_GT:
    return LS_EMIT_ORDER;
  case LS_IR_ULT:
  case LS_IR_UGE:
  case LS_IR_ULE:
  case LS_IR_UGT:
    return kind_numeric(ins, LS_EMIT_ORDER) == LS_EMIT_ORDER ? LS_EMIT_ORDER
                                                             : LS_EMIT_UORDER;
  case LS_IR_ABC:
  case LS_IR_AREF:
    return LS_EMIT_INDEX;
  case LS_IR_RETF:
    return LS_EMIT_RETURN;
  case LS_IR_NOP:
  case LS_IR_BASE:
  case LS_IR_PVAL:
  case LS_IR_LOOP:
  case LS_IR_USE:
  case LS_IR_PHI:
  case LS_IR_RENAME:
    return 0; /* Nothing emits them. */
  case LS_IR_BNOT:
  case LS_IR_BSWAP:
  case LS_IR_BAND:
  case LS_IR_BOR:
  case LS_IR_BXOR:
  case LS_IR_BSHL:
  case LS_IR_BSHR:
  case LS_IR_BSAR:
  case LS_IR_BROL:
  case LS_IR_BROR:
  case LS_IR_TOBIT:
    return LS_EMIT_BITS;
  case LS_IR_ADD:
    return kind_numeric(ins, LS_EMIT_ADD);
  case LS_IR_SUB:
    return kind_numeric(ins, LS_EMIT_SUB);
  case LS_IR_ADDOV:
  case LS_IR_SUBOV:
    return LS_EMIT_INT;
  case LS_IR_MUL:
  case LS_IR_MULOV:
    return LS_EMIT_MUL;
  case LS_IR_DIV:
    return LS_EMIT_DIV;
  case LS_IR_MOD:
    return LS_EMIT_MOD;
  case LS_IR_POW:
    return LS_EMIT_POW;
  case LS_IR_NEG:
    return LS_EMIT_NEG;
  case LS_IR_FPMATH:
    return LS_EMIT_MATH;
  case LS_IR_HREFK:
  case LS_IR_HREF:
    return LS_EMIT_HASH;
  case LS_IR_ALOAD:
  case LS_IR_HLOAD:
    return LS_EMIT_LOAD;
  case LS_IR_ASTORE:
  case LS_IR_HSTORE:
    return LS_EMIT_STORE;
  case LS_IR_NEWREF:
  case LS_IR_FSTORE:
  case LS_IR_TBAR:
    return LS_EMIT_BARRIER;
  case LS_IR_FREF:
    return LS_EMIT_FIELD;
  case LS_IR_FLOAD: /* Of the VM's own state: a constant. */
    return ins->op1 == LS_REF_NIL ? LS_EMIT_ANY : LS_EMIT_FIELD;
  case LS_IR_UREFO:
  case LS_IR_UREFC:
    return LS_EMIT_UPVALUE;
  case LS_IR_ULOAD:
    return LS_EMIT_UPLOAD;
  case LS_IR_USTORE:
  case LS_IR_OBAR:
    return LS_EMIT_UPSTORE;
  case LS_IR_STRREF:
  case LS_IR_XLOAD:
    return LS_EMIT_MEMORY;
  case LS_IR_SLOAD:
    return LS_EMIT_SLOT;
  case LS_IR_ALEN:
    return LS_EMIT_LEN;
  case LS_IR_SNEW:
  case LS_IR_BUFHDR:
  case LS_IR_BUFPUT:
  case LS_IR_BUFSTR:
  case LS_IR_TOSTR:
    return LS_EMIT_STRING;
  case LS_IR_TNEW:
    return LS_EMIT_TNEW;
  case LS_IR_TDUP:
    return LS_EMIT_TDUP;
  case LS_IR_STRTO:
    return LS_EMIT_STRTO;
  case LS_IR_CALLN:
  case LS_IR_CALLA:
  case LS_IR_CALLL:
  case LS_IR_CALLS:
  case LS_IR_CARG:
    return LS_EMIT_CALL;
  case LS_IR_CONV:
    return (ins->type & LS_IRT_TYPE) > LS_IRT_NUM ? LS_EMIT_INDEX : LS_EMIT_ANY;
  case LS_IR_EQ:
  case LS_IR_NE:
  case LS_IR_HIOP:
  case LS_IR_PROF:
  case LS_IR_GCSTEP:
  case LS_IR_TMPREF:
    return LS_EMIT_ANY;
  default:
    return LS_EMIT_OTHER;
  }
}

uint32_t ls_emit_kind(const LsIns *ins, unsigned *one)
{
  uint32_t kind = kind_of(ins);
  *one = kind_group(kind);
  if (ins->op == LS_IR_OBAR || ins->op == LS_IR_ADDOV)
    *one = LS_ONES; /* Of what also has a store, or another addition. */
  return kind;
}

bool ls_emit_computes(const LsIns *ins)
{
  switch (ins->op) {
  case LS_IR_FPMATH:
    return ins->op2 != 0 && ins->op2 != 1 && ins->op2 != 3;
  case LS_IR_MOD:
  case LS_IR_POW:
  case LS_IR_ATAN2:
  case LS_IR_LDEXP:
  case LS_IR_CALLN:
  case LS_IR_CALLA:
  case LS_IR_CALLL:
  case LS_IR_CALLS:
  case LS_IR_CALLXS:
    return true;
  default:
    return ins->op >= LS_IR_CARG + 1;
  }
}

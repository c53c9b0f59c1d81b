/*
** What machine code the compiler makes of an IR instruction, and what a machine
** instruction is.
*/

#include "irshape.h"

#define NONE   0x80 /* Of LsIns.reg: no register; the rest is a hint. */
#define SINK   0xfe /* The instruction was moved to where the trace is left. */
#define XMM    16
#define CHECKS (LS_SHAPE_PLAIN | LS_SHAPE_EXIT)

/* -- IR -------------------------------------------------------------------- */

/* Whether an instruction has effects, so that it has code even if nothing uses
** its result. Some that may leave the trace have none if nothing does.
*/
static bool shape_acts(const LsIns *ins)
{
  switch (ins->op) {
  case LS_IR_ADDOV:
  case LS_IR_SUBOV:
  case LS_IR_MULOV:
  case LS_IR_UREFO:
  case LS_IR_UREFC:
  case LS_IR_CALLN:
  case LS_IR_CALLA:
  case LS_IR_CALLL:
    return false;
  case LS_IR_RETF:
  case LS_IR_GCSTEP:
  case LS_IR_HIOP:
  case LS_IR_LOOP:
  case LS_IR_PHI:
  case LS_IR_PROF:
  case LS_IR_NEWREF:
  case LS_IR_TMPREF:
  case LS_IR_ASTORE:
  case LS_IR_HSTORE:
  case LS_IR_USTORE:
  case LS_IR_FSTORE:
  case LS_IR_XSTORE:
  case LS_IR_TBAR:
  case LS_IR_OBAR:
  case LS_IR_CALLS:
  case LS_IR_CALLXS:
    return true;
  default:
    return ins->type & LS_IRT_GUARD;
  }
}

/* Arithmetic: its class, for floating-point numbers. */
static LsShape shape_arith(const LsIns *ins, uint16_t class)
{
  LsShape s = {.may = LS_SHAPE_PLAIN};
  if (ls_ir_isfloat(ins)) {
    s.may |= class;
    s.must = s.once = class;
  } else if (ins->op == LS_IR_DIV) {
    s = LS_SHAPE_ANY;
  }
  return s;
}

static LsShape shape_compare(const LsIns *ins, const LsIns *prev)
{
  LsShape s = {.may = CHECKS, .exits = 1};
  if (ls_ir_isfloat(ins)) {
    s.may |= LS_SHAPE_COMPARE;
    s.must = s.once = LS_SHAPE_COMPARE;
  }
  if ((ins->op == LS_IR_EQ || ins->op == LS_IR_NE) && prev &&
      prev->op == LS_IR_HREF)
    s.exits = 0; /* The look-up itself leaves the trace. */
  return s;
}

/* A call, with its arguments. */
static const LsShape shape_call = {.may = CHECKS | LS_SHAPE_STORE |
                                          LS_SHAPE_CALL | LS_SHAPE_CONVERT,
                                   .must = LS_SHAPE_CALL,
                                   .once = LS_SHAPE_CALL};

/* By what an instruction does. Its exits and its register are added. */
static LsShape shape_make(const LsIns *ins, const LsIns *prev)
{
  switch (ins->op) {
  case LS_IR_LT:
  case LS_IR_GE:
  case LS_IR_LE:
  case LS_IR_GT:
  case LS_IR_ULT:
  case LS_IR_UGE:
  case LS_IR_ULE:
  case LS_IR_UGT:
  case LS_IR_EQ:
  case LS_IR_NE:
  case LS_IR_ABC:
    return shape_compare(ins, prev);
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
  case LS_IR_NEG:
  case LS_IR_ABS:
  case LS_IR_MIN:
  case LS_IR_MAX:
    return (LsShape){.may = LS_SHAPE_PLAIN};
  case LS_IR_ADD:
    return shape_arith(ins, LS_SHAPE_ADD);
  case LS_IR_SUB:
    return shape_arith(ins, LS_SHAPE_SUB);
  case LS_IR_MUL:
    return shape_arith(ins, LS_SHAPE_MUL);
  case LS_IR_DIV:
    return shape_arith(ins, LS_SHAPE_DIV);
  case LS_IR_ADDOV:
  case LS_IR_SUBOV:
  case LS_IR_MULOV:
    return (LsShape){.may = CHECKS, .exits = 1};
  case LS_IR_FPMATH:
    return (LsShape){.may = LS_SHAPE_PLAIN | LS_SHAPE_SQRT | LS_SHAPE_ROUND |
                            LS_SHAPE_CALL,
                     .must = LS_SHAPE_SQRT | LS_SHAPE_ROUND | LS_SHAPE_CALL,
                     .once = LS_SHAPE_SQRT | LS_SHAPE_ROUND | LS_SHAPE_CALL};
  case LS_IR_AREF:
  case LS_IR_FREF:
  case LS_IR_STRREF:
  case LS_IR_FLOAD:
    return (LsShape){.may = LS_SHAPE_PLAIN};
  case LS_IR_HREFK:
  case LS_IR_ALOAD:
  case LS_IR_HLOAD:
  case LS_IR_ULOAD:
  case LS_IR_VLOAD:
    return (LsShape){.may = CHECKS, .exits = 1};
  case LS_IR_UREFO:
  case LS_IR_UREFC:
    return (LsShape){.may = CHECKS};
  case LS_IR_XLOAD:
    return (LsShape){.may = CHECKS | LS_SHAPE_CONVERT};
  case LS_IR_SLOAD:
    return (LsShape){.may = CHECKS | LS_SHAPE_COMPARE | LS_SHAPE_CONVERT,
                     .exits = !(ins->op2 & 1)};
  case LS_IR_CONV:
  case LS_IR_TOBIT:
    return (LsShape){.may = CHECKS | LS_SHAPE_COMPARE | LS_SHAPE_CONVERT |
                            LS_SHAPE_ADD | LS_SHAPE_SUB,
                     .exits = 1};
  case LS_IR_ASTORE:
  case LS_IR_HSTORE:
  case LS_IR_USTORE:
  case LS_IR_FSTORE:
  case LS_IR_XSTORE:
    return (LsShape){.may = LS_SHAPE_PLAIN | LS_SHAPE_STORE,
                     .must = LS_SHAPE_STORE};
  case LS_IR_TBAR:
    return (LsShape){.may = LS_SHAPE_PLAIN | LS_SHAPE_STORE};
  case LS_IR_POW:
    if (!ls_ir_isfloat(ins))
      return LS_SHAPE_ANY;
    return shape_call;
  case LS_IR_CALLN:
  case LS_IR_CALLA:
  case LS_IR_CALLL:
  case LS_IR_CALLS:
  case LS_IR_CALLXS:
    return shape_call;
  default:
    return LS_SHAPE_ANY;
  }
}

/* Whether the result is in its register all the time, or in none. */
static bool shape_nosets(const LsIns *ins)
{
  switch (ins->op) {
  case LS_IR_CONV:
  case LS_IR_BASE:
  case LS_IR_PVAL:
  case LS_IR_TMPREF:
  case LS_IR_BUFHDR:
  case LS_IR_HIOP:
  case LS_IR_PHI:
  case LS_IR_RENAME:
  case LS_IR_LOOP:
    return true;
  case LS_IR_SLOAD:
    return ins->op2 & 1; /* It was in the register before. */
  default:
    return false;
  }
}

bool ls_shape_get(const LsIns *ins, const LsIns *prev, LsShape *s)
{
  bool used = !(ins->reg & NONE) || ins->spill != 0;
  if (ins->op == LS_IR_NOP || ins->op == LS_IR_CARG || ins->op == LS_IR_XBAR ||
      ins->reg == SINK)
    return false;
  if (ins->op >= LS_IR_KPRI && ins->op <= LS_IR_KSLOT)
    return false;
  if (!used && !shape_acts(ins) && ins->op < LS_IR_CONV &&
      (ins->op < LS_IR_SNEW || ins->op > LS_IR_BUFSTR))
    return false;
  *s = shape_make(ins, prev);
  if (s->most == 0 && ins->type & LS_IRT_GUARD)
    s->most = 3;
  else if (s->most == 0)
    s->exits = 0;
  s->reg = LS_NREG;
  if (!(ins->reg & NONE) && !shape_nosets(ins))
    s->reg = ins->reg;
  return true;
}

/* -- Machine code ---------------------------------------------------------- */

static bool shape_iscall(const LsX86 *x)
{
  return x->map == 0 && (x->op == 0xe8 || (x->op == 0xff && (x->reg & 7) == 2));
}

/* Floating-point arithmetic. */
static uint16_t shape_float(const LsX86 *x)
{
  if (x->map == 3)
    return x->op == 0x0a || x->op == 0x0b ? LS_SHAPE_ROUND : LS_SHAPE_PLAIN;
  if (x->map != 1)
    return LS_SHAPE_PLAIN;
  if (x->op == 0x2e || x->op == 0x2f)
    return LS_SHAPE_COMPARE;
  if (x->simd != 0xf2 && x->simd != 0xf3)
    return LS_SHAPE_PLAIN;
  switch (x->op) {
  case 0x2a:
  case 0x2c:
  case 0x2d:
  case 0x5a:
    return LS_SHAPE_CONVERT;
  case 0x51:
    return LS_SHAPE_SQRT;
  case 0x58:
    return LS_SHAPE_ADD;
  case 0x59:
    return LS_SHAPE_MUL;
  case 0x5c:
    return LS_SHAPE_SUB;
  case 0x5e:
    return LS_SHAPE_DIV;
  default:
    return LS_SHAPE_PLAIN;
  }
}

/* Whether an instruction writes to memory that is not the C stack. */
static bool shape_isstore(const LsX86 *x)
{
  if (!x->mem || x->base == LS_RSP)
    return false;
  if (x->map == 0)
    return x->op == 0x88 || x->op == 0x89 || x->op == 0xc6 || x->op == 0xc7;
  return x->map == 1 && (x->op == 0x11 || x->op == 0x29 || x->op == 0xd6 ||
                         (x->op == 0x7e && x->simd != 0xf3));
}

uint16_t ls_shape_class(const LsIr *t, const LsCodeIns *c)
{
  const LsX86 *x = &c->x;
  int64_t to = (int64_t)c->ofs + x->len + x->disp;
  if (ls_x86_isjcc(x)) {
    bool out = to < 0 || to >= t->szmcode;
    return out || (t->mcloop && to == t->mcloop && c->ofs >= to)
               ? LS_SHAPE_EXIT
               : LS_SHAPE_PLAIN;
  }
  if (shape_iscall(x))
    return LS_SHAPE_CALL;
  return shape_isstore(x) ? LS_SHAPE_STORE : shape_float(x);
}

/* Likewise, if it is of one byte's opcode. */
static bool shape_sets0(const LsX86 *x, uint8_t reg)
{
  uint8_t op = x->op, more = x->reg & 7;
  if (op < 0x40 && (op & 7) < 6) {
    if (op >= 0x38) /* cmp */
      return false;
    return (op & 7) < 2 ? x->rm == reg : (op & 7) < 4 && x->reg == reg;
  }
  if (op == 0x88 || op == 0x89)
    return x->rm == reg;
  if (op == 0x8b || op == 0x8d || op == 0x63 || op == 0x69 || op == 0x6b ||
      op == 0x8a || (op >= 0xb0 && op <= 0xbf))
    return x->reg == reg;
  if (op == 0x84 || op == 0x85)
    return false;
  if (op == 0x81 || op == 0x83)
    return more != 7 && x->rm == reg;
  if ((op == 0xf7 || op == 0xf6) && more < 2)
    return false;
  return x->rm == LS_NREG ? !x->mem
                          : x->rm == reg || reg == LS_RAX || reg == LS_RDX;
}

bool ls_shape_sets(const LsCodeIns *c, uint8_t reg)
{
  const LsX86 *x = &c->x;
  uint8_t own = reg & (XMM - 1);
  if (shape_iscall(x))
    return own == 0 || reg == LS_RDX;
  if (x->map == 0 && reg < XMM)
    return shape_sets0(x, reg);
  if (x->map == 0)
    return false;
  if (x->op == 0x2e || x->op == 0x2f || ls_x86_isjcc(x))
    return false;
  return x->reg == own || x->rm == own;
}

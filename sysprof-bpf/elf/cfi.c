/*
** The programs of call frame information, interpreted.
**
** Only what a row can tell is followed: the CFA, rbx, rbp, and that the return
** address is where a call leaves it. What is not understood makes the state
** unknown from there on: a wrong caller is worse than none.
*/

#include "cfi.h"
#include "expression.h"

/* DW_CFA_*. The first three have an operand in their lower bits. */
enum {
  CFA_ADVANCE_LOC = 0x40,
  CFA_OFFSET = 0x80,
  CFA_RESTORE = 0xc0,
  CFA_NOP = 0x00,
  CFA_ADVANCE_LOC1 = 0x02,
  CFA_ADVANCE_LOC2,
  CFA_ADVANCE_LOC4,
  CFA_OFFSET_EXTENDED,
  CFA_RESTORE_EXTENDED,
  CFA_UNDEFINED,
  CFA_SAME_VALUE,
  CFA_REGISTER,
  CFA_REMEMBER_STATE,
  CFA_RESTORE_STATE,
  CFA_DEF_CFA,
  CFA_DEF_CFA_REGISTER,
  CFA_DEF_CFA_OFFSET,
  CFA_DEF_CFA_EXPRESSION,
  CFA_EXPRESSION,
  CFA_OFFSET_EXTENDED_SF,
  CFA_DEF_CFA_SF,
  CFA_DEF_CFA_OFFSET_SF,
  CFA_VAL_OFFSET,
  CFA_VAL_OFFSET_SF,
  CFA_VAL_EXPRESSION,
  CFA_GNU_ARGS_SIZE = 0x2e,
  CFA_GNU_NEGATIVE_OFFSET = 0x2f
};

/* DWARF's numbers of registers. */
enum { DW_BX = 3, DW_BP = 6, DW_SP = 7, DW_RA = 16 };

/* -- The CFA -------------------------------------------------------------- */

/* Nothing is known of the CFA. */
static void cfa_unknown(LsCfi *s)
{
  s->isexp = 1;
  s->how = LJS_CFA_UNKNOWN;
}

/* The CFA is REG + OFFSET. */
static void cfa_set(LsCfi *s, uint64_t reg, int64_t offset)
{
  s->isexp = 0;
  s->reg = reg;
  s->offset = offset;
}

/* The CFA is told by an expression. */
static void cfa_expression(LsCfi *s, LsBytes b)
{
  s->isexp = 1;
  s->how = ls_expression_cfa(b, &s->exp);
}

/* -- Other registers ------------------------------------------------------ */

/* The rule of a register, or NULL if we do not follow it. */
static LsRule *reg_rule(LsCfi *s, uint64_t reg)
{
  switch (reg) {
  case DW_BX:
    return &s->rule[LS_CFI_BX];
  case DW_BP:
    return &s->rule[LS_CFI_BP];
  case DW_SP:
    return &s->rule[LS_CFI_SP];
  case DW_RA:
    return &s->rule[LS_CFI_RA];
  default:
    return NULL;
  }
}

/* Set the rule of a register. */
static void reg_set(LsCfi *s, uint64_t reg, LsWhere where, int64_t offset)
{
  LsRule *rule = reg_rule(s, reg);
  if (rule) {
    rule->where = where;
    rule->offset = where == LS_AT_CFA || where == LS_AT_BP ? offset : 0;
  }
}

/* A register is saved at CFA + OFFSET * the CIE's factor. */
static void reg_saved(LsCfiRun *r, uint64_t reg, int64_t offset)
{
  LsWhere where = LS_AT_CFA;
  if (__builtin_mul_overflow(offset, r->cie->dataalign, &offset))
    where = LS_AT_ODD;
  reg_set(&r->now, reg, where, offset);
}

/* A register is saved where an expression says. */
static void reg_expression(LsCfi *s, uint64_t reg, LsBytes b)
{
  int64_t offset;
  int known = ls_expression_reg(b, &offset) == 0;
  reg_set(s, reg, known ? LS_AT_BP : LS_AT_ODD, offset);
}

/* A register is where it was when the function began. */
static void reg_restore(LsCfiRun *r, uint64_t reg)
{
  LsCfi start = r->cie->start;
  LsRule *from = reg_rule(&start, reg), *to = reg_rule(&r->now, reg);
  if (to)
    *to = *from;
}

/* -- Programs ------------------------------------------------------------- */

/* A ULEB128 that has to be positive as a signed integer, too. */
static int64_t run_unsigned(LsCfiRun *r)
{
  uint64_t v = ls_bytes_uleb(&r->code);
  if (v > INT64_MAX)
    ls_bytes_spoil(&r->code);
  return v > INT64_MAX ? 0 : (int64_t)v;
}

/* An SLEB128 that the CIE's factor goes with. */
static int64_t run_factored(LsCfiRun *r)
{
  int64_t v = ls_bytes_sleb(&r->code);
  if (__builtin_mul_overflow(v, r->cie->dataalign, &v))
    ls_bytes_spoil(&r->code);
  return v;
}

/* A block of bytes with its length. */
static LsBytes run_block(LsCfiRun *r)
{
  uint64_t n = ls_bytes_uleb(&r->code);
  const uint8_t *p = ls_bytes_take(&r->code, n);
  return ls_bytes(p ? p : r->code.end, p ? n : 0);
}

/* Instructions that tell the CFA. Returns 0 if OP is none of them. */
static int run_cfa(LsCfiRun *r, unsigned op)
{
  LsCfi *s = &r->now;
  uint64_t reg;
  switch (op) {
  case CFA_DEF_CFA:
    reg = ls_bytes_uleb(&r->code);
    cfa_set(s, reg, run_unsigned(r));
    return 1;
  case CFA_DEF_CFA_SF:
    reg = ls_bytes_uleb(&r->code);
    cfa_set(s, reg, run_factored(r));
    return 1;
  case CFA_DEF_CFA_REGISTER:
    cfa_set(s, ls_bytes_uleb(&r->code), s->offset);
    return 1;
  case CFA_DEF_CFA_OFFSET:
    s->offset = run_unsigned(r);
    return 1;
  case CFA_DEF_CFA_OFFSET_SF:
    s->offset = run_factored(r);
    return 1;
  case CFA_DEF_CFA_EXPRESSION:
    cfa_expression(s, run_block(r));
    return 1;
  default:
    return 0;
  }
}

/* Instructions that tell a register: all that remain begin with its number.
** Returns 0 if OP is none of them.
*/
static int run_reg(LsCfiRun *r, unsigned op)
{
  LsCfi *s = &r->now;
  uint64_t reg;
  if (op < CFA_OFFSET_EXTENDED ||
      (op > CFA_VAL_EXPRESSION && op != CFA_GNU_NEGATIVE_OFFSET))
    return 0;
  reg = ls_bytes_uleb(&r->code);
  switch (op) {
  case CFA_OFFSET_EXTENDED:
    reg_saved(r, reg, run_unsigned(r));
    return 1;
  case CFA_OFFSET_EXTENDED_SF:
    reg_saved(r, reg, ls_bytes_sleb(&r->code));
    return 1;
  case CFA_GNU_NEGATIVE_OFFSET:
    reg_saved(r, reg, -run_unsigned(r));
    return 1;
  case CFA_RESTORE_EXTENDED:
    reg_restore(r, reg);
    return 1;
  case CFA_UNDEFINED:
    reg_set(s, reg, LS_AT_NONE, 0);
    return 1;
  case CFA_SAME_VALUE:
    reg_set(s, reg, reg == DW_RA ? LS_AT_ODD : LS_AT_SAME, 0);
    return 1;
  case CFA_REGISTER:
  case CFA_VAL_OFFSET:
  case CFA_VAL_OFFSET_SF: /* Any LEB128 is skipped alike. */
    (void)ls_bytes_sleb(&r->code);
    reg_set(s, reg, LS_AT_ODD, 0);
    return 1;
  case CFA_EXPRESSION:
    reg_expression(s, reg, run_block(r));
    return 1;
  case CFA_VAL_EXPRESSION:
    (void)run_block(r);
    reg_set(s, reg, LS_AT_ODD, 0);
    return 1;
  default:
    return 0;
  }
}

/* Any other instruction. Returns 0 if it is not known. */
static int run_other(LsCfiRun *r, unsigned op)
{
  switch (op) {
  case CFA_NOP:
    return 1;
  case CFA_GNU_ARGS_SIZE:
    (void)ls_bytes_uleb(&r->code);
    return 1;
  case CFA_REMEMBER_STATE:
    if (r->depth == LS_CFI_DEPTH)
      return 0;
    r->saved[r->depth++] = r->now;
    return 1;
  case CFA_RESTORE_STATE:
    if (r->depth == 0)
      return 0;
    r->now = r->saved[--r->depth];
    return 1;
  default:
    return 0;
  }
}

/* If OP goes on in the code, how far, in units of the CIE's factor. */
static int run_advance(LsCfiRun *r, unsigned op, uint64_t *units)
{
  if ((op & 0xc0) == CFA_ADVANCE_LOC)
    *units = op & 0x3f;
  else if (op == CFA_ADVANCE_LOC1)
    *units = ls_bytes_u(&r->code, 1);
  else if (op == CFA_ADVANCE_LOC2)
    *units = ls_bytes_u(&r->code, 2);
  else if (op == CFA_ADVANCE_LOC4)
    *units = ls_bytes_u(&r->code, 4);
  else
    return 0;
  return 1;
}

/* Nothing is known from here on. */
static int run_odd(LsCfiRun *r)
{
  ls_bytes_spoil(&r->code);
  cfa_unknown(&r->now);
  reg_set(&r->now, DW_RA, LS_AT_ODD, 0);
  return 0;
}

int ls_cfi_run(LsCfiRun *r, uint64_t *step)
{
  while (ls_bytes_left(&r->code)) {
    unsigned op = (unsigned)ls_bytes_u(&r->code, 1);
    uint64_t units;
    if (run_advance(r, op, &units)) {
      if (r->code.bad || __builtin_mul_overflow(units, r->cie->codealign, step))
        return run_odd(r);
      if (*step)
        return 1;
    } else if ((op & 0xc0) == CFA_OFFSET) {
      reg_saved(r, op & 0x3f, run_unsigned(r));
    } else if ((op & 0xc0) == CFA_RESTORE) {
      reg_restore(r, op & 0x3f);
    } else if (!run_cfa(r, op) && !run_other(r, op) && !run_reg(r, op)) {
      return run_odd(r);
    }
    if (r->code.bad)
      return run_odd(r);
  }
  return 0;
}

void ls_cfi_begin(LsCfiRun *r, const LsCie *cie, LsBytes code)
{
  r->cie = cie;
  r->code = code;
  r->now = cie->start;
  r->depth = 0;
  if (cie->odd)
    run_odd(r);
}

void ls_cfi_cie(LsCie *cie, LsBytes code)
{
  LsCfiRun r;
  uint64_t step;
  memset(&cie->start, 0, sizeof(cie->start));
  cfa_unknown(&cie->start);
  reg_set(&cie->start, DW_RA, LS_AT_ODD, 0);
  ls_cfi_begin(&r, cie, code);
  if (ls_cfi_run(&r, &step) || r.code.bad)
    cie->odd = 1; /* No code goes with it, so it cannot go on in that. */
  cie->start = r.now;
}

/* -- Rows ----------------------------------------------------------------- */

/* The rule of rbx or rbp, as a row tells it. */
static uint8_t row_reg(LsRule rule, __s16 *offset)
{
  if (rule.where == LS_AT_SAME)
    return LJS_REG_SAME;
  if ((rule.where != LS_AT_CFA && rule.where != LS_AT_BP) ||
      rule.offset < INT16_MIN || rule.offset > INT16_MAX)
    return LJS_REG_LOST;
  *offset = (__s16)rule.offset;
  return rule.where == LS_AT_CFA ? LJS_REG_CFA : LJS_REG_BP;
}

/* The CFA, as a row tells it. */
static void row_cfa(const LsCfi *s, struct ljs_row *row)
{
  int64_t offset = s->isexp ? s->exp : s->offset;
  if (offset < INT32_MIN || offset > INT32_MAX)
    return;
  if (s->isexp)
    row->how = (__u8)s->how;
  else if (s->reg == DW_SP)
    row->how = LJS_CFA_SP;
  else if (s->reg == DW_BP)
    row->how = LJS_CFA_BP;
  else if (s->reg == DW_BX)
    row->how = LJS_CFA_BX;
  row->cfa = (__s32)offset;
}

void ls_cfi_row(const LsCfiRun *r, struct ljs_row *row)
{
  const LsCfi *s = &r->now;
  const LsRule *ra = &s->rule[LS_CFI_RA];
  memset(row, 0, sizeof(*row));
  if (r->cie->signal) {
    row->how = LJS_CFA_SIGNAL;
    return;
  }
  if (ra->where == LS_AT_NONE) {
    row->how = LJS_CFA_END;
    return;
  }
  if (ra->where == LS_AT_CFA && ra->offset == -8 &&
      s->rule[LS_CFI_SP].where == LS_AT_SAME)
    row_cfa(s, row);
  if (row->how == LJS_CFA_UNKNOWN) {
    row->cfa = 0;
    return;
  }
  row->bphow = row_reg(s->rule[LS_CFI_BP], &row->bp);
  row->bxhow = row_reg(s->rule[LS_CFI_BX], &row->bx);
}

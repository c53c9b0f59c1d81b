/*
** Interpreter of call frame instructions.
**
** Only what a row can hold is followed: the CFA, rbx, rbp, and that the return
** address is where a call leaves it. What is not understood makes the rules
** unknown from there on: a wrong caller is worse than none.
*/

#include "cfi.h"
#include "expression.h"

/* As in <dwarf.h>, which elfutils has and libelf alone has not. The first three
** have an operand in their lower bits.
*/
enum {
  DW_CFA_advance_loc = 0x40,
  DW_CFA_offset = 0x80,
  DW_CFA_restore = 0xc0,
  DW_CFA_nop = 0x00,
  DW_CFA_advance_loc1 = 0x02,
  DW_CFA_advance_loc2,
  DW_CFA_advance_loc4,
  DW_CFA_offset_extended,
  DW_CFA_restore_extended,
  DW_CFA_undefined,
  DW_CFA_same_value,
  DW_CFA_register,
  DW_CFA_remember_state,
  DW_CFA_restore_state,
  DW_CFA_def_cfa,
  DW_CFA_def_cfa_register,
  DW_CFA_def_cfa_offset,
  DW_CFA_def_cfa_expression,
  DW_CFA_expression,
  DW_CFA_offset_extended_sf,
  DW_CFA_def_cfa_sf,
  DW_CFA_def_cfa_offset_sf,
  DW_CFA_val_offset,
  DW_CFA_val_offset_sf,
  DW_CFA_val_expression,
  DW_CFA_GNU_args_size = 0x2e,
  DW_CFA_GNU_negative_offset = 0x2f
};

/* DWARF numbers of registers. */
enum { DWARF_BX = 3, DWARF_BP = 6, DWARF_SP = 7, DWARF_RA = 16 };

/* -- The CFA -------------------------------------------------------------- */

/* The CFA is unknown. */
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

/* An expression gives the CFA. */
static void cfa_expression(LsCfi *s, LsCursor b)
{
  s->isexp = 1;
  s->how = ls_expression_cfa(b, &s->exp);
}

/* -- Other registers ------------------------------------------------------ */

/* The rule of a register, or NULL if we do not follow it. */
static LsRegRule *reg_rule(LsCfi *s, uint64_t reg)
{
  switch (reg) {
  case DWARF_BX:
    return &s->rule[LS_CFI_BX];
  case DWARF_BP:
    return &s->rule[LS_CFI_BP];
  case DWARF_SP:
    return &s->rule[LS_CFI_SP];
  case DWARF_RA:
    return &s->rule[LS_CFI_RA];
  default:
    return NULL;
  }
}

/* Set the rule of a register. */
static void reg_set(LsCfi *s, uint64_t reg, LsRuleKind kind, int64_t offset)
{
  LsRegRule *rule = reg_rule(s, reg);
  if (rule) {
    rule->kind = kind;
    rule->offset =
        kind == LS_RULE_OFFSET || kind == LS_RULE_BP_OFFSET ? offset : 0;
  }
}

/* A register is saved at CFA + OFFSET * the CIE's factor. */
static void reg_saved(LsCfiRun *r, uint64_t reg, int64_t offset)
{
  LsRuleKind kind = LS_RULE_OFFSET;
  if (__builtin_mul_overflow(offset, r->cie->dataalign, &offset))
    kind = LS_RULE_UNSUPPORTED;
  reg_set(&r->now, reg, kind, offset);
}

/* A register is saved where an expression says. */
static void reg_expression(LsCfi *s, uint64_t reg, LsCursor b)
{
  int64_t offset;
  int known = ls_expression_reg(b, &offset) == 0;
  reg_set(s, reg, known ? LS_RULE_BP_OFFSET : LS_RULE_UNSUPPORTED, offset);
}

/* A register is where it was when the function began. */
static void reg_restore(LsCfiRun *r, uint64_t reg)
{
  LsCfi start = r->cie->start;
  LsRegRule *from = reg_rule(&start, reg), *to = reg_rule(&r->now, reg);
  if (to)
    *to = *from;
}

/* -- Programs ------------------------------------------------------------- */

/* Reads a ULEB128. Above INT64_MAX the program is bad: rules keep it signed. */
static int64_t run_unsigned(LsCfiRun *r)
{
  uint64_t v = ls_cursor_uleb(&r->code);
  if (v > INT64_MAX)
    ls_cursor_spoil(&r->code);
  return v > INT64_MAX ? 0 : (int64_t)v;
}

/* An SLEB128 that the CIE's factor goes with. */
static int64_t run_factored(LsCfiRun *r)
{
  int64_t v = ls_cursor_sleb(&r->code);
  if (__builtin_mul_overflow(v, r->cie->dataalign, &v))
    ls_cursor_spoil(&r->code);
  return v;
}

/* A block of bytes with its length. */
static LsCursor run_block(LsCfiRun *r)
{
  uint64_t n = ls_cursor_uleb(&r->code);
  const uint8_t *p = ls_cursor_take(&r->code, n);
  return ls_cursor(p ? p : r->code.end, p ? n : 0);
}

/* Instructions that set the CFA. Returns 0 if OP is none of them. */
static int run_cfa(LsCfiRun *r, unsigned op)
{
  LsCfi *s = &r->now;
  uint64_t reg;
  switch (op) {
  case DW_CFA_def_cfa:
    reg = ls_cursor_uleb(&r->code);
    cfa_set(s, reg, run_unsigned(r));
    return 1;
  case DW_CFA_def_cfa_sf:
    reg = ls_cursor_uleb(&r->code);
    cfa_set(s, reg, run_factored(r));
    return 1;
  case DW_CFA_def_cfa_register:
    cfa_set(s, ls_cursor_uleb(&r->code), s->offset);
    return 1;
  case DW_CFA_def_cfa_offset:
    s->offset = run_unsigned(r);
    return 1;
  case DW_CFA_def_cfa_offset_sf:
    s->offset = run_factored(r);
    return 1;
  case DW_CFA_def_cfa_expression:
    cfa_expression(s, run_block(r));
    return 1;
  default:
    return 0;
  }
}

/* Instructions that set a register rule: their first operand is its number.
** Returns 0 if OP is none of them.
*/
static int run_reg(LsCfiRun *r, unsigned op)
{
  LsCfi *s = &r->now;
  uint64_t reg;
  if (op < DW_CFA_offset_extended ||
      (op > DW_CFA_val_expression && op != DW_CFA_GNU_negative_offset))
    return 0;
  reg = ls_cursor_uleb(&r->code);
  switch (op) {
  case DW_CFA_offset_extended:
    reg_saved(r, reg, run_unsigned(r));
    return 1;
  case DW_CFA_offset_extended_sf:
    reg_saved(r, reg, ls_cursor_sleb(&r->code));
    return 1;
  case DW_CFA_GNU_negative_offset:
    reg_saved(r, reg, -run_unsigned(r));
    return 1;
  case DW_CFA_restore_extended:
    reg_restore(r, reg);
    return 1;
  case DW_CFA_undefined:
    reg_set(s, reg, LS_RULE_UNDEFINED, 0);
    return 1;
  case DW_CFA_same_value:
    reg_set(s, reg, reg == DWARF_RA ? LS_RULE_UNSUPPORTED : LS_RULE_SAME_VALUE,
            0);
    return 1;
  case DW_CFA_register:
  case DW_CFA_val_offset:
  case DW_CFA_val_offset_sf: /* Any LEB128 is skipped alike. */
    (void)ls_cursor_sleb(&r->code);
    reg_set(s, reg, LS_RULE_UNSUPPORTED, 0);
    return 1;
  case DW_CFA_expression:
    reg_expression(s, reg, run_block(r));
    return 1;
  case DW_CFA_val_expression:
    (void)run_block(r);
    reg_set(s, reg, LS_RULE_UNSUPPORTED, 0);
    return 1;
  default:
    return 0;
  }
}

/* Any other instruction. Returns 0 if it is not known. */
static int run_other(LsCfiRun *r, unsigned op)
{
  switch (op) {
  case DW_CFA_nop:
    return 1;
  case DW_CFA_GNU_args_size:
    (void)ls_cursor_uleb(&r->code);
    return 1;
  case DW_CFA_remember_state:
    if (r->depth == LS_CFI_DEPTH)
      return 0;
    r->saved[r->depth++] = r->now;
    return 1;
  case DW_CFA_restore_state:
    if (r->depth == 0)
      return 0;
    r->now = r->saved[--r->depth];
    return 1;
  default:
    return 0;
  }
}

/* Whether OP is an advance, by *UNITS of the CIE's code alignment factor. */
static int run_advance(LsCfiRun *r, unsigned op, uint64_t *units)
{
  if ((op & 0xc0) == DW_CFA_advance_loc)
    *units = op & 0x3f;
  else if (op == DW_CFA_advance_loc1)
    *units = ls_cursor_u(&r->code, 1);
  else if (op == DW_CFA_advance_loc2)
    *units = ls_cursor_u(&r->code, 2);
  else if (op == DW_CFA_advance_loc4)
    *units = ls_cursor_u(&r->code, 4);
  else
    return 0;
  return 1;
}

/* An instruction is not understood: all rules are unknown from here on. */
static int run_unsupported(LsCfiRun *r)
{
  ls_cursor_spoil(&r->code);
  cfa_unknown(&r->now);
  reg_set(&r->now, DWARF_RA, LS_RULE_UNSUPPORTED, 0);
  return 0;
}

int ls_cfi_run(LsCfiRun *r, uint64_t *step)
{
  while (ls_cursor_left(&r->code)) {
    unsigned op = (unsigned)ls_cursor_u(&r->code, 1);
    uint64_t units;
    if (run_advance(r, op, &units)) {
      if (r->code.bad || __builtin_mul_overflow(units, r->cie->codealign, step))
        return run_unsupported(r);
      if (*step)
        return 1;
    } else if ((op & 0xc0) == DW_CFA_offset) {
      reg_saved(r, op & 0x3f, run_unsigned(r));
    } else if ((op & 0xc0) == DW_CFA_restore) {
      reg_restore(r, op & 0x3f);
    } else if (!run_cfa(r, op) && !run_other(r, op) && !run_reg(r, op)) {
      return run_unsupported(r);
    }
    if (r->code.bad)
      return run_unsupported(r);
  }
  return 0;
}

void ls_cfi_begin(LsCfiRun *r, const LsCie *cie, LsCursor code)
{
  r->cie = cie;
  r->code = code;
  r->now = cie->start;
  r->depth = 0;
  if (cie->unsupported)
    run_unsupported(r);
}

void ls_cfi_cie(LsCie *cie, LsCursor code)
{
  LsCfiRun r;
  uint64_t step;
  memset(&cie->start, 0, sizeof(cie->start));
  cfa_unknown(&cie->start);
  reg_set(&cie->start, DWARF_RA, LS_RULE_UNSUPPORTED, 0);
  ls_cfi_begin(&r, cie, code);
  if (ls_cfi_run(&r, &step) || r.code.bad)
    cie->unsupported = 1; /* It has no code to advance in. */
  cie->start = r.now;
}

/* -- Rows ----------------------------------------------------------------- */

/* The rule of rbx or rbp, as a row has it. */
static uint8_t row_reg(LsRegRule rule, __s16 *offset)
{
  if (rule.kind == LS_RULE_SAME_VALUE)
    return LJS_REG_SAME;
  if ((rule.kind != LS_RULE_OFFSET && rule.kind != LS_RULE_BP_OFFSET) ||
      rule.offset < INT16_MIN || rule.offset > INT16_MAX)
    return LJS_REG_LOST;
  *offset = (__s16)rule.offset;
  return rule.kind == LS_RULE_OFFSET ? LJS_REG_CFA : LJS_REG_BP;
}

/* The CFA, as a row has it. */
static void row_cfa(const LsCfi *s, struct ljs_row *row)
{
  int64_t offset = s->isexp ? s->exp : s->offset;
  if (offset < INT32_MIN || offset > INT32_MAX)
    return;
  if (s->isexp)
    row->how = (__u8)s->how;
  else if (s->reg == DWARF_SP)
    row->how = LJS_CFA_SP;
  else if (s->reg == DWARF_BP)
    row->how = LJS_CFA_BP;
  else if (s->reg == DWARF_BX)
    row->how = LJS_CFA_BX;
  row->cfa = (__s32)offset;
}

void ls_cfi_row(const LsCfiRun *r, struct ljs_row *row)
{
  const LsCfi *s = &r->now;
  const LsRegRule *ra = &s->rule[LS_CFI_RA];
  memset(row, 0, sizeof(*row));
  if (r->cie->signal) {
    row->how = LJS_CFA_SIGNAL;
    return;
  }
  if (ra->kind == LS_RULE_UNDEFINED) {
    row->how = LJS_CFA_END;
    return;
  }
  if (ra->kind == LS_RULE_OFFSET && ra->offset == -8 &&
      s->rule[LS_CFI_SP].kind == LS_RULE_SAME_VALUE)
    row_cfa(s, row);
  if (row->how == LJS_CFA_UNKNOWN) {
    row->cfa = 0;
    return;
  }
  row->bphow = row_reg(s->rule[LS_CFI_BP], &row->bp);
  row->bxhow = row_reg(s->rule[LS_CFI_BX], &row->bx);
}

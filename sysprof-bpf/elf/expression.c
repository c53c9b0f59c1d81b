/*
** DWARF expressions of CFAs and of saved registers.
**
** The few known expressions are matched operation by operation. There is no
** evaluator: any other expression makes the rule unknown.
*/

#include "expression.h"
#include "ljs.h"

/* As in <dwarf.h>: the operations of the known expressions. */
enum {
  DW_OP_deref = 0x06,
  DW_OP_and = 0x1a,
  DW_OP_plus = 0x22,
  DW_OP_shl = 0x24,
  DW_OP_ge = 0x2a,
  DW_OP_lit0 = 0x30,
  DW_OP_lit31 = 0x4f,
  DW_OP_breg0 = 0x70
};

/* DWARF numbers of registers. */
enum { DWARF_BP = 6, DWARF_SP = 7, DWARF_RA = 16 };

/* Whether the next operation is one of LO to HI. */
static int op_is(LsCursor *b, unsigned lo, unsigned hi)
{
  uint64_t op = ls_cursor_u(b, 1);
  return !b->bad && op >= lo && op <= hi;
}

/* Whether the next operation pushes register REG plus *OFFSET. */
static int op_breg(LsCursor *b, unsigned reg, int64_t *offset)
{
  int ok = op_is(b, DW_OP_breg0 + reg, DW_OP_breg0 + reg);
  *offset = ls_cursor_sleb(b);
  return ok && !b->bad;
}

/* The CFA that linkers write for the PLT: an entry has 16 bytes, and from byte
** N of it on a word has been pushed. Returns N, or -1 if it is not that.
*/
static int op_plt(LsCursor b)
{
  int64_t sp, pc;
  int n;
  if (!op_breg(&b, DWARF_SP, &sp) || sp != 8 || !op_breg(&b, DWARF_RA, &pc) ||
      pc != 0 || !op_is(&b, DW_OP_lit0 + 15, DW_OP_lit0 + 15) ||
      !op_is(&b, DW_OP_and, DW_OP_and) || !op_is(&b, DW_OP_lit0, DW_OP_lit31))
    return -1;
  n = b.p[-1] - DW_OP_lit0;
  if (!op_is(&b, DW_OP_ge, DW_OP_ge) ||
      !op_is(&b, DW_OP_lit0 + 3, DW_OP_lit0 + 3) ||
      !op_is(&b, DW_OP_shl, DW_OP_shl) || !op_is(&b, DW_OP_plus, DW_OP_plus) ||
      ls_cursor_left(&b))
    return -1;
  return n;
}

int ls_expression_cfa(LsCursor b, int64_t *offset)
{
  int n = op_plt(b);
  if (n >= 0) {
    *offset = n;
    return LJS_CFA_PLT;
  }
  if (op_breg(&b, DWARF_BP, offset) && op_is(&b, DW_OP_deref, DW_OP_deref) &&
      !ls_cursor_left(&b))
    return LJS_CFA_BP_MEM;
  *offset = 0;
  return LJS_CFA_UNKNOWN;
}

int ls_expression_reg(LsCursor b, int64_t *offset)
{
  return op_breg(&b, DWARF_BP, offset) && !ls_cursor_left(&b) ? 0 : -1;
}

/*
** The few expressions by which linkers and compilers tell a CFA.
**
** They are recognised as they are written, byte by byte: nobody else's is
** evaluated, so there is no machine for that.
*/

#include "expression.h"
#include "ljs.h"

/* DW_OP_* of the expressions that we know. */
enum {
  OP_DEREF = 0x06,
  OP_AND = 0x1a,
  OP_PLUS = 0x22,
  OP_SHL = 0x24,
  OP_GE = 0x2a,
  OP_LIT0 = 0x30,
  OP_LIT31 = 0x4f,
  OP_BREG0 = 0x70
};

/* DWARF's numbers of registers. */
enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };

/* The next is an operator, or one of a range of them. */
static int op_is(LsBytes *b, unsigned lo, unsigned hi)
{
  uint64_t op = ls_bytes_u(b, 1);
  return !b->bad && op >= lo && op <= hi;
}

/* Next is a register's value plus an offset. */
static int op_breg(LsBytes *b, unsigned reg, int64_t *offset)
{
  int ok = op_is(b, OP_BREG0 + reg, OP_BREG0 + reg);
  *offset = ls_bytes_sleb(b);
  return ok && !b->bad;
}

/* The rule of linkers for the PLT: an entry has 16 bytes, and from byte N of
** it on a word has been pushed. Returns N, or -1 if it is not that.
*/
static int op_plt(LsBytes b)
{
  int64_t sp, pc;
  int n;
  if (!op_breg(&b, REG_SP, &sp) || sp != 8 || !op_breg(&b, REG_RA, &pc) ||
      pc != 0 || !op_is(&b, OP_LIT0 + 15, OP_LIT0 + 15) ||
      !op_is(&b, OP_AND, OP_AND) || !op_is(&b, OP_LIT0, OP_LIT31))
    return -1;
  n = b.p[-1] - OP_LIT0;
  if (!op_is(&b, OP_GE, OP_GE) || !op_is(&b, OP_LIT0 + 3, OP_LIT0 + 3) ||
      !op_is(&b, OP_SHL, OP_SHL) || !op_is(&b, OP_PLUS, OP_PLUS) ||
      ls_bytes_left(&b))
    return -1;
  return n;
}

int ls_expression_cfa(LsBytes b, int64_t *offset)
{
  int n = op_plt(b);
  if (n >= 0) {
    *offset = n;
    return LJS_CFA_PLT;
  }
  if (op_breg(&b, REG_BP, offset) && op_is(&b, OP_DEREF, OP_DEREF) &&
      !ls_bytes_left(&b))
    return LJS_CFA_BP_MEM;
  *offset = 0;
  return LJS_CFA_UNKNOWN;
}

int ls_expression_reg(LsBytes b, int64_t *offset)
{
  return op_breg(&b, REG_BP, offset) && !ls_bytes_left(&b) ? 0 : -1;
}

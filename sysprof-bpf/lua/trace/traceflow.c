/*
** The flow of control between bytecode instructions, as traces follow it.
**
** A branch that is compiled becomes a guard: it leaves the trace for the side
** that was not taken when the trace was recorded. The snapshot that the guard
** belongs to has the instruction where that side begins. So the code in front
** of it is of the instructions up to the branch, and the code behind it of
** those on the other side.
*/

#include "traceflow.h"

/* -- Jumps ----------------------------------------------------------------- */

static uint32_t flow_op(const LsFunc *f, uint32_t pos)
{
  return pos < f->sizebc ? LS_BC_OP(f->bc[pos]) : UINT32_MAX;
}

/* Whether the instruction at POS is a comparison; a jump is behind it. */
static bool flow_compares(const LsFunc *f, uint32_t pos)
{
  return flow_op(f, pos) <= LS_BC_ISF && flow_op(f, pos + 1) == LS_BC_JMP;
}

/* Where the jump of an instruction leads to by its operand. */
static uint32_t flow_operand(const LsFunc *f, uint32_t pos)
{
  return pos + 1 + LS_BC_D(f->bc[pos]) - 0x8000;
}

/* The first instruction of the `for` loop that ends at POS with JFORL. */
static uint32_t flow_forbody(const LsFunc *f, uint32_t pos)
{
  uint32_t i;
  for (i = pos; i-- > 0;) {
    uint32_t op = LS_BC_OP(f->bc[i]);
    if ((op == LS_BC_FORI || op == LS_BC_JFORI) &&
        flow_operand(f, i) == pos + 1)
      return i + 1;
  }
  return pos;
}

/* The first instruction of the loop over an iterator that ends at POS with
** JITERL: the loop is entered by a jump to the iterator's call.
*/
static uint32_t flow_iterbody(const LsFunc *f, uint32_t pos)
{
  uint32_t i;
  for (i = pos; i-- > 0;) {
    uint32_t op = LS_BC_OP(f->bc[i]);
    if ((op == LS_BC_JMP || op == LS_BC_ISNEXT) &&
        flow_operand(f, i) + 1 == pos)
      return i + 1;
  }
  return pos;
}

uint32_t ls_flow_target(const LsFunc *f, uint32_t pos)
{
  uint32_t op = flow_op(f, pos), to;
  if (op == LS_BC_JFORL)
    return flow_forbody(f, pos);
  if (op == LS_BC_JITERL)
    return flow_iterbody(f, pos);
  to = flow_operand(f, pos);
  return to < f->sizebc ? to : pos;
}

bool ls_flow_jumps(const LsFunc *f, uint32_t pos)
{
  uint32_t op = flow_op(f, pos);
  return (op >= LS_BC_FORI && op <= LS_BC_JITERL) || op == LS_BC_JMP ||
         op == LS_BC_ISNEXT;
}

bool ls_flow_mayjump(const LsFunc *f, uint32_t pos)
{
  uint32_t op = flow_op(f, pos);
  return op != LS_BC_ISNEXT &&
         (op != LS_BC_JMP || (pos > 0 && flow_compares(f, pos - 1)));
}

/* -- Snapshots ------------------------------------------------------------- */

/* A branch, and where a trace goes on behind it. */
typedef struct Branch {
  uint32_t pos, go;
  unsigned n; /* So many there may be. */
} Branch;

/* A comparison with which an IR instruction agrees. */
static bool flow_agrees(uint32_t op, uint8_t ir)
{
  if (op <= LS_BC_ISGT)
    return ir < LS_IR_EQ;
  return op <= LS_BC_ISNEP && ir >= LS_IR_EQ;
}

static void flow_may(Branch *b, uint32_t pos, uint32_t go, uint32_t from)
{
  /* The nearest behind the last snapshot, or else the last one. */
  bool better = b->n == 0 || (pos >= from && (b->pos < from || pos < b->pos));
  if (better) {
    b->pos = pos;
    b->go = go;
  }
  b->n++;
}

/* The branch that goes to instruction TO if it is not taken as it was recorded:
** an IR instruction is its comparison. The snapshot before it is at FROM.
*/
static Branch flow_branch(const LsFunc *f, uint32_t to, uint8_t ir,
                          uint32_t from)
{
  Branch b = {0};
  uint32_t i;
  for (i = 1; i + 1 < f->sizebc; i++) {
    uint32_t op = LS_BC_OP(f->bc[i]);
    if (flow_compares(f, i) && flow_agrees(op, ir)) {
      uint32_t jump = ls_flow_target(f, i + 1);
      if (i + 2 == to && jump != to)
        flow_may(&b, i, jump, from);
      else if (jump == to && i + 2 != to)
        flow_may(&b, i, i + 2, from);
    } else if (op >= LS_BC_FORI && op <= LS_BC_JFORL && ir < LS_IR_EQ) {
      uint32_t jump = ls_flow_target(f, i);
      if (i + 1 == to && jump != i)
        flow_may(&b, i, jump, from);
      else if (jump == to)
        flow_may(&b, i, i + 1, from);
    }
  }
  return b;
}

/* Whether an IR instruction loads a size of a table, where what it refers to is
** known to be one.
*/
static bool flow_issize(const LsIr *t, const LsIns *ins)
{
  return ins->op == LS_IR_FLOAD && (ins->type & LS_IRT_TYPE) == LS_IRT_INT &&
         ins->op1 > LS_REF_BIAS && ins->op1 < t->nins &&
         (t->ins[ins->op1 - LS_REF_BIAS].type & LS_IRT_TYPE) == LS_IRT_TAB;
}

/* Whether an IR instruction is none of a comparison: that begins with its
** snapshot, and has loaded its operands before. It looks up a metamethod only
** behind a guard.
*/
static bool flow_isother(const LsIr *t, const LsIns *ins)
{
  switch (ins->op) {
  case LS_IR_SLOAD:
  case LS_IR_ULOAD:
  case LS_IR_ALOAD:
  case LS_IR_HLOAD:
  case LS_IR_AREF:
  case LS_IR_HREF:
  case LS_IR_HREFK:
  case LS_IR_UREFO:
  case LS_IR_UREFC:
  case LS_IR_TNEW:
  case LS_IR_TDUP:
  case LS_IR_BUFHDR:
  case LS_IR_CALLL:
  case LS_IR_CALLS:
  case LS_IR_CALLXS:
    return true;
  default:
    return (ins->op >= LS_IR_ASTORE && ins->op <= LS_IR_XSTORE) ||
           (ins->op >= LS_IR_ADD && ins->op <= LS_IR_DIV &&
            ls_ir_isfloat(ins)) ||
           flow_issize(t, ins);
  }
}

/* Whether the instructions from BEGIN on have computed what a guard behind them
** compares: a call that compares strings, or a conversion. *OTHER: whether some
** of them have not.
*/
static bool flow_needs(const LsIr *t, uint32_t begin, uint32_t guard,
                       bool *other)
{
  const LsIns *ins = &t->ins[guard - LS_REF_BIAS];
  bool all = true;
  uint32_t ref;
  *other = false;
  for (ref = begin; ref < guard; ref++) {
    const LsIns *front = &t->ins[ref - LS_REF_BIAS];
    bool used = ins->op1 == ref || ins->op2 == ref;
    *other = *other || flow_isother(t, front);
    all = all &&
          (front->op == LS_IR_CARG || front->op == LS_IR_NOP ||
           (used && (front->op == LS_IR_CALLN || front->op == LS_IR_CONV)));
  }
  return all;
}

/* The first guard of snapshot I, if it may be a comparison, or NULL. *FIRST:
** whether what is in front of it is for it.
*/
static const LsIns *flow_guard(const LsIr *t, const LsRawSnap *raw, uint32_t i,
                               bool *first)
{
  uint32_t ref, end = i + 1 < t->nsnap ? raw[i + 1].ref : t->nins;
  for (ref = raw[i].ref; ref < end; ref++) {
    const LsIns *ins = &t->ins[ref - LS_REF_BIAS];
    bool other;
    if (!(ins->type & LS_IRT_GUARD))
      continue;
    *first = flow_needs(t, raw[i].ref, ref, &other);
    return ins->op < LS_IR_ABC && !other ? ins : NULL;
  }
  return NULL;
}

void ls_flow_read(const LsIr *t, const LsRawSnap *raw, LsTrace *T)
{
  uint32_t i;
  for (i = 0; i < T->nsnap; i++) {
    LsSnap *s = &T->snap[i];
    const LsPlace *p = T->place + s->place;
    uint32_t from = 0;
    bool first;
    const LsIns *ins = flow_guard(t, raw, i, &first);
    Branch b;
    if (s->nplace == 0 || !p->f || !ins)
      continue;
    if (i > 0 && s[-1].nplace == s->nplace && T->place[s[-1].place].f == p->f)
      from = s[-1].branches ? s[-1].go : T->place[s[-1].place].pos;
    b = flow_branch(p->f, p->pos, ins->op, from);
    if (b.n == 0)
      continue;
    s->branches = first; /* What is in front may be of the comparison. */
    s->branch = b.pos;
    s->go = b.go;
    s->vague = !first;
  }
}

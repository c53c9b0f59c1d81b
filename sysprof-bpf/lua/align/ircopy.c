/*
** A loop's IR, as the copy that it is of the IR in front of it.
**
** A trace that loops has its IR twice. The compiler copies each instruction, in
** order, with the copies of its operands; what does not change is left out, and
** so is what then is known, or is done already; some becomes another operation.
** Here the copies are made once more. One that the loop has, in the same order,
** with the same operation and operands, is of what the original is of; and what
** the loop has between two of them is of what lies between their originals.
*/

#include <stdlib.h>

#include "ircopy.h"
#include "vmir.h"

#define UNKNOWN UINT32_MAX /* The number of a copy. */
#define WINDOW  64         /* Instructions that may come before it. */

/* Operands, in modes. */
enum { MODE_REF, MODE_LITERAL, MODE_CONSTANT, MODE_NONE };

typedef struct Copy {
  const LsIr *t;
  const LsRawSnap *snap; /* The last one in front of the loop. */
  uint32_t loop;         /* LOOP. */
  uint32_t *to;          /* For each instruction, its copy; */
  uint32_t *of;          /* for each copy, its instruction, or 0. */
} Copy;

/* The number that an operand has in the copy. */
static uint32_t copy_operand(const Copy *c, uint32_t op, unsigned mode)
{
  if (mode != MODE_REF || op <= LS_REF_BIAS || op >= c->loop)
    return op;
  return c->to[op - LS_REF_BIAS];
}

typedef struct Operands {
  uint32_t op1, op2;
  bool changed;
} Operands;

static Operands copy_operands(const Copy *c, uint32_t ref)
{
  const LsIns *ins = &c->t->ins[ref - LS_REF_BIAS];
  uint8_t mode = ls_vm_irmode(ins->op);
  Operands o;
  o.op1 = copy_operand(c, ins->op1, mode & 3);
  o.op2 = copy_operand(c, ins->op2, mode >> 2 & 3);
  o.changed = o.op1 != ins->op1 || o.op2 != ins->op2;
  return o;
}

/* Whether instruction REF is the one that OF becomes with these operands. */
static bool copy_is(const Copy *c, uint32_t ref, const Operands *o, uint32_t of)
{
  const LsIns *a = &c->t->ins[of - LS_REF_BIAS];
  const LsIns *b = &c->t->ins[ref - LS_REF_BIAS];
  bool same = o->op1 == b->op1 && o->op2 == b->op2;
  bool turned = o->op1 == b->op2 && o->op2 == b->op1;
  return a->op == b->op && !((a->type ^ b->type) & LS_IRT_TYPE) &&
         (same || turned);
}

/* The first copy that is exact, from FROM up to END; UNKNOWN if none is. */
static uint32_t copy_find(const Copy *c, uint32_t from, uint32_t end,
                          const Operands *o, uint32_t of)
{
  while (from < end && !copy_is(c, from, o, of))
    from++;
  return from < end ? from : UNKNOWN;
}

/* What a slot has when the loop begins again; REF, which loads it, if it has
** not changed.
*/
static uint32_t copy_slot(const Copy *c, uint32_t slot, uint32_t ref)
{
  uint32_t i;
  for (i = 0; c->snap && i < c->snap->nent; i++) {
    uint32_t entry = c->t->map[c->snap->map + i];
    if (entry >> 24 == slot)
      return entry & 0xffff;
  }
  return ref;
}

/* Whether the trace may change what an operation loads. */
static bool copy_stores(const Copy *c, uint8_t load)
{
  uint32_t i;
  for (i = 1; i < c->loop - LS_REF_BIAS; i++) {
    uint8_t op = c->t->ins[i].op;
    if (op == LS_IR_NEWREF || op >= LS_IR_CALLS ||
        (op >= LS_IR_ASTORE && op <= LS_IR_XSTORE &&
         op - LS_IR_ASTORE == load - LS_IR_ALOAD))
      return true;
  }
  return false;
}

/* Whether an operation loads or finds the same when it does so again. */
static bool copy_keeps(const Copy *c, uint8_t op)
{
  if (op == LS_IR_HREF || op == LS_IR_UREFO || op == LS_IR_UREFC)
    return !copy_stores(c, LS_IR_HLOAD);
  return op >= LS_IR_ALOAD && op <= LS_IR_XLOAD && !copy_stores(c, op);
}

/* Make the copy of an instruction, which NEXT or one behind it may be. Returns
** false if it could also be one that was taken for another's copy.
*/
static bool copy_one(Copy *c, uint32_t ref, uint32_t *next)
{
  const LsIns *ins = &c->t->ins[ref - LS_REF_BIAS];
  bool pure = (ls_vm_irmode(ins->op) & 0x60) == 0;
  uint32_t *to = &c->to[ref - LS_REF_BIAS];
  uint32_t end = *next + WINDOW < c->t->nins ? *next + WINDOW : c->t->nins;
  Operands o = copy_operands(c, ref);
  *to = ins->op == LS_IR_SLOAD ? copy_slot(c, ins->op1, ref) : ref;
  if (ins->op == LS_IR_NOP || ins->op == LS_IR_SLOAD || (pure && !o.changed))
    return true;
  *to = copy_find(c, *next, end, &o, ref);
  if (*to != UNKNOWN) {
    c->of[*to - LS_REF_BIAS] = ref;
    *next = *to + 1;
    return true;
  }
  *to = copy_find(c, c->loop + 1, *next, &o, ref);
  if (*to != UNKNOWN)
    return pure;
  if (!o.changed && copy_keeps(c, ins->op))
    *to = ref;
  return true;
}

static bool copy_make(Copy *c)
{
  uint32_t ref, next = c->loop + 1;
  for (ref = LS_REF_BIAS + 1; ref < c->loop; ref++)
    if (!copy_one(c, ref, &next))
      return false;
  return true;
}

/* Whether the copy of OF may have become instruction REF, with operands that
** were not known before: loads, stores and divisions keep their operations,
** products may become sums, and sums differences.
*/
static bool copy_became(const Copy *c, uint32_t ref, uint32_t of)
{
  const LsIns *a = &c->t->ins[of - LS_REF_BIAS];
  const LsIns *b = &c->t->ins[ref - LS_REF_BIAS];
  if (a->op == LS_IR_SLOAD || c->to[of - LS_REF_BIAS] == of)
    return false; /* It has no copy. */
  if (a->op >= LS_IR_ALOAD && a->op <= LS_IR_XSTORE)
    return a->op == b->op || b->op == LS_IR_CONV;
  if (b->op >= LS_IR_ALOAD && b->op <= LS_IR_XSTORE)
    return false;
  if (!ls_ir_isfloat(b))
    return true;
  switch (b->op) {
  case LS_IR_ADD:
  case LS_IR_SUB:
    return a->op >= LS_IR_ADD && a->op <= LS_IR_MUL;
  case LS_IR_MUL:
    return a->op == LS_IR_MUL || a->op == LS_IR_DIV;
  case LS_IR_DIV:
    return a->op == LS_IR_DIV;
  default:
    return true;
  }
}

/* What REF may be of, which has the place of those behind FIRST and in front of
** LAST.
*/
static LsClaim copy_between(const Copy *c, uint32_t ref, uint32_t first,
                            uint32_t last, const LsClaim *claim)
{
  LsClaim all = {0};
  uint32_t of;
  for (of = first + 1; of < last; of++)
    if (copy_became(c, ref, of))
      ls_claim_join(&all, &claim[of - LS_REF_BIAS]);
  if (!all.f)
    all = (LsClaim){.functions = true, .lines = true};
  return all;
}

/* Find what all of the loop is of. */
static void copy_claims(const Copy *c, LsClaim *claim)
{
  uint32_t i, n = c->t->nins - LS_REF_BIAS, next = 0, last = LS_REF_BIAS;
  for (i = c->loop + 1 - LS_REF_BIAS; i < n; i++) {
    if (c->of[i]) {
      last = c->of[i];
      claim[i] = claim[last - LS_REF_BIAS];
      continue;
    }
    if (next <= i)
      for (next = i + 1; next < n && !c->of[next]; next++)
        ;
    claim[i] = copy_between(c, LS_REF_BIAS + i, last,
                            next < n ? c->of[next] : c->loop, claim);
  }
}

void ls_copy_read(const LsIr *t, LsClaim *claim)
{
  Copy c = {.t = t, .loop = LS_REF_BIAS + 1};
  uint32_t i;
  while (c.loop < t->nins && t->ins[c.loop - LS_REF_BIAS].op != LS_IR_LOOP)
    c.loop++;
  if (c.loop >= t->nins)
    return;
  for (i = 0; i < t->nsnap && t->raw[i].ref <= c.loop; i++)
    c.snap = &t->raw[i];
  c.to = calloc(c.loop - LS_REF_BIAS, sizeof(*c.to));
  c.of = calloc(t->nins - LS_REF_BIAS, sizeof(*c.of));
  if (c.to && c.of && copy_make(&c))
    copy_claims(&c, claim);
  free(c.to);
  free(c.of);
}

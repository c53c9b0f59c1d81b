/*
** A loop's IR, as the copy that it is of the IR in front of it.
**
** A trace that loops has its IR twice. The compiler copies each instruction, in
** order, with the copies of its operands; what does not change is left out, and
** so is what then is known, or is done already. Here the copies are made once
** more. One that the loop has, in the same order, with the same operation and
** operands, is of what the original is of.
*/

#include <stdlib.h>

#include "ircopy.h"
#include "vmir.h"

#define UNKNOWN UINT32_MAX /* The number of a copy. */

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

static bool operand_is(uint32_t wanted, uint32_t op)
{
  return wanted == op || wanted == UNKNOWN;
}

/* Whether an instruction may be a copy: 2 if it is one exactly, 1 if that
** depends on operands that are not known.
*/
static int copy_is(const Copy *c, uint32_t ref, const Operands *o, uint32_t of)
{
  const LsIns *a = &c->t->ins[of - LS_REF_BIAS];
  const LsIns *b = &c->t->ins[ref - LS_REF_BIAS];
  bool same = operand_is(o->op1, b->op1) && operand_is(o->op2, b->op2);
  bool turned = operand_is(o->op1, b->op2) && operand_is(o->op2, b->op1);
  if (a->op != b->op || (a->type ^ b->type) & LS_IRT_TYPE || !(same || turned))
    return 0;
  return o->op1 == UNKNOWN || o->op2 == UNKNOWN ? 1 : 2;
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

/* Make all copies: an instruction is the copy of the first that it can be. */
static void copy_make(Copy *c)
{
  uint32_t ref, next = c->loop + 1, at;
  for (ref = LS_REF_BIAS + 1; ref < c->loop; ref++) {
    Operands o = copy_operands(c, ref);
    uint32_t *to = &c->to[ref - LS_REF_BIAS];
    const LsIns *ins = &c->t->ins[ref - LS_REF_BIAS];
    bool pure = (ls_vm_irmode(ins->op) & 0x60) == 0;
    *to = ins->op == LS_IR_SLOAD ? copy_slot(c, ins->op1, ref) : ref;
    if (ins->op == LS_IR_SLOAD || (pure && !o.changed))
      continue;
    *to = UNKNOWN;
    for (at = next; at < c->t->nins && at < next + 8 && *to == UNKNOWN; at++)
      if (copy_is(c, at, &o, ref) == 2)
        *to = at;
    if (*to == UNKNOWN)
      continue;
    c->of[*to - LS_REF_BIAS] = ref;
    next = *to + 1;
  }
}

/* What REF may be of: it has the place of those from FIRST up to LAST. */
static LsClaim copy_claim(const Copy *c, uint32_t ref, uint32_t first,
                          uint32_t last, const LsClaim *claim)
{
  LsClaim all = {0};
  uint32_t of;
  for (of = first; of <= last; of++) {
    Operands o = copy_operands(c, of);
    if (copy_is(c, ref, &o, of))
      ls_claim_join(&all, &claim[of - LS_REF_BIAS]);
  }
  return all;
}

/* Add what is known of the source of a copy. */
static void claim_meet(LsClaim *c, const LsClaim *source)
{
  if (!source->f || source->lines || source->functions)
    return;
  if (c->f && !c->lines && !c->functions &&
      (c->f != source->f || c->line != source->line))
    c->lines = c->functions = true; /* One of them is wrong. */
  else
    *c = *source;
}

/* Add to all of the loop what its sources are of. */
static void copy_claims(const Copy *c, LsClaim *claim)
{
  const uint32_t *of = c->of;
  uint32_t i, n = c->t->nins - LS_REF_BIAS, next = 0, first = LS_REF_BIAS + 1;
  for (i = c->loop + 1 - LS_REF_BIAS; i < n; i++) {
    LsClaim all;
    if (!of[i])
      continue;
    if (next <= i)
      for (next = i + 1; next < n && !of[next]; next++)
        ;
    all = copy_claim(c, LS_REF_BIAS + i, first,
                     next < n ? of[next] : c->loop - 1, claim);
    claim_meet(&claim[i], &all);
    first = of[i];
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
  if (c.to && c.of) {
    copy_make(&c);
    copy_claims(&c, claim);
  }
  free(c.to);
  free(c.of);
}

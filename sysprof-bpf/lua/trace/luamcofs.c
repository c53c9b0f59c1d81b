/*
** Where the code of each snapshot begins, by the offsets that the VM keeps.
**
** Code is made from its end to its beginning, and so are the offsets. If a
** snapshot's code begins with a `test` of a register, and the instruction in
** front of it has set the flags already, the `test` is dropped; but the offset
** was kept with it. Such an offset is too low by the length of the `test`: it
** lies in the instruction in front, or exactly at its beginning, where it
** cannot be told from one that is right.
*/

#include <stdlib.h>

#include "luamcofs.h"

#define MCOFS_TEST 3 /* Bytes of a `test` of two registers, at most. */

/* Whether an instruction is integer arithmetic that sets the flags. */
static bool mcofs_isarith(const LsX86 *x)
{
  if (x->prefix || x->map > 1)
    return false;
  if (x->map == 1)
    return x->op == 0xaf; /* imul */
  return (x->op < 0x40 && (x->op & 7) < 6) ||
         (x->op >= 0x80 && x->op <= 0x83) || (x->op >= 0xc0 && x->op <= 0xc1) ||
         (x->op >= 0xd0 && x->op <= 0xd3) || x->op == 0xf6 || x->op == 0xf7 ||
         x->op == 0xfe || x->op == 0xff || x->op == 0x69 || x->op == 0x6b;
}

/* Where the code of a snapshot with an offset begins. */
static LsBegin mcofs_begin(const LsCode *c, uint32_t ofs)
{
  uint32_t i = ls_code_at(c, ofs);
  LsBegin b = {ofs, ofs, ofs};
  if (i >= c->n)
    return b;
  if (c->ins[i].ofs != ofs) /* Within the instruction in front. */
    return (LsBegin){c->ins[i].ofs, c->ins[i].ofs, c->ins[i].ofs};
  if (i + 1 < c->n && c->ins[i].x.len <= MCOFS_TEST &&
      mcofs_isarith(&c->ins[i].x) && ls_x86_isjcc(&c->ins[i + 1].x))
    b.late = c->ins[i + 1].ofs;
  return b;
}

LsBegin *ls_mcofs_read(const LsIr *t, const LsCode *c, const LsRawSnap *raw)
{
  LsBegin *b = calloc(t->nsnap, sizeof(*b));
  uint32_t i;
  for (i = 0; b && i < t->nsnap; i++) {
    uint32_t ofs = raw[i].mcofs;
    if (ofs > t->szmcode) /* The end has been cut off. */
      ofs = t->szmcode;
    if (c)
      b[i] = mcofs_begin(c, ofs);
    else
      b[i] = (LsBegin){ofs, ofs + (i > 0 ? MCOFS_TEST : 0), ofs};
    if (i > 0 && b[i].early < b[i - 1].early)
      b[i].early = b[i - 1].early;
    if (i > 0 && b[i].late < b[i - 1].late)
      b[i].late = b[i - 1].late;
  }
  return b;
}

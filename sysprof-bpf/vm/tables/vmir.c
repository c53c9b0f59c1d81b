/*
** How a VM numbers the operations of its IR.
**
** The VM has a table of the modes of all operations, in order: which operands
** they have, and whether they have effects. It is the same in all versions of
** 2.1 but for the operations that some do not have.
*/

#include <string.h>

#include "vmir.h"

/* What of a mode is compared: the rest only says how an operation is looked up
** among those before it.
*/
#define IR_MODE 0x6f

/* The modes of all operations that some version has. */
static const uint8_t ir_mode[LS_IR_OPS] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    /* LT ... NE */
    0,    0x60, 0x0f, 0x05, 0x0d, 0x6f, 0x60, 0x6f, 0x6c, 0x60, /* ABC ... */
    0x64, 0x6f, 0x0f, 0x0e, 0x0e, 0x0e, 0x0e, 0x0e, 0x0e, 0x0e, /* RENAME ... */
    0x04, 0x0c, 0x0c, 0,    0,    0,    0,    0,    0,    0,    /* KSLOT ... */
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    /* BROR ... */
    0,    0,    0,    0x04, 0,    0,    0,    0,    0,    0x40, /* LDEXP ... */
    0x60, 0x44, 0x44, 0x04, 0x64, 0,    0x4f, 0x4c, 0x4c, 0x4c, /* NEWREF ... */
    0x44, 0x44, 0x45, 0x44, 0x40, 0x60, 0x60, 0x60, 0x60, 0x60, /* FLOAD ... */
    0,    0x20, 0x25, 0x2c, 0x20, 0,    0x44, 0x40, 0x20, 0x6c, /* SNEW ... */
    0x60, 0x6f, 0x04, 0,    0x04, 0x0c, 0x04, 0x24, 0x44, 0x64, /* OBAR ... */
    0x60, 0,                                                    /* CALLXS ... */
};

/* The operations that are not in all versions. */
static const struct {
  uint8_t op, form;
} ir_some[] = {
    {49, LS_IRFORM_ATAN2}, {64, LS_IRFORM_TMPREF}, {74, LS_IRFORM_ALEN}};

#define IR_NOP    12
#define IR_VLOAD  73   /* Older ones have no second operand for it. */
#define IR_FIRST  0x63 /* What of its mode is compared. */
#define IR_COMMON 49   /* Operations in front of those. */

/* Whether a numbering has an operation. */
static bool ir_has(uint8_t form, unsigned op)
{
  size_t i;
  for (i = 0; i < sizeof(ir_some) / sizeof(ir_some[0]); i++)
    if (ir_some[i].op == op)
      return form & ir_some[i].form;
  return true;
}

void ls_vm_irops(uint8_t form, uint8_t op[256])
{
  unsigned i, n = 0;
  memset(op, LS_IR_OPS, 256);
  for (i = 0; i < LS_IR_OPS; i++)
    if (ir_has(form, i))
      op[n++] = (uint8_t)i;
}

uint8_t ls_vm_irmode(uint8_t op)
{
  return op < LS_IR_OPS ? ir_mode[op] : IR_MODE;
}

/* Whether the table of a numbering begins at P. */
static bool ir_istable(const uint8_t *p, const uint8_t *end, uint8_t form)
{
  unsigned i;
  for (i = 0; i < LS_IR_OPS; i++) {
    uint8_t mask = i == IR_VLOAD ? IR_FIRST : IR_MODE;
    if (!ir_has(form, i))
      continue;
    if (p == end || (*p++ ^ ir_mode[i]) & mask)
      return false;
  }
  return true;
}

/* The numberings whose tables begin at P, which has IR_COMMON bytes at least:
** how many, and the last in *FORM.
*/
static unsigned ir_tables(const uint8_t *p, const uint8_t *end, uint8_t *form)
{
  unsigned n = 0, some, i;
  for (i = 0; i < IR_COMMON; i++)
    if ((p[i] & IR_MODE) != ir_mode[i])
      return 0;
  for (some = 0; some < 8; some++) {
    uint8_t f = (uint8_t)(LS_IRFORM_KNOWN | some << 1);
    if (!ir_istable(p, end, f))
      continue;
    *form = f;
    n++;
  }
  return n;
}

uint8_t ls_vm_irform(const LsElf *e)
{
  LsSegment seg[LS_ELF_SEGMENTS];
  size_t n = ls_elf_segments(e, seg), i, rest;
  uint8_t form = 0;
  unsigned found = 0;
  for (i = 0; i < n; i++) {
    const uint8_t *p = ls_elf_rest(e, seg[i].addr, &rest), *end = p + rest;
    for (; p && end - p > IR_COMMON; p++)
      if ((p[IR_NOP] & IR_MODE) == ir_mode[IR_NOP]) /* Few others have it. */
        found += ir_tables(p, end, &form);
  }
  return found == 1 ? form : 0;
}

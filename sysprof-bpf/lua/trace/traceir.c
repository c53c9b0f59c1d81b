/*
** The IR of a trace: a copy of its instructions and constants.
*/

#include <stdlib.h>
#include <string.h>

#include "traceir.h"
#include "vmir.h"

bool ls_ir_isfloat(const LsIns *ins)
{
  uint8_t type = ins->type & LS_IRT_TYPE;
  return type == LS_IRT_NUM || type == LS_IRT_FLOAT;
}

bool ls_ir_wide(const LsIr *t, int op)
{
  bool gc64 = t->v->vm.gc64;
  return op == LS_IR_KNUM || op == LS_IR_KINT64 ||
         (gc64 && (op == LS_IR_KGC || op == LS_IR_KPTR || op == LS_IR_KKPTR));
}

int ls_ir_constant(const LsIr *t, uint32_t ref, uint64_t *value)
{
  const uint8_t *ir;
  int op;
  *value = 0;
  if (ref < t->nk || ref >= LS_REF_BIAS)
    return -1;
  ir = t->k + (size_t)(ref - t->nk) * 8;
  op = ir[5];
  if (ls_ir_wide(t, op)) {
    if (ref + 1 >= LS_REF_BIAS)
      return -1;
    memcpy(value, ir + 8, 8); /* In the slot behind. */
  } else {
    memcpy(value, ir, 4);
  }
  return op;
}

uint64_t ls_ir_key(const LsIr *t, const LsIns *ins)
{
  uint32_t ref = ins->op2;
  uint64_t value;
  if (ls_ir_constant(t, ref, &value) == LS_IR_KSLOT)
    ref = (uint32_t)value & 0xffff;
  if (ls_ir_constant(t, ref, &value) != LS_IR_KGC ||
      ls_view_type(t->v, value) != LS_GCT_STR)
    return 0;
  return value;
}

/* Copy the IR from REF up to END, of which there may be nothing. NULL without
** memory.
*/
static void *ir_copy(const LsIr *t, uint32_t ref, uint32_t end)
{
  size_t size = (size_t)(end - ref) * 8;
  void *p = malloc(size + 1);
  if (p && !ls_remote_get(t->v->mem, t->ir + ref * 8ull, p, size)) {
    free(p);
    p = NULL;
  }
  return p;
}

/* Number operations as LsIns has them, if the VM's own numbers are known. */
static void ir_number(LsIr *t)
{
  uint8_t op[256];
  uint32_t i;
  if (!t->v->vm.irform)
    return;
  ls_vm_irops((uint8_t)t->v->vm.irform, op);
  for (i = 0; i < t->nins - LS_REF_BIAS; i++)
    t->ins[i].op = op[t->ins[i].op];
}

bool ls_ir_read(LsIr *t)
{
  t->k = ir_copy(t, t->nk, LS_REF_BIAS);
  t->ins = ir_copy(t, LS_REF_BIAS, t->nins);
  if (!t->k || !t->ins) {
    ls_ir_free(t);
    return false;
  }
  ir_number(t);
  return true;
}

void ls_ir_free(LsIr *t)
{
  free(t->k);
  free(t->ins);
  free(t->raw);
  free(t->map);
  t->k = NULL;
  t->ins = NULL;
  t->raw = NULL;
  t->map = NULL;
}

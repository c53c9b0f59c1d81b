/*
** Traces by their numbers, and the instructions that they begin with.
**
** Where a trace begins, the VM puts its number into the bytecode. A loop's end
** loses its jump; and a return, or the call of an iterator, becomes JLOOP, as
** the beginning of a loop does. The trace has the instruction that was there.
*/

#include "tracestart.h"

uint64_t ls_start_trace(LsView *v, uint64_t g, uint32_t no)
{
  uint64_t array, size;
  if (!v->vm.jit || !g || no == 0)
    return 0;
  array = ls_remote_uint(v->mem, g + (uint64_t)v->vm.trace, 8);
  size = ls_remote_uint(v->mem, g + (uint64_t)v->vm.trace + 12, 4);
  if (!array || no >= size)
    return 0;
  return ls_view_ref(v, array + (uint64_t)no * v->lay->ref);
}

/* The instruction that a trace has taken the place of at PC, or 0. */
static uint32_t start_instruction(LsView *v, uint64_t g, uint32_t no,
                                  uint64_t pc)
{
  uint64_t T = ls_start_trace(v, g, no);
  if (!T || ls_view_type(v, T) != LS_GCT_TRACE ||
      ls_view_ref(v, T + v->vm.t_startpc) != pc)
    return 0;
  return (uint32_t)ls_remote_uint(v->mem, T + v->vm.t_startins, 4);
}

void ls_start_restore(LsView *v, uint64_t g, LsFunc *f)
{
  bool was = v->mem->bad; /* A trace may be gone. */
  uint32_t pos;
  for (pos = 1; pos < f->sizebc; pos++) {
    uint32_t op = LS_BC_OP(f->bc[pos]), ins;
    if (op != LS_BC_JFORL && op != LS_BC_JITERL && op != LS_BC_JLOOP)
      continue;
    ins = start_instruction(v, g, LS_BC_D(f->bc[pos]), f->code + 4ull * pos);
    if (ins)
      f->bc[pos] = ins;
  }
  v->mem->bad = was;
}

/*
** The unwinder's steps on the C stack, by unwind tables.
*/

#ifndef LJS_UNWIND_NATIVE_H
#define LJS_UNWIND_NATIVE_H

#include "unwind.h"
#include "unwind_read.h"

/* The caller's register: at an offset from the CFA or from rbp, or as it is. */
static __always_inline int ljs_restore(struct ljs_walk *w, __u64 *reg, __u8 how,
                                       __s16 ofs, __u64 cfa, __u64 bp)
{
  if (how == LJS_REG_CFA || how == LJS_REG_BP)
    return ljs_cstack(w, (how == LJS_REG_CFA ? cfa : bp) + ofs, reg);
  if (how == LJS_REG_LOST)
    *reg = 0;
  return 0;
}

/* Goes up to who called the function whose frame begins at CFA. */
static __always_inline void ljs_return(struct ljs_walk *w, __u64 cfa)
{
  if (ljs_cstack(w, cfa - 8, &w->pc)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  if (!w->pc) { /* That ends a stack, too. */
    w->mode = LJS_DONE;
    return;
  }
  w->sp = cfa;
  w->dx = 0;
  w->exact = 0;
  w->mode = LJS_NATIVE;
}

#define LJS_UC_RBP 120 /* Of registers in ucontext. */
#define LJS_UC_RBX 128
#define LJS_UC_RDX 136
#define LJS_UC_RSP 160
#define LJS_UC_RIP 168

/* Goes back to what a signal interrupted. */
static __always_inline void ljs_sigreturn(struct ljs_walk *w)
{
  __u64 uc = w->sp;
  w->exact = 1;
  if (ljs_peek(w, uc + LJS_UC_RBP, &w->bp) ||
      ljs_peek(w, uc + LJS_UC_RBX, &w->bx) ||
      ljs_peek(w, uc + LJS_UC_RDX, &w->dx) ||
      ljs_peek(w, uc + LJS_UC_RSP, &w->sp) ||
      ljs_peek(w, uc + LJS_UC_RIP, &w->pc))
    ljs_cut(w, LJS_CUT_MEMORY);
}

/* Looks for the C frame of a VM, from rsp on upwards. */
static __always_inline void ljs_scan(struct ljs_walk *w, __u32 module,
                                     __u32 anon, __u32 how)
{
  w->module = module;
  w->anon = anon;
  w->how = how;
  w->making |= LJS_VM_BX(how) == LJS_BX_MAYBE;
  w->places = 0;
  w->a = (w->sp + 15) & ~15ull;
  w->mode = LJS_SCANNING;
}

/* No way to unwind from here. Perhaps a VM's frame is near. */
static __noinline void ljs_lost(struct ljs_walk *w, __u32 why)
{
  if (!w->nvm || w->out.nframes + 2 >= LJS_FRAME_MAX) {
    ljs_cut(w, why);
    return;
  }
  ljs_gap(w, why);
  ljs_scan(w, w->vm, 0, 0);
}

/* Adds the native frame at pc, if they are wanted. */
static __always_inline void ljs_native_frame(struct ljs_walk *w)
{
  if (w->nonative)
    return;
  ljs_push(w, w->pc, 0, 0,
           LJS_WHAT(LJS_FRAME_NATIVE, w->exact ? 0 : LJS_FLAG_RETURN, 0));
}

/* Unwinds one native frame by its row. */
static __always_inline void ljs_unwind(struct ljs_walk *w,
                                       const struct ljs_row *row)
{
  __u64 cfa = 0, bp = w->bp;
  switch (row->how) {
  case LJS_CFA_SP:
    cfa = w->sp + row->cfa;
    break;
  case LJS_CFA_BP:
    cfa = w->bp + row->cfa;
    break;
  case LJS_CFA_BX:
    cfa = w->bx + row->cfa;
    break;
  case LJS_CFA_PLT:
    cfa = w->sp + 8 + ((w->pc & 15) >= (__u32)row->cfa ? 8 : 0);
    break;
  case LJS_CFA_BP_MEM:
    if (ljs_cstack(w, w->bp + row->cfa, &cfa)) {
      ljs_lost(w, LJS_CUT_MEMORY);
      return;
    }
    break;
  case LJS_CFA_SIGNAL:
    ljs_sigreturn(w);
    return;
  case LJS_CFA_END:
    w->mode = LJS_DONE;
    return;
  case LJS_CFA_ROOT:
    w->mode = LJS_DONE;
    if (w->exact)
      ljs_lost(w, LJS_CUT_NOROW);
    return;
  default:
    ljs_lost(w, LJS_CUT_NOROW);
    return;
  }
  if (cfa <= w->sp) { /* Stacks grow one way. */
    ljs_lost(w, LJS_CUT_NOROW);
    return;
  }
  if (ljs_restore(w, &w->bp, row->bphow, row->bp, cfa, bp) ||
      ljs_restore(w, &w->bx, row->bxhow, row->bx, cfa, bp)) {
    ljs_lost(w, LJS_CUT_MEMORY);
    return;
  }
  ljs_return(w, cfa);
}

/* What Coco, and coroutines made after it, have for a return address at the
** bottom of their stacks. It is no address that code can have.
*/
#define LJS_BOTTOM 0xdeaddeaddeaddeadull

/* One step on the C stack. */
static __always_inline void ljs_step_native(struct ljs_walk *w)
{
  __u64 pc = w->pc - !w->exact;
  struct ljs_row *row;
  if (w->nnative >= w->maxnative) {
    ljs_cut(w, LJS_CUT_NATIVE);
    return;
  }
  w->nnative++;
  row = ljs_find_row(w, pc);
  if (w->code == LJS_NO_MODULE) { /* Perhaps a trace. */
    if (w->pc == LJS_BOTTOM && !w->exact) {
      w->mode = LJS_DONE;
    } else if (w->nvm) {
      ljs_scan(w, w->vm, 1, 0);
    } else {
      ljs_native_frame(w);
      ljs_cut(w, LJS_CUT_NOMAP);
    }
    return;
  }
  if (row && row->how == LJS_CFA_VM) {
    ljs_scan(w, w->code, 0, (__u32)row->cfa);
    return;
  }
  ljs_native_frame(w);
  if (row)
    ljs_unwind(w, row);
  else
    ljs_lost(w, LJS_CUT_NOROW);
}

#endif

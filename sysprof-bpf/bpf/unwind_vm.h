/*
** The unwinder's way into a VM: where its frame on the C stack is, and where
** the Lua frames of that begin.
*/

#ifndef LJS_UNWIND_VM_H
#define LJS_UNWIND_VM_H

#include "unwind.h"
#include "unwind_native.h"
#include "unwind_read.h"

/* The state of coroutine L, or NULL if it was not met in this walk. */
static __always_inline struct ljs_state *ljs_find_state(struct ljs_walk *w,
                                                        __u64 l)
{
  __u32 i;
  LJS_LOOP
  for (i = 0; i < LJS_MAX_STATES && i < w->nstate; i++)
    if (w->state[i].l == l)
      return &w->state[i];
  return 0;
}

/* Remembers where the walk of L goes on. The oldest one is forgotten. */
static __always_inline void ljs_save_state(struct ljs_walk *w, __u64 base,
                                           __u64 cframe)
{
  struct ljs_state *st = ljs_find_state(w, w->l);
  if (!st)
    st = &w->state[w->nstate++ % LJS_MAX_STATES];
  st->l = w->l;
  st->base = base;
  st->cframe = cframe & ~3ull;
}

/* The Lua frames of the VM's frame have ended; BASE is that of the next ones of
** the coroutine, or 0.
*/
static __always_inline void ljs_leave(struct ljs_walk *w, __u64 base)
{
  w->base = base;
  w->mode = LJS_LEAVING;
}

/* Goes on behind the VM's frame on the C stack. */
static __always_inline void ljs_step_leave(struct ljs_walk *w)
{
  struct ljs_module *m = ljs_find_module(w->module);
  const struct ljs_vm *vm;
  __u64 cframe, cfa;
  if (!m) {
    ljs_cut(w, LJS_CUT_VM);
    return;
  }
  vm = &m->vm;
  cfa = w->a + vm->frame;
  if (ljs_cstack(w, w->a + vm->save_cframe, &cframe) ||
      ljs_cstack(w, cfa + vm->bp, &w->bp) ||
      ljs_cstack(w, cfa + vm->bx, &w->bx)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  ljs_save_state(w, w->base, cframe);
  ljs_return(w, cfa);
}

/* Is BASE, with PC, where the Lua function there says that it can be? */
static __noinline int ljs_plausible(struct ljs_walk *w, const struct ljs_vm *vm,
                                    __u64 base)
{
  __u64 slot[2];
  __u8 gct;
  return base > w->bottom && base < w->top && !(base & 7) &&
         !ljs_slots(w, base, slot) && ljs_is_func(vm, slot) &&
         !ljs_peek8(w, ljs_slot_func(vm, slot) + vm->fn_ffid - 1, &gct) &&
         gct == LJS_GCT_FUNC;
}

/* The trace that runs, whose machine code has PC. Returns 0 if there
** is none.
*/
static __noinline int ljs_trace_frame(struct ljs_walk *w,
                                      const struct ljs_vm *vm, __u64 pc,
                                      __u8 flags)
{
  __u64 traces, t, mcode, check, startpt, startpc;
  __u32 state, size, nins;
  if (ljs_peek32(w, w->g + vm->vmstate, &state) || (__s32)state <= 0 ||
      ljs_word(w, vm, w->g + vm->trace, &traces) ||
      ljs_word(w, vm, traces + (__u64)state * (vm->gc64 ? 8 : 4), &t) || !t ||
      /* A pointer of the machine's, whatever the VM's are. */
      ljs_peek(w, t + vm->t_mcode, &mcode) ||
      ljs_peek32(w, t + vm->t_szmcode, &size) || pc - mcode > size ||
      ljs_word(w, vm, t + vm->t_startpt, &startpt) ||
      ljs_word(w, vm, t + vm->t_startpc, &startpc) ||
      ljs_peek32(w, t + vm->t_nins, &nins))
    return 0;
  check = ljs_check_trace(mcode, size, startpt, startpc, nins);
  if (!w->nolua)
    ljs_push(w, t, 0, (__u32)(pc - mcode),
             LJS_WHAT(LJS_FRAME_TRACE, flags, LJS_CHECK(check)));
  return 1;
}

/* Whether this is on a trace: then adds its frame, and finds the base of it. */
static __always_inline int ljs_trace(struct ljs_walk *w,
                                     const struct ljs_vm *vm)
{
  __u64 base = 0, ret = 0;
  if (!vm->jit || (!w->anon && !w->exact) ||
      ljs_word(w, vm, w->g + vm->jit_base, &base) || !base)
    return 0;
  if (w->anon) {
    __u8 flags = w->exact ? 0 : LJS_FLAG_RETURN;
    if (!ljs_trace_frame(w, vm, w->pc, flags) && !w->nolua)
      ljs_push(w, w->pc, 0, 0, LJS_WHAT(LJS_FRAME_JIT, flags, 0));
  } else if (ljs_cstack(w, w->sp, &ret) ||
             !ljs_trace_frame(w, vm, ret, LJS_FLAG_RETURN)) {
    return 0; /* Else a trace has called one of the VM's helpers. */
  }
  w->base = base;
  w->luapc = w->altpc = 0;
  w->out.nlua++;
  w->skip = 1; /* The function at jit_base is part of that. */
  return 1;
}

/* The position in a function without a PC. */
enum { LJS_GUESS_NONE, LJS_GUESS_FIRST, LJS_GUESS_LAST };

/* Links between frames: what called the function. */
enum { LJS_LINK_LUA, LJS_LINK_C, LJS_LINK_CONT, LJS_LINK_VARG };

#define LJS_LINK_MAX (1ull << 24) /* A link that is no address is less. */

/* A function at DX has returned, or nearly so: its results may be where it was.
** PC has its link. Is BASE, the function that called it, found by that?
*/
static __always_inline int
ljs_returned(struct ljs_walk *w, const struct ljs_vm *vm, __u64 dx, __u64 pc)
{
  __u64 a;
  if (dx <= w->bottom || dx >= w->top || (pc & 3) || ljs_call_a(w, pc, &a))
    return 0;
  w->base = dx - (a + (vm->gc64 ? 2 : 1)) * 8;
  return ljs_plausible(w, vm, w->base);
}

/* Where the Lua frames begin if it is not certain what registers mean. Returns
** 0 if none has begun yet, or all have ended.
*/
static __always_inline int ljs_top_guess(struct ljs_walk *w,
                                         const struct ljs_vm *vm)
{
  __u64 base = 0;
  if (w->luapc < LJS_LINK_MAX && (w->luapc & 3) <= LJS_LINK_C) {
    /* A link to C: a call from there or a return to there is under way. */
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
    return 0;
  }
  if ((w->luapc & 7) == LJS_LINK_VARG) /* Its upper half has returned. */
    w->guess = LJS_GUESS_LAST;
  if (LJS_VM_DX(w->how) == LJS_DX_NONE) {
    if (LJS_VM_BP(w->how) == LJS_BP_BASE)
      w->base = w->bp;
    else
      ljs_word(w, vm, w->l + vm->l_base, &w->base);
  } else if (ljs_plausible(w, vm, w->dx)) {
    w->base = w->dx;
  } else if (vm->jit && !ljs_word(w, vm, w->g + vm->jit_base, &base) &&
             ljs_plausible(w, vm, base)) {
    w->base = base; /* Leaving a trace. */
  } else if (!ljs_returned(w, vm, w->dx, w->luapc)) {
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
  }
  return 1;
}

/* No Lua frames have begun yet, or all have ended. Returns 0 then, having found
** the base of the C function's.
*/
static __always_inline int ljs_top_none(struct ljs_walk *w,
                                        const struct ljs_vm *vm)
{
  switch (LJS_VM_BX(w->how)) {
  case LJS_BX_LEAVE:
    w->base = w->dx - (w->luapc & ~7ull);
    break;
  case LJS_BX_MINUS:
    w->base = -w->luapc;
    break;
  case LJS_BX_BASE:
    w->base = w->luapc;
    break;
  case LJS_BX_LEFT:
    w->base = w->dx;
    break;
  case LJS_BX_ENTER:
  case LJS_BX_MAYBE:
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
    break;
  default:
    return 1;
  }
  if (!vm->gc64)
    w->base = (__u32)w->base;
  return 0;
}

/* The base of the Lua frame that runs, or of the one that rbx has a link of. */
static __always_inline void ljs_top_base(struct ljs_walk *w,
                                         const struct ljs_vm *vm)
{
  __u32 dx = LJS_VM_DX(w->how), bx = LJS_VM_BX(w->how);
  if (dx == LJS_DX_NONE && LJS_VM_BP(w->how) == LJS_BP_BASE)
    w->base = w->bp;
  else if (dx == LJS_DX_BASE ||
           (dx == LJS_DX_ANY && ((bx >= LJS_BX_START && bx <= LJS_BX_CONT) ||
                                 ljs_plausible(w, vm, w->dx))))
    w->base = w->dx;
  else
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
  if (!vm->gc64)
    w->base = (__u32)w->base;
}

/* Where the Lua frames begin if the sample is of the interpreter itself: BASE
** is in rdx, PC in rbx. Returns as ljs_top_guess.
*/
static __always_inline int ljs_top_exact(struct ljs_walk *w,
                                         const struct ljs_vm *vm)
{
  __u64 bx = w->luapc;
  if (LJS_VM_BX(w->how) == LJS_BX_ANY)
    return ljs_top_guess(w, vm);
  if (!ljs_top_none(w, vm))
    return 0;
  ljs_top_base(w, vm);
  w->luapc = 0;
  switch (LJS_VM_BX(w->how)) {
  case LJS_BX_PC:
    w->luapc = bx;
    break;
  case LJS_BX_NEXT:
    w->luapc = bx + 4;
    break;
  case LJS_BX_START:
    w->guess = LJS_GUESS_FIRST;
    w->altpc = 0;
    break;
  case LJS_BX_LINK:
    w->guess = LJS_GUESS_LAST;
    w->altpc = 0;
    w->altlink = bx;
    break;
  case LJS_BX_GONE:
    w->link = bx;
    break;
  case LJS_BX_SAVED:
    w->link = w->altpc;
    break;
  case LJS_BX_XLINK:
    w->link = bx ^ 1;
    break;
  case LJS_BX_SIZE:
    w->base -= bx & ~7ull;
    break;
  case LJS_BX_CONTB:
    w->base = vm->gc64 ? w->bp : (__u32)w->bp;
    w->link = bx | LJS_LINK_CONT;
    break;
  case LJS_BX_CONT:
    w->link = bx | LJS_LINK_CONT;
    break;
  default:
    break;
  }
  return 1;
}

/* Where the Lua frames begin if the VM has called a C function: that may have
** changed all registers but rbx and rbp. Returns as ljs_top_guess.
*/
static __always_inline int ljs_top_call(struct ljs_walk *w,
                                        const struct ljs_vm *vm)
{
  __u32 bp = LJS_VM_BP(w->how);
  if (!ljs_top_none(w, vm))
    return 0;
  if (LJS_VM_BX(w->how) == LJS_BX_LINK)
    w->altlink = w->luapc; /* Some write results to where the frame was. */
  if (bp == LJS_BP_BASE || (bp == LJS_BP_ANY && ljs_plausible(w, vm, w->bp)))
    w->base = w->bp; /* It is there while some C functions are called. */
  else
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
  return 1;
}

/* Where the Lua frames of the VM's frame at A begin. Returns 0 if it
** has none.
*/
static __always_inline int ljs_top(struct ljs_walk *w, const struct ljs_vm *vm,
                                   const struct ljs_state *st)
{
  ljs_cstack_word(w, vm, w->a + vm->save_pc, &w->altpc);
  w->luapc = w->bx; /* The interpreter keeps its PC in rbx. */
  if (!vm->gc64)
    w->luapc = (__u32)w->luapc;
  if (st)
    w->base = st->base;
  else if (w->anon)
    ljs_word(w, vm, w->l + vm->l_base, &w->base);
  else
    return w->exact ? ljs_top_exact(w, vm) : ljs_top_call(w, vm);
  return 1;
}

/* A is the VM's frame: enters the Lua stack, unless there is nothing on it. */
static __always_inline void ljs_enter(struct ljs_walk *w,
                                      const struct ljs_vm *vm,
                                      const struct ljs_state *st)
{
  __u32 nres = 0;
  int ontrace = 0, some = 1;
  w->skip = 0;
  w->link = w->altlink = 0;
  w->guess = LJS_GUESS_NONE;
  if (ljs_word(w, vm, w->l + vm->l_glref, &w->g) ||
      ljs_word(w, vm, w->l + vm->l_stack, &w->bottom) ||
      ljs_word(w, vm, w->l + vm->l_maxstack, &w->top) ||
      ljs_cstack32(w, w->a + vm->save_nres, &nres)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  w->bottom += vm->gc64 ? 16 : 8; /* Base of the frame that is none. */
  w->out.g = w->g;
  w->out.module = w->module;
  ontrace = ljs_trace(w, vm);
  if (w->anon && !ontrace) {
    ljs_native_frame(w);
    ljs_gap(w, LJS_CUT_NOMAP);
  }
  if (!ontrace)
    some = ljs_top(w, vm, st);
  if (!w->base) { /* Its walk has ended early. */
    ljs_leave(w, 0);
    return;
  }
  if (w->base < w->bottom || w->base > w->top) {
    w->bottom = 0; /* The stack is being moved: BASE is that of the old one. */
    w->top = ~0ull;
  }
  if ((__s32)nres < 0 ||
      !some) { /* Or a C function, called without a Lua frame. */
    ljs_leave(w, w->base);
    return;
  }
  w->mode = LJS_LUA;
}

/* The VM has called C to make its frame, or to take it down, and at rsp is none
** now: it is a frame of C.
*/
static __always_inline void ljs_no_frame(struct ljs_walk *w,
                                         const struct ljs_vm *vm)
{
  __u64 cfa = w->a + vm->frame;
  ljs_native_frame(w);
  if (ljs_cstack(w, cfa + vm->bp, &w->bp) ||
      ljs_cstack(w, cfa + vm->bx, &w->bx)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  ljs_return(w, cfa);
}

/* One place that may be the VM's frame. */
static __always_inline void ljs_step_scan(struct ljs_walk *w)
{
  struct ljs_module *m = ljs_find_module(w->module);
  const struct ljs_vm *vm;
  const struct ljs_state *st;
  __u64 cframe = 0;
  __u8 gct = 0;
  if (!m || !m->hasvm || w->places++ >= LJS_SCAN) {
    if (w->anon)
      ljs_native_frame(w);
    ljs_cut(w, w->anon ? LJS_CUT_NOMAP : LJS_CUT_VM);
    return;
  }
  vm = &m->vm;
  if (ljs_cstack_word(w, vm, w->a + vm->save_l, &w->l)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  if (w->l > 4096 && !(w->l & 7) && !(w->l >> 47)) {
    st = ljs_find_state(w, w->l);
    if (st)
      cframe = st->cframe;
    else if (ljs_peek(w, w->l + vm->l_cframe, &cframe))
      cframe = 0;
    if ((cframe & ~3ull) == w->a && !ljs_peek8(w, w->l + vm->l_gct, &gct) &&
        gct == LJS_GCT_THREAD) {
      ljs_enter(w, vm, st);
      return;
    }
  }
  if (LJS_VM_BX(w->how) == LJS_BX_MAYBE)
    ljs_no_frame(w, vm);
  else
    w->a += 16;
}

#endif

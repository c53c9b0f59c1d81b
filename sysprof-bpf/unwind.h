/*
** The unwinder: from the registers of a thread to its mixed stack, one frame a
** step. It is compiled twice: into the BPF program, and into tests that run it
** in user space over a frozen process.
**
** Who includes this file provides, before:
**   static int ljs_read(void *dst, __u32 n, __u64 addr)    0: done
**   static struct ljs_module *ljs_find_module(__u32 module)
**   static struct ljs_map *ljs_find_map(const struct ljs_walk *, __u64 pc)
**   static struct ljs_row *ljs_find_row(const struct ljs_map *, __u64 pc)
** The last three answer NULL if there is none. The first two are needed before
** this file is included, the others may follow.
**
** How the C stack and the Lua stacks are put into one order: each entry into
** the VM has a frame on the C stack, which holds the coroutine it runs, L.
** L->cframe is the newest such frame of L, each frame has a link to the one
** before. So a word on the C stack is the saved L of the frame at A if and only
** if it points to something whose chain of C frames has A next. Nothing else
** needs to be known of what the VM does right now: helper routines with their
** stack off by some words, traces, their exits and garbage collection all find
** A by looking upwards from rsp. The Lua frames of A are those down to the
** first one that was called from C.
*/

#ifndef LJS_UNWIND_H
#define LJS_UNWIND_H

#include "ljs.h"

/* -- State ---------------------------------------------------------------- */

#define LJS_SCAN      512 /* Places above rsp, 16 bytes apart, to look at. */
#define LJS_STEPS     4096
#define LJS_FRAME_MAX (LJS_MAX_FRAMES - 1)

enum { LJS_NATIVE, LJS_SCANNING, LJS_LUA, LJS_DONE };

/* A coroutine that has been met on the way: where its walk goes on. */
struct ljs_state {
  __u64 l;
  __u64 cframe; /* Its next C frame, */
  __u64 base;   /* and the base of the Lua frame to begin with; 0: lost. */
};

struct ljs_walk {
  /* The native frame to look at. */
  __u64 pc, sp, bp, bx;
  __u64 dx;    /* Where BASE may be; 0: not known. */
  __u32 exact; /* pc is not a return address. */
  __u32 mode;
  /* What all samples of a run have in common. */
  __u32 nokernel, nonative, nolua; /* Frames that are not wanted. */
  __u32 maxnative, maxlua;
  __u32 nnative;
  __u32 nvm, vm;      /* Modules with a VM in the process, and the first one. */
  struct ljs_map map; /* The last one that was found. */
  /* The VM's frame to look at. */
  __u32 module;
  __u32 anon;   /* Reached from code that was made at run time. */
  __u32 how;    /* What registers meant there: LJS_VM(). */
  __u32 places; /* Looked at for A. */
  __u32 skip;   /* The next Lua frame is that of a vararg function, again. */
  __u32 making; /* It may be one that C is about to call back. */
  __u64 a, l, g;
  __u64 base, bottom, top; /* Of the Lua stack: a frame, both ends. */
  __u64 luapc;             /* Where the frame is, if it is a Lua function's. */
  __u64 altpc;             /* Or here. */
  __u64 link;              /* Of the frame at base, which is not there; */
  __u64 altlink;           /* or if it turns out to be none. */
  __u32 guess;             /* Else it is at the function's LJS_GUESS_*. */
  __u64 lastfunc;          /* What is known of the last function. */
  __u64 lastproto, lastbc;
  __u32 lastsize;
  __u16 lastcheck;
  __u32 nstate;
  struct ljs_state state[LJS_MAX_STATES];
  __u8 buf[128];
  struct ljs_stack out;
};

static __always_inline struct ljs_map *ljs_find_map(const struct ljs_walk *w,
                                                    __u64 pc);
static __always_inline struct ljs_row *ljs_find_row(const struct ljs_map *map,
                                                    __u64 pc);

/* -- Pushing frames ------------------------------------------------------- */

static __always_inline void ljs_push_fn(struct ljs_walk *w, __u64 addr, __u32 x,
                                        __u16 check, __u8 kind, __u8 flags,
                                        __u64 fn)
{
  __u32 n = w->out.nframes;
  struct ljs_frame *f;
  if (n >= LJS_FRAME_MAX)
    return;
  f = &w->out.frame[n];
  f->addr = addr;
  f->fn = fn;
  f->x = x;
  f->check = check;
  f->kind = kind;
  f->flags = flags;
  w->out.nframes = n + 1;
  w->out.key = ljs_mix(ljs_mix(w->out.key, addr),
                       (__u64)x << 32 | (__u32)check << 16 | kind << 8 | flags);
}

static __always_inline void ljs_push(struct ljs_walk *w, __u64 addr, __u32 x,
                                     __u16 check, __u8 kind, __u8 flags)
{
  ljs_push_fn(w, addr, x, check, kind, flags, 0);
}

/* Something is missing here, but the walk goes on. */
static __always_inline void ljs_gap(struct ljs_walk *w, __u32 why)
{
  ljs_push(w, 0, why, 0, LJS_FRAME_MARK, 0);
  if (!w->out.cut)
    w->out.cut = why;
}

/* Something is missing here, and so is all that is behind it. */
static __always_inline void ljs_cut(struct ljs_walk *w, __u32 why)
{
  ljs_gap(w, why);
  w->mode = LJS_DONE;
}

/* -- Reading words of the VM ---------------------------------------------- */

/* A word of the VM: 8 bytes, or 4. */
static __always_inline int ljs_word(const struct ljs_vm *vm, __u64 addr,
                                    __u64 *v)
{
  *v = 0;
  return ljs_read(v, vm->gc64 ? 8 : 4, addr);
}

/* Fields of what was read into w->buf. */
static __always_inline __u32 ljs_field32(const struct ljs_walk *w, __u32 ofs)
{
  return *(const __u32 *)(w->buf + (ofs & 124));
}

static __always_inline __u64 ljs_fieldword(const struct ljs_walk *w,
                                           const struct ljs_vm *vm, __u32 ofs)
{
  if (vm->gc64)
    return *(const __u64 *)(w->buf + (ofs & 120));
  return ljs_field32(w, ofs);
}

#define LJS_GCT_FUNC   8 /* ~LJ_TFUNC, ~LJ_TTHREAD: as in gct. */
#define LJS_GCT_THREAD 6

/* -- Native frames -------------------------------------------------------- */

/* The caller's register: at an offset from the CFA or from rbp, or as it is. */
static __always_inline int ljs_restore(__u64 *reg, __u8 how, __s16 ofs,
                                       __u64 cfa, __u64 bp)
{
  if (how == LJS_REG_CFA || how == LJS_REG_BP)
    return ljs_read(reg, 8, (how == LJS_REG_CFA ? cfa : bp) + ofs);
  if (how == LJS_REG_LOST)
    *reg = 0;
  return 0;
}

/* Goes up to who called the function whose frame begins at CFA. */
static __always_inline void ljs_return(struct ljs_walk *w, __u64 cfa)
{
  if (ljs_read(&w->pc, 8, cfa - 8) || !w->pc) {
    if (w->pc)
      ljs_cut(w, LJS_CUT_MEMORY);
    w->mode = LJS_DONE; /* A return address of 0 ends a stack, too. */
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
  if (ljs_read(&w->bp, 8, uc + LJS_UC_RBP) ||
      ljs_read(&w->bx, 8, uc + LJS_UC_RBX) ||
      ljs_read(&w->dx, 8, uc + LJS_UC_RDX) ||
      ljs_read(&w->sp, 8, uc + LJS_UC_RSP) ||
      ljs_read(&w->pc, 8, uc + LJS_UC_RIP))
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
static __always_inline void ljs_lost(struct ljs_walk *w, __u32 why)
{
  if (!w->nvm || w->out.nframes + 2 >= LJS_FRAME_MAX) {
    ljs_cut(w, why);
    return;
  }
  ljs_gap(w, why);
  ljs_scan(w, w->vm, 0, 0);
}

static __always_inline void ljs_native_frame(struct ljs_walk *w)
{
  if (w->nonative)
    return;
  ljs_push(w, w->pc, 0, 0, LJS_FRAME_NATIVE, w->exact ? 0 : LJS_FLAG_RETURN);
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
    if (ljs_read(&cfa, 8, w->bp + row->cfa)) {
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
  default:
    ljs_lost(w, LJS_CUT_NOROW);
    return;
  }
  if (cfa <= w->sp) { /* Stacks grow one way. */
    ljs_lost(w, LJS_CUT_NOROW);
    return;
  }
  if (ljs_restore(&w->bp, row->bphow, row->bp, cfa, bp) ||
      ljs_restore(&w->bx, row->bxhow, row->bx, cfa, bp)) {
    ljs_lost(w, LJS_CUT_MEMORY);
    return;
  }
  ljs_return(w, cfa);
}

/* Is PC in a mapping? Callers are in the one of the function that they called,
** more often than not.
*/
static __always_inline int ljs_in_map(struct ljs_walk *w, __u64 pc)
{
  const struct ljs_map *map;
  if (pc >= w->map.start && pc < w->map.end)
    return 1;
  map = ljs_find_map(w, pc);
  if (!map)
    return 0;
  w->map = *map;
  return 1;
}

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
  if (!ljs_in_map(w, pc)) { /* Perhaps a trace. */
    if (w->nvm) {
      ljs_scan(w, w->vm, 1, 0);
    } else {
      ljs_native_frame(w);
      ljs_cut(w, LJS_CUT_NOMAP);
    }
    return;
  }
  row = ljs_find_row(&w->map, pc);
  if (row && row->how == LJS_CFA_VM) {
    ljs_scan(w, w->map.module, 0, (__u32)row->cfa);
    return;
  }
  ljs_native_frame(w);
  if (row)
    ljs_unwind(w, row);
  else
    ljs_lost(w, LJS_CUT_NOROW);
}

/* -- Finding the VM's frame ----------------------------------------------- */

static __always_inline struct ljs_state *ljs_find_state(struct ljs_walk *w,
                                                        __u64 l)
{
  __u32 i;
  for (i = 0; i < LJS_MAX_STATES; i++)
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

/* Goes on behind the VM's frame on the C stack. */
static __always_inline void ljs_leave(struct ljs_walk *w,
                                      const struct ljs_vm *vm, __u64 base)
{
  __u64 cframe, cfa = w->a + vm->frame;
  if (ljs_read(&cframe, 8, w->a + vm->save_cframe) ||
      ljs_read(&w->bp, 8, cfa + vm->bp) || ljs_read(&w->bx, 8, cfa + vm->bx)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  ljs_save_state(w, base, cframe);
  ljs_return(w, cfa);
}

/* Is BASE, with PC, where the Lua function there says that it can be? */
static __always_inline int ljs_plausible(const struct ljs_walk *w,
                                         const struct ljs_vm *vm, __u64 base)
{
  __u64 func;
  __u8 gct;
  if (base <= w->bottom || base >= w->top || (base & 7))
    return 0;
  if (vm->gc64) {
    if (ljs_read(&func, 8, base - 16) ||
        (__s64)func >> 47 != ~(__s64)LJS_GCT_FUNC)
      return 0;
    func &= (1ull << 47) - 1;
  } else if (ljs_word(vm, base - 8, &func)) {
    return 0;
  }
  return !ljs_read(&gct, 1, func + vm->fn_ffid - 1) && gct == LJS_GCT_FUNC;
}

/* The trace that runs, whose machine code has PC. Answers 0 if there is none.
 */
static __always_inline int ljs_trace_frame(struct ljs_walk *w,
                                           const struct ljs_vm *vm, __u64 pc,
                                           __u8 flags)
{
  __u64 traces = 0, t = 0, mcode, check;
  __s32 vmstate = 0;
  __u32 size;
  if (ljs_read(&vmstate, 4, w->g + vm->vmstate) || vmstate <= 0 ||
      ljs_word(vm, w->g + vm->trace, &traces) ||
      ljs_word(vm, traces + (__u64)vmstate * (vm->gc64 ? 8 : 4), &t) || !t ||
      ljs_read(w->buf, sizeof(w->buf), t))
    return 0;
  /* mcode is a pointer of the machine's, whatever the VM's are. */
  mcode = *(__u64 *)(w->buf + (vm->t_mcode & 120));
  size = ljs_field32(w, vm->t_szmcode);
  if (pc - mcode > size)
    return 0;
  check = ljs_check_trace(mcode, size, ljs_fieldword(w, vm, vm->t_startpt),
                          ljs_fieldword(w, vm, vm->t_startpc),
                          ljs_field32(w, vm->t_nins));
  if (!w->nolua)
    ljs_push(w, t, (__u32)(pc - mcode), LJS_CHECK(check), LJS_FRAME_TRACE,
             flags);
  return 1;
}

/* Is this on a trace? Then tells which one, and where its frames begin. */
static __always_inline int ljs_trace(struct ljs_walk *w,
                                     const struct ljs_vm *vm)
{
  __u64 base = 0, ret = 0;
  if (!vm->jit || ljs_word(vm, w->g + vm->jit_base, &base) || !base)
    return 0;
  if (w->anon) {
    __u8 flags = w->exact ? 0 : LJS_FLAG_RETURN;
    if (!ljs_trace_frame(w, vm, w->pc, flags) && !w->nolua)
      ljs_push(w, w->pc, 0, 0, LJS_FRAME_JIT, flags);
  } else if (!w->exact || ljs_read(&ret, 8, w->sp) ||
             !ljs_trace_frame(w, vm, ret, LJS_FLAG_RETURN)) {
    return 0; /* Else a trace has called one of the VM's helpers. */
  }
  w->base = base;
  w->luapc = w->altpc = 0;
  w->out.nlua++;
  w->skip = 1; /* The function at jit_base is part of that. */
  return 1;
}

/* Where a function is if no PC tells. */
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
  __u32 ins;
  if (dx <= w->bottom || dx >= w->top || (pc & 3) || ljs_read(&ins, 4, pc - 4))
    return 0;
  w->base = dx - (((ins >> 8) & 255) + (vm->gc64 ? 2 : 1)) * 8ull;
  return ljs_plausible(w, vm, w->base);
}

/* Where the Lua frames begin if it is not certain what registers mean. Answers
** 0 if none has begun yet, or all have ended.
*/
static __always_inline int ljs_top_guess(struct ljs_walk *w,
                                         const struct ljs_vm *vm)
{
  __u64 base = 0;
  if (w->luapc < LJS_LINK_MAX && (w->luapc & 3) <= LJS_LINK_C) {
    /* A link to C: a call from there or a return to there is under way. */
    ljs_word(vm, w->l + vm->l_base, &w->base);
    return 0;
  }
  if ((w->luapc & 7) == LJS_LINK_VARG) /* Its upper half has returned. */
    w->guess = LJS_GUESS_LAST;
  if (LJS_VM_DX(w->how) == LJS_DX_NONE) {
    if (LJS_VM_BP(w->how) == LJS_BP_BASE)
      w->base = w->bp;
    else
      ljs_word(vm, w->l + vm->l_base, &w->base);
  } else if (ljs_plausible(w, vm, w->dx)) {
    w->base = w->dx;
  } else if (vm->jit && !ljs_word(vm, w->g + vm->jit_base, &base) &&
             ljs_plausible(w, vm, base)) {
    w->base = base; /* Leaving a trace. */
  } else if (!ljs_returned(w, vm, w->dx, w->luapc)) {
    ljs_word(vm, w->l + vm->l_base, &w->base);
  }
  return 1;
}

/* No Lua frames have begun yet, or all have ended. Answers 0 then, having found
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
    ljs_word(vm, w->l + vm->l_base, &w->base);
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
    ljs_word(vm, w->l + vm->l_base, &w->base);
  if (!vm->gc64)
    w->base = (__u32)w->base;
}

/* Where the Lua frames begin if the sample is of the interpreter itself: BASE
** is in rdx, PC in rbx. Answers as ljs_top_guess.
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
** changed all registers but rbx and rbp. Answers as ljs_top_guess.
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
    ljs_word(vm, w->l + vm->l_base, &w->base);
  return 1;
}

/* Where the Lua frames of the VM's frame at A begin. Answers 0 if it has none.
 */
static __always_inline int ljs_top(struct ljs_walk *w, const struct ljs_vm *vm,
                                   const struct ljs_state *st)
{
  ljs_word(vm, w->a + vm->save_pc, &w->altpc);
  w->luapc = w->bx; /* The interpreter keeps its PC in rbx. */
  if (!vm->gc64)
    w->luapc = (__u32)w->luapc;
  if (st)
    w->base = st->base;
  else if (w->anon)
    ljs_word(vm, w->l + vm->l_base, &w->base);
  else
    return w->exact ? ljs_top_exact(w, vm) : ljs_top_call(w, vm);
  return 1;
}

/* A is the VM's frame: enters the Lua stack, unless there is nothing on it. */
static __always_inline void ljs_enter(struct ljs_walk *w,
                                      const struct ljs_vm *vm,
                                      const struct ljs_state *st)
{
  __s32 nres = 0;
  int ontrace = 0, some = 1;
  w->skip = 0;
  w->link = w->altlink = 0;
  w->guess = LJS_GUESS_NONE;
  if (ljs_word(vm, w->l + vm->l_glref, &w->g) ||
      ljs_word(vm, w->l + vm->l_stack, &w->bottom) ||
      ljs_word(vm, w->l + vm->l_maxstack, &w->top) ||
      ljs_read(&nres, 4, w->a + vm->save_nres)) {
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
    ljs_leave(w, vm, 0);
    return;
  }
  if (w->base < w->bottom || w->base > w->top) {
    w->bottom = 0; /* The stack is being moved: BASE is that of the old one. */
    w->top = ~0ull;
  }
  if (nres < 0 || !some) { /* Or a C function, called without a Lua frame. */
    ljs_leave(w, vm, w->base);
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
  if (ljs_read(&w->bp, 8, cfa + vm->bp) || ljs_read(&w->bx, 8, cfa + vm->bx)) {
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
  if (ljs_word(vm, w->a + vm->save_l, &w->l)) {
    ljs_cut(w, LJS_CUT_MEMORY);
    return;
  }
  if (w->l > 4096 && !(w->l & 7) && !(w->l >> 47)) {
    st = ljs_find_state(w, w->l);
    if (st)
      cframe = st->cframe;
    else if (ljs_read(&cframe, 8, w->l + vm->l_cframe))
      cframe = 0;
    if ((cframe & ~3ull) == w->a && !ljs_read(&gct, 1, w->l + vm->l_gct) &&
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

/* -- Lua frames ----------------------------------------------------------- */

/* Learns of the function at FUNC. Answers 1 for a Lua function, 0 for C, and
** -1 for what is none.
*/
static __always_inline int ljs_function(struct ljs_walk *w,
                                        const struct ljs_vm *vm, __u64 func,
                                        __u64 *f, __u32 *ffid)
{
  __u64 pc;
  if (func && func == w->lastfunc)
    return 1;
  /* Not a byte more than a small function has: memory may end behind it. */
  if (ljs_read(w->buf, vm->gc64 ? 40 : 24, func) ||
      w->buf[(vm->fn_ffid - 1) & 63] != LJS_GCT_FUNC)
    return -1;
  *ffid = w->buf[vm->fn_ffid & 63];
  if (*ffid) /* A C pointer, whatever the VM's are. */
    return ljs_read(f, 8, func + vm->fn_f) ? -1 : 0;
  pc = ljs_fieldword(w, vm, vm->fn_pc);
  if (ljs_read(w->buf, sizeof(w->buf), pc - vm->pt_size))
    return -1;
  w->lastfunc = func;
  w->lastproto = pc - vm->pt_size;
  w->lastbc = pc;
  w->lastsize = ljs_field32(w, vm->pt_sizebc);
  w->lastcheck =
      LJS_CHECK(ljs_check_proto(ljs_fieldword(w, vm, vm->pt_chunkname),
                                ljs_field32(w, vm->pt_firstline), w->lastsize));
  return 1;
}

/* The number of the instruction before PC in the last function; or -1. Bit 0 is
** set while calls are counted.
*/
static __always_inline __u32 ljs_bcindex(const struct ljs_walk *w, __u64 pc)
{
  __u64 n = (pc - w->lastbc) >> 2;
  return pc > w->lastbc && n && n <= w->lastsize && !(pc & 2) ? (__u32)n - 1
                                                              : ~(__u32)0;
}

static __always_inline void ljs_lua_frame(struct ljs_walk *w, __u64 func)
{
  __u32 x = ljs_bcindex(w, w->luapc), guess = w->guess;
  __u8 flags = 0;
  w->guess = LJS_GUESS_NONE;
  if (x == ~(__u32)0)
    x = ljs_bcindex(w, w->altpc);
  if (x == ~(__u32)0 && guess == LJS_GUESS_FIRST) {
    x = 0;
  } else if (x == ~(__u32)0) {
    flags = LJS_FLAG_NOPC;
    if (guess == LJS_GUESS_LAST)
      x = w->lastsize - 1; /* It returns; most have one place for that. */
  }
  ljs_push_fn(w, w->lastproto, x, w->lastcheck, LJS_FRAME_LUA, flags, func);
}

/* Is the frame at w->base, with that link, of what C calls through the FFI? */
static __always_inline int ljs_called_back(struct ljs_walk *w,
                                           const struct ljs_vm *vm, __u64 link)
{
  __u64 cont = 0;
  return (link & 7) == LJS_LINK_CONT &&
         !ljs_word(vm, w->base - (vm->gc64 ? 32 : 16), &cont) && cont == 1;
}

/* FUNC is at the base of the trace whose frame was the last one. */
static __always_inline void ljs_trace_fn(struct ljs_walk *w, __u64 func)
{
  __u32 n = w->out.nframes - 1;
  if (n < LJS_FRAME_MAX && (w->out.frame[n].kind == LJS_FRAME_TRACE ||
                            w->out.frame[n].kind == LJS_FRAME_JIT))
    w->out.frame[n].fn = func;
}

/* Follows the link of the frame at w->base. */
static __always_inline void ljs_follow(struct ljs_walk *w,
                                       const struct ljs_vm *vm, __u64 link)
{
  __u64 cont = 0, delta = link & ~7ull;
  __u32 ins = 0;
  w->luapc = w->altpc = 0;
  switch (link & 3) {
  case LJS_LINK_LUA:
    if (ljs_read(&ins, 4, link - 4)) {
      ljs_leave(w, vm, 0);
      return;
    }
    w->luapc = link;
    w->base -= (((ins >> 8) & 255) + (vm->gc64 ? 2 : 1)) * 8ull;
    return;
  case LJS_LINK_C:
    ljs_leave(w, vm, w->base - delta);
    return;
  case LJS_LINK_CONT:
    if ((link & 7) == LJS_LINK_CONT) { /* Else a protected call. */
      if (vm->gc64) {
        if (ljs_read(&cont, 8, w->base - 32) ||
            ljs_read(&w->luapc, 8, w->base - 24))
          cont = 1;
      } else {
        if (ljs_word(vm, w->base - 16, &cont) ||
            ljs_word(vm, w->base - 12, &w->luapc))
          cont = 1;
      }
      if (cont == 1) { /* Called from C, through the FFI. */
        ljs_leave(w, vm, w->base - delta);
        return;
      }
    }
    break;
  default:
    w->skip = 1; /* The same function, as it was called. */
    break;
  }
  if (!delta)
    w->base = 0; /* Makes no sense: ends the walk. */
  else
    w->base -= delta;
}

/* One Lua frame. */
static __always_inline void ljs_step_lua(struct ljs_walk *w)
{
  struct ljs_module *m = ljs_find_module(w->module);
  const struct ljs_vm *vm;
  __u64 slot[2] = {0, 0}, func, link, altlink, f = 0;
  __u32 ffid = 0;
  int kind;
  if (!m) {
    ljs_cut(w, LJS_CUT_VM);
    return;
  }
  vm = &m->vm;
  if (w->base <= w->bottom) { /* The first function has no caller. */
    if (w->base != w->bottom)
      ljs_gap(w, LJS_CUT_VM);
    ljs_leave(w, vm, 0);
    return;
  }
  if (w->link) {
    __u64 saved = w->link;
    w->link = 0;
    ljs_follow(w, vm, saved);
    return;
  }
  if (w->base > w->top || ljs_read(slot, 16, w->base - 16)) {
    ljs_gap(w, LJS_CUT_VM);
    ljs_leave(w, vm, 0);
    return;
  }
  if (vm->gc64) {
    func = slot[0] & ((1ull << 47) - 1);
    link = slot[1];
  } else {
    func = (__u32)slot[1];
    link = slot[1] >> 32;
  }
  if (func == w->l) { /* The bottom of a stack that is being moved. */
    ljs_leave(w, vm, 0);
    return;
  }
  if (w->making) { /* The C stack does not have it yet, or no more. */
    w->making = 0;
    if (ljs_called_back(w, vm, link)) {
      w->base -= link & ~7ull;
      return;
    }
  }
  if (vm->gc64 && (__s64)slot[0] >> 47 != ~(__s64)LJS_GCT_FUNC)
    kind = -1;
  else
    kind = ljs_function(w, vm, func, &f, &ffid);
  altlink = w->altlink;
  w->altlink = 0;
  if (kind < 0 && altlink) {
    ljs_follow(w, vm, altlink);
    return;
  }
  if (kind < 0) {
    /* The lowest words of a stack that is being moved are the first to go: they
    ** had a C function that the C stack has, too.
    */
    if (w->bottom)
      ljs_gap(w, LJS_CUT_VM);
    ljs_leave(w, vm, 0);
    return;
  }
  if (w->skip) {
    w->skip = 0;
    if (kind)
      ljs_trace_fn(w, func);
  } else if (w->out.nlua >= w->maxlua) {
    ljs_gap(w, LJS_CUT_LUA);
    ljs_leave(w, vm, 0);
    return;
  } else {
    w->out.nlua++;
    if (!w->nolua) {
      if (kind)
        ljs_lua_frame(w, func);
      else
        ljs_push_fn(w, f, ffid, 0, LJS_FRAME_BUILTIN, 0, func);
    }
  }
  ljs_follow(w, vm, link);
}

/* -- All ------------------------------------------------------------------ */

/* A new walk. The caller sets the registers, what is wanted, and the process's
** VMs.
*/
static __always_inline void ljs_begin(struct ljs_walk *w)
{
  __u32 i;
  w->out.key = 0;
  w->out.g = 0;
  w->out.module = 0;
  w->out.cut = LJS_CUT_NOT;
  w->out.nframes = 0;
  w->out.nlua = 0;
  w->nnative = 0;
  w->lastfunc = 0;
  w->making = 0;
  w->nstate = 0;
  for (i = 0; i < LJS_MAX_STATES; i++)
    w->state[i].l = 0;
  w->map.start = w->map.end = 0;
  w->exact = 1;
  w->mode = LJS_NATIVE;
}

/* One step. Answers 1 when it was the last one. */
static __always_inline int ljs_step(struct ljs_walk *w)
{
  switch (w->mode) {
  case LJS_NATIVE:
    ljs_step_native(w);
    break;
  case LJS_SCANNING:
    ljs_step_scan(w);
    break;
  case LJS_LUA:
    ljs_step_lua(w);
    break;
  default:
    return 1;
  }
  return w->mode == LJS_DONE;
}

#endif

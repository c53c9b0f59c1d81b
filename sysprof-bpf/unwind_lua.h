/*
** The unwinder's steps on a Lua stack. Part of unwind.h.
*/

#ifndef LJS_UNWIND_LUA_H
#define LJS_UNWIND_LUA_H

/* The place of a function among those that were met. */
static __always_inline struct ljs_seen *ljs_seen(struct ljs_walk *w, __u64 func)
{
  return &w->seen[(func >> 4 ^ func >> 8) % LJS_SEEN];
}

/* Learns of the function at FUNC. Answers 1 for a Lua function, 0 for C, and
** -1 for what is none.
*/
static __always_inline int ljs_function(struct ljs_walk *w,
                                        const struct ljs_vm *vm, __u64 func,
                                        __u64 *f, __u32 *ffid)
{
  struct ljs_seen *fn = ljs_seen(w, func);
  __u64 pc;
  if (func && func == fn->func)
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
  fn->func = func;
  fn->proto = pc - vm->pt_size;
  fn->bc = pc;
  fn->size = ljs_field32(w, vm->pt_sizebc);
  fn->check =
      LJS_CHECK(ljs_check_proto(ljs_fieldword(w, vm, vm->pt_chunkname),
                                ljs_field32(w, vm->pt_firstline), fn->size));
  return 1;
}

/* The number of the instruction before PC in a function; or -1. Bit 0 is set
** while calls are counted.
*/
static __always_inline __u32 ljs_bcindex(const struct ljs_seen *fn, __u64 pc)
{
  __u64 n = (pc - fn->bc) >> 2;
  return pc > fn->bc && n && n <= fn->size && !(pc & 2) ? (__u32)n - 1
                                                        : ~(__u32)0;
}

/* FUNC is what ljs_function() has answered 1 for. */
static __always_inline void ljs_lua_frame(struct ljs_walk *w, __u64 func)
{
  const struct ljs_seen *fn = ljs_seen(w, func);
  __u32 x = ljs_bcindex(fn, w->luapc), guess = w->guess;
  __u8 flags = 0;
  w->guess = LJS_GUESS_NONE;
  if (x == ~(__u32)0)
    x = ljs_bcindex(fn, w->altpc);
  if (x == ~(__u32)0 && guess == LJS_GUESS_FIRST) {
    x = 0;
  } else if (x == ~(__u32)0) {
    flags = LJS_FLAG_NOPC;
    if (guess == LJS_GUESS_LAST)
      x = fn->size - 1; /* It returns; most have one place for that. */
  }
  ljs_push_fn(w, fn->proto, x, (__u16)fn->check, LJS_FRAME_LUA, flags, func);
}

/* The two slots below BASE, if they are in the block. */
static __always_inline int ljs_slots_read(const struct ljs_walk *w, __u64 base,
                                          __u64 slot[2])
{
  return ljs_in_block(&w->words, base - 16, &slot[0]) ||
         ljs_in_block(&w->words, base - 8, &slot[1]);
}

/* The two slots below BASE. Lua stacks are walked downwards. */
static __always_inline int ljs_slots(struct ljs_walk *w, __u64 base,
                                     __u64 slot[2])
{
  __u64 from = base - sizeof(w->words.word), low = w->bottom - 16;
  if (!ljs_slots_read(w, base, slot))
    return 0;
  if (from < low) /* The stack's memory begins there. */
    from = low;
  if (w->bottom && !ljs_fill(&w->words, from) && !ljs_slots_read(w, base, slot))
    return 0;
  return ljs_read(slot, 16, base - 16);
}

/* What two slots say: the function of a frame, its link, and whether it can be
** a function at all.
*/
static __always_inline __u64 ljs_slot_func(const struct ljs_vm *vm,
                                           const __u64 slot[2])
{
  return vm->gc64 ? slot[0] & ((1ull << 47) - 1) : (__u32)slot[1];
}

static __always_inline __u64 ljs_slot_link(const struct ljs_vm *vm,
                                           const __u64 slot[2])
{
  return vm->gc64 ? slot[1] : slot[1] >> 32;
}

static __always_inline int ljs_is_func(const struct ljs_vm *vm,
                                       const __u64 slot[2])
{
  return !vm->gc64 || (__s64)slot[0] >> 47 == ~(__s64)LJS_GCT_FUNC;
}

/* The place of a call among those that were met. */
static __always_inline struct ljs_call *ljs_call(struct ljs_walk *w, __u64 pc)
{
  return &w->call[(pc >> 2 ^ pc >> 6) % LJS_SEEN];
}

/* Operand A of the instruction before PC. */
static __always_inline int ljs_call_a(struct ljs_walk *w, __u64 pc, __u64 *a)
{
  struct ljs_call *call = ljs_call(w, pc);
  __u32 ins = 0;
  if (!pc || call->pc != pc) {
    if (ljs_read(&ins, 4, pc - 4))
      return -1;
    call->pc = pc;
    call->a = (ins >> 8) & 255;
  }
  *a = call->a;
  return 0;
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
  __u64 cont = 0, delta = link & ~7ull, a;
  w->luapc = w->altpc = 0;
  switch (link & 3) {
  case LJS_LINK_LUA:
    if (ljs_call_a(w, link, &a)) {
      ljs_leave(w, vm, 0);
      return;
    }
    w->luapc = link;
    w->base -= (a + (vm->gc64 ? 2 : 1)) * 8;
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

#define LJS_AT_ONCE 16

/* The frame at w->base if that is all there is to it: a function that was met,
** called from a place that was met. Answers 0 if it is anything else.
*/
static __always_inline int ljs_met(struct ljs_walk *w, const struct ljs_vm *vm)
{
  __u64 slot[2], func, link;
  const struct ljs_seen *fn;
  const struct ljs_call *call;
  __u32 x;
  if (w->base <= w->bottom || w->base > w->top ||
      ljs_slots_read(w, w->base, slot))
    return 0;
  func = ljs_slot_func(vm, slot);
  link = ljs_slot_link(vm, slot);
  fn = ljs_seen(w, func);
  call = ljs_call(w, link);
  x = ljs_bcindex(fn, w->luapc);
  if (!func || func != fn->func || !ljs_is_func(vm, slot) || !link ||
      link != call->pc || (link & 3) != LJS_LINK_LUA || x == ~(__u32)0)
    return 0;
  w->out.nlua++;
  if (!w->nolua)
    ljs_push_fn(w, fn->proto, x, (__u16)fn->check, LJS_FRAME_LUA, 0, func);
  w->luapc = link;
  w->base -= (call->a + (vm->gc64 ? 2 : 1)) * 8;
  return 1;
}

/* Such frames, some at once: deep stacks are full of them. */
static __always_inline int ljs_many_met(struct ljs_walk *w,
                                        const struct ljs_vm *vm)
{
  __u32 i;
  if (w->link || w->altlink || w->altpc || w->guess || w->skip || w->making)
    return 0;
  for (i = 0; i < LJS_AT_ONCE; i++)
    if (w->out.nlua >= w->maxlua || !ljs_met(w, vm))
      break;
  return i > 0;
}

/* One Lua frame, or some. */
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
  if (ljs_many_met(w, vm))
    return;
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
  if (w->base > w->top || ljs_slots(w, w->base, slot)) {
    ljs_gap(w, LJS_CUT_VM);
    ljs_leave(w, vm, 0);
    return;
  }
  func = ljs_slot_func(vm, slot);
  link = ljs_slot_link(vm, slot);
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
  if (!ljs_is_func(vm, slot))
    kind = -1;
  else
    kind = ljs_function(w, vm, func, &f, &ffid);
  altlink = w->altlink;
  w->altlink = 0;
  if (kind < 0 && altlink) {
    ljs_follow(w, vm, altlink);
    return;
  }
  if (altlink && !w->exact && !vm->gc64)
    link = altlink; /* A result's tag may be where it was. */
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

#endif

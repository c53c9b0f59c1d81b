/*
** The unwinder's steps on a Lua stack.
*/

#ifndef LJS_UNWIND_LUA_H
#define LJS_UNWIND_LUA_H

#include "unwind.h"
#include "unwind_read.h"
#include "unwind_vm.h"

/* The place of a function among those that were met. */
static __always_inline struct ljs_seen *ljs_seen(struct ljs_walk *w, __u64 func)
{
  return &w->seen[(func >> 4 ^ func >> 8) % LJS_SEEN];
}

/* Whether that place has the function at FUNC, read in this walk. */
static __always_inline int ljs_met_func(const struct ljs_walk *w,
                                        const struct ljs_seen *fn, __u64 func)
{
  return func == fn->func && w->walk == fn->walk;
}

/* Reads the function at FUNC. Returns 1 for a Lua function, which is kept among
** those that were met; 0 for a C function, with *F and *FFID; -1 if it is none.
*/
static __always_inline int ljs_function(struct ljs_walk *w,
                                        const struct ljs_vm *vm, __u64 func,
                                        __u64 *f, __u32 *ffid)
{
  struct ljs_seen *fn = ljs_seen(w, func);
  __u64 pc, proto, chunk;
  __u32 size, line;
  __u8 gct, id;
  if (ljs_met_func(w, fn, func))
    return 1;
  if (ljs_peek8(w, func + vm->fn_ffid - 1, &gct) || gct != LJS_GCT_FUNC ||
      ljs_peek8(w, func + vm->fn_ffid, &id))
    return -1;
  *ffid = id;
  if (id) /* A C pointer, whatever the VM's are. */
    return ljs_peek(w, func + vm->fn_f, f) ? -1 : 0;
  if (ljs_word(w, vm, func + vm->fn_pc, &pc))
    return -1;
  proto = pc - vm->pt_size;
  if (ljs_peek32(w, proto + vm->pt_sizebc, &size) ||
      ljs_peek32(w, proto + vm->pt_firstline, &line) ||
      ljs_word(w, vm, proto + vm->pt_chunkname, &chunk))
    return -1;
  fn->func = func;
  fn->walk = w->walk;
  fn->bc = pc;
  fn->size = size;
  fn->check = LJS_CHECK(ljs_check_proto(chunk, line, size));
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

/* Adds a Lua frame of FUNC, of which ljs_function() has returned 1. */
static __always_inline void ljs_lua_frame(struct ljs_walk *w,
                                          const struct ljs_vm *vm, __u64 func)
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
  ljs_push(w, fn->bc - vm->pt_size, func, x,
           LJS_WHAT(LJS_FRAME_LUA, flags, fn->check));
}

/* Is the frame at w->base, with that link, of what C calls through the FFI? */
static __always_inline int ljs_called_back(struct ljs_walk *w,
                                           const struct ljs_vm *vm, __u64 link)
{
  __u64 cont = 0;
  return (link & 7) == LJS_LINK_CONT &&
         !ljs_word(w, vm, w->base - (vm->gc64 ? 32 : 16), &cont) && cont == 1;
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
      ljs_leave(w, 0);
      return;
    }
    w->luapc = link;
    w->base -= (a + (vm->gc64 ? 2 : 1)) * 8;
    return;
  case LJS_LINK_C:
    ljs_leave(w, w->base - delta);
    return;
  case LJS_LINK_CONT:
    if ((link & 7) == LJS_LINK_CONT) { /* Else a protected call. */
      if (ljs_word(w, vm, w->base - (vm->gc64 ? 32 : 16), &cont) ||
          ljs_word(w, vm, w->base - (vm->gc64 ? 24 : 12), &w->luapc))
        cont = 1;
      if (cont == 1) { /* Called from C, through the FFI. */
        ljs_leave(w, w->base - delta);
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
** called from a place that was met. Returns 0 if it is anything else. This is
** ljs_step_lua() for nearly all frames of deep stacks, so it is short.
*/
static __always_inline int ljs_met(struct ljs_walk *w, const struct ljs_vm *vm)
{
  __u64 ofs = w->base - 16 - w->words.at, slot[2], func, link, n;
  const struct ljs_seen *fn;
  const struct ljs_call *call;
  if (ofs > sizeof(w->words.word) - 16 || (ofs & 7) || w->base <= w->bottom)
    return 0;
  slot[0] = w->words.word[ofs / 8 % LJS_BLOCK];
  slot[1] = w->words.word[ofs / 8 % LJS_BLOCK + 1];
  func = ljs_slot_func(vm, slot);
  link = ljs_slot_link(vm, slot);
  fn = ljs_seen(w, func);
  call = ljs_call(w, link);
  n = ((w->luapc - fn->bc) >> 2) - 1;
  if (!ljs_met_func(w, fn, func) || !ljs_is_func(vm, slot) ||
      !ljs_met_call(w, call, link) || n >= fn->size)
    return 0;
  w->out.nlua++;
  if (!w->nolua)
    ljs_push(w, fn->bc - vm->pt_size, func, (__u32)n,
             LJS_WHAT(LJS_FRAME_LUA, 0, fn->check));
  w->luapc = link;
  w->base -= (call->a + (vm->gc64 ? 2 : 1)) * 8;
  return 1;
}

/* Such frames, some at once. */
static __always_inline int ljs_many_met(struct ljs_walk *w,
                                        const struct ljs_vm *vm)
{
  __u32 i;
  if (w->link || w->altlink || w->altpc || w->guess || w->skip || w->making ||
      (w->luapc & 3) || w->base > w->top)
    return 0;
  LJS_LOOP
  for (i = 0; i < LJS_AT_ONCE; i++)
    if (w->out.nlua >= w->maxlua || !ljs_met(w, vm))
      break;
  return i > 0;
}

/* The Lua frames above are not known. */
static __always_inline void ljs_lua_gap(struct ljs_walk *w, unsigned reason)
{
  ljs_gap(w, reason);
  ljs_leave(w, 0);
}

/* A step that needs nothing of the frame's slots. Returns 0 if it does. */
static __always_inline int ljs_lua_edge(struct ljs_walk *w,
                                        const struct ljs_vm *vm)
{
  __u64 saved = w->link;
  if (w->base <= w->bottom) { /* The first function has no caller. */
    if (w->base != w->bottom)
      ljs_gap(w, LJS_CUT_VM);
    ljs_leave(w, 0);
    return 1;
  }
  if (!saved)
    return 0;
  w->link = 0;
  ljs_follow(w, vm, saved);
  return 1;
}

/* Adds the frame of a function: a Lua function (KIND is not 0) or a builtin.
** Returns 0 if there are too many.
*/
static __always_inline int ljs_lua_add(struct ljs_walk *w,
                                       const struct ljs_vm *vm, int kind,
                                       __u64 func, __u64 f, __u32 ffid)
{
  if (w->skip) {
    w->skip = 0;
    if (kind)
      ljs_trace_fn(w, func);
    return 1;
  }
  if (w->out.nlua >= w->maxlua)
    return 0;
  w->out.nlua++;
  if (!w->nolua) {
    if (kind)
      ljs_lua_frame(w, vm, func);
    else
      ljs_push(w, f, func, ffid, LJS_WHAT(LJS_FRAME_BUILTIN, 0, 0));
  }
  return 1;
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
  if (ljs_many_met(w, vm) || ljs_lua_edge(w, vm))
    return;
  if (w->base > w->top || ljs_slots(w, w->base, slot)) {
    ljs_lua_gap(w, LJS_CUT_VM);
    return;
  }
  func = ljs_slot_func(vm, slot);
  link = ljs_slot_link(vm, slot);
  if (func == w->l) { /* The bottom of a stack that is being moved. */
    ljs_leave(w, 0);
    return;
  }
  if (w->making) { /* The C stack does not have it yet, or no more. */
    w->making = 0;
    if (ljs_called_back(w, vm, link)) {
      w->base -= link & ~7ull;
      return;
    }
  }
  kind = ljs_is_func(vm, slot) ? ljs_function(w, vm, func, &f, &ffid) : -1;
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
    ljs_leave(w, 0);
  } else if (!ljs_lua_add(w, vm, kind, func, f, ffid)) {
    ljs_lua_gap(w, LJS_CUT_LUA);
  } else {
    ljs_follow(w, vm, link);
  }
}

#endif

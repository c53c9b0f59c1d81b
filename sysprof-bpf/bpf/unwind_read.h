/*
** How the unwinder reads the memory of the process.
*/

#ifndef LJS_UNWIND_READ_H
#define LJS_UNWIND_READ_H

#include "unwind.h"

/* -- Windows -------------------------------------------------------------- */

/* Reads a window at AT. Returns 0, or -1. */
static __noinline int ljs_look(struct ljs_window *win, __u64 at)
{
  win->at = LJS_NOWHERE;
  if (ljs_read(win->word, sizeof(win->word), at))
    return -1;
  win->at = at;
  return 0;
}

/* Eight bytes. All that is sought is aligned; what is read for an address that
** is not, which is garbage, does not matter.
*/
static __always_inline int ljs_peek(struct ljs_walk *w, __u64 addr, __u64 *v)
{
  __u64 at = addr & ~(__u64)(sizeof(w->window[0].word) - 1);
  struct ljs_window *win = &w->window[(addr >> 9 ^ addr >> 13) % LJS_WINDOWS];
  if (win->walk != w->walk || win->at != at) {
    win->walk = w->walk;
    if (ljs_look(win, at))
      return -1;
  }
  *v = win->word[addr / 8 % LJS_WINDOW];
  return 0;
}

/* Four bytes. */
static __always_inline int ljs_peek32(struct ljs_walk *w, __u64 addr, __u32 *v)
{
  __u64 both;
  if (ljs_peek(w, addr, &both))
    return -1;
  *v = (__u32)(both >> (addr & 4) * 8);
  return 0;
}

/* One byte. */
static __always_inline int ljs_peek8(struct ljs_walk *w, __u64 addr, __u8 *v)
{
  __u64 all;
  if (ljs_peek(w, addr, &all))
    return -1;
  *v = (__u8)(all >> (addr & 7) * 8);
  return 0;
}

/* A word of the VM: 8 bytes, or 4. */
static __always_inline int ljs_word(struct ljs_walk *w, const struct ljs_vm *vm,
                                    __u64 addr, __u64 *v)
{
  __u32 half = 0;
  int err;
  *v = 0;
  if (vm->gc64)
    return ljs_peek(w, addr, v);
  err = ljs_peek32(w, addr, &half);
  *v = half;
  return err;
}

/* -- Blocks of stacks ----------------------------------------------------- */

/* Fills a block from an address on. */
static __noinline int ljs_fill(struct ljs_block *b, __u64 from)
{
  b->at = from;
  if (!ljs_read(b->word, sizeof(b->word), from))
    return 0;
  b->at = LJS_NOWHERE;
  return -1;
}

/* A word of a block. Returns -1 if the address is not in it. */
static __always_inline int ljs_in_block(const struct ljs_block *b, __u64 addr,
                                        __u64 *v)
{
  __u64 ofs = addr - b->at;
  if (b->at == LJS_NOWHERE || ofs > sizeof(b->word) - 8 || (ofs & 7))
    return -1;
  *v = b->word[ofs / 8 % LJS_BLOCK];
  return 0;
}

/* A word of the C stack that is in no block: reads a block with it. */
static __noinline int ljs_cstack_fill(struct ljs_walk *w, __u64 addr, __u64 *v)
{
  if (!(addr & 7) && !ljs_fill(&w->cwords, addr - 64) &&
      !ljs_in_block(&w->cwords, addr, v))
    return 0;
  return ljs_read(v, 8, addr);
}

/* Eight bytes of the C stack, which is walked upwards. */
static __always_inline int ljs_cstack(struct ljs_walk *w, __u64 addr, __u64 *v)
{
  if (!ljs_in_block(&w->cwords, addr, v))
    return 0;
  return ljs_cstack_fill(w, addr, v);
}

/* Four. */
static __always_inline int ljs_cstack32(struct ljs_walk *w, __u64 addr,
                                        __u32 *v)
{
  __u64 both;
  if (ljs_cstack(w, addr & ~7ull, &both))
    return -1;
  *v = (__u32)(addr & 4 ? both >> 32 : both);
  return 0;
}

/* A word of the VM's on the C stack. */
static __always_inline int ljs_cstack_word(struct ljs_walk *w,
                                           const struct ljs_vm *vm, __u64 addr,
                                           __u64 *v)
{
  __u32 half = 0;
  int err;
  if (vm->gc64)
    return ljs_cstack(w, addr, v);
  err = ljs_cstack32(w, addr, &half);
  *v = half;
  return err;
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

/* The link of the frame whose slots are these. */
static __always_inline __u64 ljs_slot_link(const struct ljs_vm *vm,
                                           const __u64 slot[2])
{
  return vm->gc64 ? slot[1] : slot[1] >> 32;
}

/* Whether the slots of a frame can hold a function. */
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

/* Whether CALL is that of PC, read in this walk. */
static __always_inline int ljs_met_call(const struct ljs_walk *w,
                                        const struct ljs_call *call, __u64 pc)
{
  return pc == call->pc && w->walk == call->walk;
}

/* Operand A of the instruction before PC. */
static __always_inline int ljs_call_a(struct ljs_walk *w, __u64 pc, __u64 *a)
{
  struct ljs_call *call = ljs_call(w, pc);
  __u32 ins = 0;
  if (!ljs_met_call(w, call, pc)) {
    if (ljs_peek32(w, pc - 4, &ins))
      return -1;
    call->pc = pc;
    call->walk = w->walk;
    call->a = (ins >> 8) & 255;
  }
  *a = call->a;
  return 0;
}

#endif

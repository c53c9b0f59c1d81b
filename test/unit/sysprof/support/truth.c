/*
** What the stack of a single-stepped LuaJIT process really is.
*/

#include <check.h>
#include <string.h>

#include "truth.h"

/* -- Native frames -------------------------------------------------------- */

int truth_native(const Tracee *t, uint64_t addr)
{
  return !(addr >= t->lo && addr < t->hi) && walk_map(&t->in, addr - 1);
}

/* A call leaves the address of what follows it; a signal, that of what returns
** from its handler.
*/
static void see_call(Truth *tr, Tracee *t, uint64_t pc, uint64_t sp)
{
  uint64_t now = t->regs.rsp, addr;
  unsigned n = 0;
  if (now > tr->maxsp)
    tr->maxsp = now;
  for (; tr->ncall && tr->call[tr->ncall - 1].at < now; tr->ncall--)
    n++;
  tr->thrown |= n > 1; /* A return takes one. */
  if (now != sp - 8 && !t->signalled)
    return;
  addr = tracee_uint(t, now, 8);
  if (!t->signalled && (addr - pc < 2 || addr - pc > 15))
    return;
  ck_assert_uint_lt(tr->ncall, TRUTH_CALLS);
  tr->call[tr->ncall++] = (TruthCall){now, addr};
}

/* Is this jmp *ofs(%r14,reg,8): through the dispatch table? */
static int dispatches(Tracee *t, uint64_t pc)
{
  uint8_t code[4];
  return pc >= t->lo && pc < t->hi && !tracee_read(t, code, 4, pc) &&
         code[0] == 0x41 && code[1] == 0xff && (code[2] & 0x3f) == 0x24 &&
         (code[3] & 0xc7) == 0xc6;
}

int truth_step(Truth *tr, Tracee *t)
{
  uint64_t pc = t->regs.rip, sp = t->regs.rsp;
  int op = dispatches(t, pc);
  if (!tracee_step(t))
    return 0;
  see_call(tr, t, pc, sp);
  tr->atop = op && t->regs.rip >= t->lo && t->regs.rip < t->hi;
  return 1;
}

/* -- Lua frames ----------------------------------------------------------- */

enum { LINK_LUA, LINK_C, LINK_CONT, LINK_VARG };

/* Pushes a frame, innermost first. */
static void push(Tracee *t, TruthList *out, uint64_t fn, uint64_t pc)
{
  const struct ljs_vm *vm = t->vm;
  TruthFrame *f = &out->frame[out->n++];
  uint64_t bc;
  ck_assert_uint_lt(out->n, TRUTH_FRAMES);
  memset(f, 0, sizeof(*f));
  f->x = TRUTH_NOPC;
  if (tracee_uint(t, fn + vm->fn_ffid, 1)) {
    f->kind = LJS_FRAME_BUILTIN;
    f->id = tracee_uint(t, fn + vm->fn_f, 8);
    return;
  }
  bc = tracee_ref(t, fn + vm->fn_pc);
  f->kind = LJS_FRAME_LUA;
  f->id = bc - vm->pt_size;
  if (pc)
    f->x = (uint32_t)((pc - bc) / 4) - 1;
}

/* Walks the Lua stack of L from BASE on. */
static void frames(Tracee *t, uint64_t l, uint64_t base, uint64_t pc,
                   TruthList *out)
{
  const struct ljs_vm *vm = t->vm;
  uint64_t bottom = tracee_ref(t, l + vm->l_stack) + 8u * (1 + vm->gc64);
  int again = 0;
  while (base > bottom) {
    uint64_t fn, link;
    if (vm->gc64) {
      fn = tracee_uint(t, base - 16, 8) & ((1ull << 47) - 1);
      link = tracee_uint(t, base - 8, 8);
    } else {
      fn = tracee_uint(t, base - 8, 4);
      link = tracee_uint(t, base - 4, 4);
    }
    if (!again)
      push(t, out, fn, pc);
    again = (link & 7) == LINK_VARG;
    if ((link & 3) == LINK_LUA) {
      pc = link;
      base -= 8 * (1 + vm->gc64 + (tracee_uint(t, link - 3, 1)));
      continue;
    }
    if (!again)
      pc = 0;
    if ((link & 7) == LINK_CONT) {
      uint64_t cont = tracee_ref(t, base - (vm->gc64 ? 32 : 16));
      if (cont > 1)
        pc = tracee_ref(t, base - (vm->gc64 ? 24 : 12));
    }
    ck_assert_uint_ge(link, 8);
    base -= link & ~7ull;
  }
  ck_assert_uint_eq(base, bottom);
}

/* The coroutine that runs. */
static uint64_t running(Tracee *t)
{
  return tracee_ref(t, t->regs.rsp + t->vm->save_l);
}

void truth_lua(const Truth *tr, Tracee *t, TruthList *out)
{
  static TruthList inner;
  uint64_t l = running(t), a = t->regs.rsp;
  uint32_t i;
  inner.n = out->n = 0;
  frames(t, l, t->regs.rdx, t->regs.rbx, &inner);
  /* Those of other coroutines that were there and still are. */
  for (i = 0; i < tr->lua.n; i++) {
    const TruthFrame *f = &tr->lua.frame[i];
    if (f->l == l || f->a < tr->maxsp || f->a < a)
      break;
    out->frame[out->n++] = *f;
  }
  while (inner.n--) {
    TruthFrame *f = &out->frame[out->n];
    const TruthFrame *old = &tr->lua.frame[out->n];
    int is = out->n < tr->lua.n;
    ck_assert_uint_lt(out->n, TRUTH_FRAMES - 1);
    *f = inner.frame[inner.n];
    f->l = l;
    f->a = a;
    if (is && old->l == l && old->id == f->id && old->a >= a &&
        old->a >= tr->maxsp) {
      f->a = old->a;
      if (f->x == TRUTH_NOPC)
        f->x = old->x;
    }
    out->n++;
  }
}

void truth_begin(Truth *tr, Tracee *t, const Walk *w)
{
  static TruthList now;
  uint32_t i = w->out.nframes, k;
  tr->ncall = 0;
  tr->lua.n = 0;
  tr->maxsp = 0;
  while (i--) {
    const struct ljs_frame *f = &w->out.frame[i];
    if (f->kind == LJS_FRAME_NATIVE && (f->flags & LJS_FLAG_RETURN)) {
      tr->call[tr->ncall++] = (TruthCall){w->at[i], f->addr};
    } else if (f->kind == LJS_FRAME_LUA || f->kind == LJS_FRAME_BUILTIN) {
      TruthFrame *g = &tr->lua.frame[tr->lua.n++];
      *g = (TruthFrame){.id = f->addr,
                        .x = f->kind == LJS_FRAME_LUA ? f->x : TRUTH_NOPC,
                        .kind = f->kind,
                        .a = w->at[i]};
      g->l = tracee_ref(t, g->a + t->vm->save_l);
    }
  }
  /* What can be read of it without unwinding agrees. */
  truth_lua(tr, t, &now);
  ck_assert_uint_eq(now.n, tr->lua.n);
  for (k = 0; k < now.n; k++) {
    ck_assert_uint_eq(now.frame[k].id, tr->lua.frame[k].id);
    ck_assert_uint_eq(now.frame[k].x, tr->lua.frame[k].x);
  }
}

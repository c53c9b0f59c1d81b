/*
** Whether a live process agrees with the layout that was found in its code.
**
** Only what holds at any moment is asked for, since the process is running: a
** coroutine's base may be that of some time ago, but it is on the stack.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "luaproto.h"
#include "vmcheck.h"

#define CHECK_OPS    LS_BC_FUNCF /* Entries of the dispatch table. */
#define CHECK_TRACES 16          /* Traces that are looked at. */
#define CHECK_SLOTS  64          /* Slots of the stack likewise. */
#define CHECK_EXTRA  64          /* Slots behind maxstack; a few. */
#define CHECK_STACK  (1u << 26)  /* No stack has more bytes. */
#define FFID_C       1

typedef struct Check {
  LsView v;
  uint64_t l, g;
  char *why;
} Check;

/* No, since ... Always false. */
__attribute__((format(printf, 2, 3))) static bool no(Check *c, const char *what,
                                                     ...)
{
  va_list ap;
  va_start(ap, what);
  vsnprintf(c->why, LS_WHY, what, ap);
  va_end(ap);
  return false;
}

/* Whether a coroutine belongs to the VM. */
static bool check_thread(Check *c, uint64_t l)
{
  const struct ljs_vm *vm = &c->v.vm;
  return ls_view_type(&c->v, l) == LS_GCT_THREAD &&
         ls_remote_uint(c->v.mem, l + vm->fn_ffid, 1) == FFID_C &&
         ls_view_ref(&c->v, l + vm->l_glref) == c->g;
}

/* The coroutine, the global state, and the way from one to the other. */
static bool check_global(Check *c)
{
  const struct ljs_vm *vm = &c->v.vm;
  LsRemote *m = c->v.mem;
  int32_t state;
  uint64_t cur;
  if (!check_thread(c, c->l))
    return no(c, "no coroutine of this VM at %#llx", (unsigned long long)c->l);
  cur = ls_view_ref(&c->v, c->g + (uint64_t)vm->cur_l);
  if (cur && !check_thread(c, cur))
    return no(c, "cur_L is no coroutine of this VM");
  state = (int32_t)ls_remote_uint(m, c->g + (uint64_t)vm->vmstate, 4);
  if (state < -32 || state > 65535)
    return no(c, "vmstate is %d", state);
  if (ls_view_type(&c->v, ls_view_ref(&c->v, c->l + vm->l_env)) != LS_GCT_TAB)
    return no(c, "a coroutine's globals are no table");
  return true;
}

/* The Lua stack: its bounds, and the coroutine that is in its first slot. */
static bool check_stack(Check *c)
{
  const struct ljs_vm *vm = &c->v.vm;
  LsRemote *m = c->v.mem;
  uint64_t stack = ls_view_ref(&c->v, c->l + vm->l_stack);
  uint64_t max = ls_view_ref(&c->v, c->l + vm->l_maxstack);
  uint64_t base = ls_remote_uint(m, c->l + vm->l_base, 8);
  uint64_t top = ls_remote_uint(m, c->l + vm->l_top, 8), first;
  uint64_t end = max + 8 * CHECK_EXTRA;
  if (stack == 0 || max <= stack || max - stack > CHECK_STACK ||
      (stack | max | base | top) % 8 != 0)
    return no(c, "the bounds of a Lua stack make no sense");
  if (base <= stack || base > end || top < stack || top > end)
    return no(c, "base or top is not on the Lua stack");
  first = ls_remote_uint(m, stack, 8);
  if ((vm->gc64 ? ls_view_decode(&c->v, first).addr : (uint32_t)first) != c->l)
    return no(c, "a Lua stack does not begin with its coroutine");
  return true;
}

/* The dispatch table: all in the interpreter's code, wherever that is loaded.
 */
static bool check_dispatch(Check *c)
{
  const struct ljs_vm *vm = &c->v.vm;
  uint64_t entry[CHECK_OPS], min = UINT64_MAX, max = 0;
  unsigned i;
  if (!ls_remote_get(c->v.mem, c->g + (uint64_t)vm->g2disp, entry,
                     sizeof(entry)))
    return no(c, "no dispatch table");
  for (i = 0; i < CHECK_OPS; i++) {
    min = entry[i] < min ? entry[i] : min;
    max = entry[i] > max ? entry[i] : max;
  }
  /* It is loaded at a multiple of a page from its place in the file. */
  if (max - min >= vm->hi - vm->lo || min < vm->lo ||
      (min - vm->lo) / LS_REMOTE_PAGE * LS_REMOTE_PAGE + vm->hi <= max)
    return no(c, "the dispatch table is not one");
  return true;
}

/* Traces, as many as are looked at. */
static bool check_traces(Check *c)
{
  const struct ljs_vm *vm = &c->v.vm;
  LsRemote *m = c->v.mem;
  uint64_t at = c->g + (uint64_t)vm->trace;
  uint64_t array = ls_remote_uint(m, at, 8);
  uint32_t size = (uint32_t)ls_remote_uint(m, at + 12, 4), no_, seen = 0;
  if (!vm->jit || (!array && !size))
    return true;
  if (!array || size > 65536)
    return no(c, "the list of traces makes no sense");
  for (no_ = 1; no_ < size && seen < CHECK_TRACES; no_++) {
    uint64_t T = ls_view_ref(&c->v, array + (uint64_t)no_ * c->v.lay->ref);
    /* The one that is being made, in the VM itself, may have no number yet. */
    if (!T || (T > c->g && T < at))
      continue;
    seen++;
    if (ls_view_type(&c->v, T) != LS_GCT_TRACE ||
        ls_remote_uint(m, T + vm->t_traceno, 2) != no_) {
      if (ls_view_ref(&c->v, array + (uint64_t)no_ * c->v.lay->ref) == T)
        return no(c, "trace %u is none", no_);
    }
  }
  return true;
}

/* The function that a slot of the stack may have: its proto, or 0. */
static uint64_t check_slot(Check *c, uint64_t slot)
{
  const struct ljs_vm *vm = &c->v.vm;
  uint64_t bits = ls_remote_uint(c->v.mem, slot, 8), fn = (uint32_t)bits;
  if (vm->gc64) {
    LsValue value = ls_view_decode(&c->v, bits);
    fn = value.type == LS_GCT_FUNC ? value.addr : 0;
  }
  if (!fn || ls_view_type(&c->v, fn) != LS_GCT_FUNC ||
      ls_remote_uint(c->v.mem, fn + vm->fn_ffid, 1) != 0)
    return 0;
  return ls_view_ref(&c->v, fn + vm->fn_pc) - vm->pt_size;
}

/* Lua functions on the stack: if there are any, at least one must have a proto
** that makes sense. Others may have been collected.
*/
static bool check_protos(Check *c)
{
  const struct ljs_vm *vm = &c->v.vm;
  uint64_t stack = ls_view_ref(&c->v, c->l + vm->l_stack);
  uint64_t slot = ls_remote_uint(c->v.mem, c->l + vm->l_base, 8), check;
  unsigned seen = 0, n;
  for (n = 0; n < CHECK_SLOTS && slot > stack; n++) {
    uint64_t pt = check_slot(c, slot -= 8);
    c->v.mem->bad = false; /* What is no object can be anywhere. */
    if (!pt)
      continue;
    seen++;
    if (ls_proto_check(&c->v, pt, &check))
      return true;
    c->v.mem->bad = false;
  }
  return seen == 0 || no(c, "no Lua function on the stack makes sense");
}

int ls_vm_check(pid_t pid, const struct ljs_vm *vm, uint64_t l, uint64_t g,
                char why[LS_WHY])
{
  LsRemote *mem = calloc(1, sizeof(*mem));
  Check c = {.l = l, .g = g, .why = why};
  bool ok;
  why[0] = '\0';
  if (!mem)
    return no(&c, "not enough memory");
  mem->pid = pid;
  ls_view_init(&c.v, mem, vm);
  ok = check_global(&c) && check_stack(&c) && check_dispatch(&c) &&
       check_traces(&c) && (!mem->bad || no(&c, "unreadable memory")) &&
       check_protos(&c);
  free(mem);
  return ok;
}

/*
** The interpreter's rows of the unwind table.
**
** LuaJIT has one rule for all of its interpreter, and that is wrong while a C
** frame of it is being made or taken down. Entries from C begin by pushing
** registers, and become a frame of the VM when its address is stored in
** L->cframe; they end when the one before is stored there. So between these
** places they are native frames, with rules of their own, and all the rest is
** LJS_CFA_VM.
*/

#include <stdlib.h>
#include <string.h>

#include "vmflow.h"
#include "vmrows.h"
#include "x86.h"

typedef struct Code {
  const uint8_t *p; /* The interpreter's code. */
  uint32_t lo, n;
  const struct ljs_vm *vm;
  const uint16_t *flow; /* What registers mean. */
} Code;

/* Rows under construction. */
typedef struct Rows {
  struct ljs_row *row;
  size_t n, room;
  uint32_t end; /* Behind the last row. */
} Rows;

/* A new row; for LJS_CFA_VM, DEPTH is what registers mean. Registers that the
** VM pushes, come in the order of pushing: rbp, rbx, then others.
*/
static void rows_add(Rows *r, uint32_t pc, int how, int depth,
                     const struct ljs_vm *vm)
{
  struct ljs_row row = {.pc = pc, .cfa = depth, .how = how};
  if (how == LJS_CFA_SP) {
    row.bp = vm->bp;
    row.bx = vm->bx;
    row.bphow = depth >= -vm->bp ? LJS_REG_CFA : LJS_REG_SAME;
    row.bxhow = depth >= -vm->bx ? LJS_REG_CFA : LJS_REG_SAME;
  }
  while (r->n && r->row[r->n - 1].pc >= pc)
    r->n--; /* It is replaced. */
  if (r->n && how == LJS_CFA_VM && r->row[r->n - 1].how == how &&
      r->row[r->n - 1].cfa == depth)
    return;
  if (r->n < r->room)
    r->row[r->n++] = row;
}

/* The instruction at offset AT, or 0 if it is none. */
static unsigned decode(const Code *c, uint32_t at, LsX86 *x)
{
  if (at >= c->n || !ls_x86_decode(c->p + at, c->n - at, x))
    return 0;
  return x->len;
}

/* push and pop of a register: 50+r, 58+r, with a prefix for r8 to r15. */
static int is_push(const LsX86 *x)
{
  return x->map == 0 && (x->op & 0xf8) == 0x50;
}

/* Is it a pop? */
static int is_pop(const LsX86 *x)
{
  return x->map == 0 && (x->op & 0xf8) == 0x58;
}

/* sub and add of a small number to rsp: 48 83 ec n, 48 83 c4 n. */
static int moves_rsp(const uint8_t *p, uint8_t modrm)
{
  return p[0] == 0x48 && p[1] == 0x83 && p[2] == modrm;
}

/* mov [reg+l_cframe], reg, 64 bits wide. */
static int stores_cframe(const Code *c, const LsX86 *x)
{
  return x->map == 0 && x->op == 0x89 && x->wide && x->mem &&
         x->base != LS_RSP && x->index == LS_NREG && x->disp == c->vm->l_cframe;
}

/* Is it a direct call? */
static int is_call(const LsX86 *x)
{
  return x->map == 0 && x->op == 0xe8;
}

/* Is it a jump without a condition? */
static int is_jump(const LsX86 *x)
{
  return x->map == 0 && (x->op == 0xe9 || x->op == 0xeb);
}

#define ENTRY_MAX 160 /* Bytes of an entry until the frame is the VM's. */

/* Adds the rows of the entry that begins at offset AT. Returns its end. */
static uint32_t entry(const Code *c, Rows *r, uint32_t at, unsigned pushes,
                      uint32_t sub)
{
  int frame = c->vm->frame;
  int depth = frame - c->p[sub + 3] - (int)pushes * 8;
  uint32_t end = sub + 4;
  LsX86 x;
  unsigned len;
  for (; at < sub; at += decode(c, at, &x), depth += 8)
    rows_add(r, c->lo + at, LJS_CFA_SP, depth, c->vm);
  rows_add(r, c->lo + sub, LJS_CFA_SP, depth, c->vm);
  rows_add(r, c->lo + end, LJS_CFA_SP, frame, c->vm);
  while (end - sub < ENTRY_MAX && (len = decode(c, end, &x))) {
    if (is_call(&x)) /* To C, which makes it a frame of the VM. */
      rows_add(r, c->lo + end, LJS_CFA_VM, LJS_BX_MAYBE, c->vm);
    end += len;
    if (stores_cframe(c, &x) || is_call(&x) || is_jump(&x))
      break; /* The rest of it is that of another entry. */
  }
  return end;
}

/* The frame is taken down from offset AT on. */
static uint32_t leave(const Code *c, Rows *r, uint32_t from, uint32_t at)
{
  int depth = c->vm->frame;
  LsX86 x;
  unsigned len;
  rows_add(r, c->lo + from, LJS_CFA_SP, depth, c->vm);
  depth -= c->p[at + 3];
  at += 4;
  while ((len = decode(c, at, &x))) {
    rows_add(r, c->lo + at, LJS_CFA_SP, depth, c->vm);
    at += len;
    if (!is_pop(&x))
      break;
    depth -= 8;
  }
  return at;
}

/* Does a frame begin at offset AT? Then so many registers are pushed, and *SUB
** is where the stack pointer moves.
*/
static unsigned is_entry(const Code *c, uint32_t at, uint32_t *sub)
{
  unsigned n = 0, len;
  LsX86 x;
  while (n < 6 && (len = decode(c, at, &x)) && is_push(&x)) {
    n++;
    at += len;
  }
  *sub = at;
  return n >= 3 && at + 4 <= c->n && moves_rsp(c->p + at, 0xec) &&
                 c->p[at + 3] + n * 8 <= c->vm->frame
             ? n
             : 0;
}

/* Is the frame taken down at offset AT? */
static int is_leave(const Code *c, uint32_t at)
{
  LsX86 x;
  return at + 6 <= c->n && moves_rsp(c->p + at, 0xc4) &&
         c->p[at + 3] < c->vm->frame && decode(c, at + 4, &x) && is_pop(&x);
}

/* The VM's rows, from one end to the other. */
static void walk(const Code *c, Rows *r)
{
  uint32_t at = 0, sub, end, cframe = 0, call = 0;
  unsigned n, len;
  LsX86 x;
  while (r->n + 16 < r->room && (len = decode(c, at, &x))) {
    end = 0;
    rows_add(r, c->lo + at, LJS_CFA_VM, c->flow[at], c->vm);
    if ((n = is_entry(c, at, &sub)) != 0) {
      end = entry(c, r, at, n, sub);
    } else if (is_leave(c, at)) {
      end = leave(c, r, cframe && at - cframe < 16 ? cframe : at, at);
    } else if (x.map == 0 && x.op == 0xe9 && call && at - call < 24 &&
               at + len + x.disp < c->n &&
               is_leave(c, at + len + (uint32_t)x.disp)) {
      /* A C function takes the VM's part down: the end of a callback. */
      rows_add(r, c->lo + call, LJS_CFA_VM, LJS_BX_MAYBE, c->vm);
      rows_add(r, c->lo + call + 5, LJS_CFA_SP, c->vm->frame, c->vm);
      end = at + len;
    }
    if (is_call(&x))
      call = at;
    if (stores_cframe(c, &x))
      cframe = at + len;
    at = end ? end : at + len;
  }
  if (at < c->n)
    rows_add(r, c->lo + at, LJS_CFA_VM, 0, c->vm);
}

/* What follows the interpreter is the routine that calls C for the FFI: a frame
** with a frame pointer, of which LuaJIT describes neither how it begins nor how
** it ends. Adds what is missing to its only row, LAST, which holds up to END.
*/
static size_t ffi_call(const LsElf *elf, uint32_t pc, uint32_t end,
                       struct ljs_row last, struct ljs_row *out)
{
  static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5}; /* push, mov. */
  struct ljs_row row = {.pc = pc, .cfa = 8, .how = LJS_CFA_SP};
  size_t n, i, k = 0;
  const uint8_t *p = ls_elf_rest(elf, pc, &n);
  last.pc = pc;
  out[0] = last;
  if (!p || end - pc < 8 || n < end - pc || last.how != LJS_CFA_BP ||
      memcmp(p, begin, sizeof(begin)) != 0)
    return 1;
  out[k++] = row;
  row.pc = pc + 1;
  row.cfa = 16;
  row.bp = -16;
  row.bphow = LJS_REG_CFA;
  out[k++] = row;
  last.pc = pc + sizeof(begin);
  out[k++] = last;
  n = end - pc;
  for (i = sizeof(begin); i + 2 < n && (p[i] != 0xc9 || p[i + 1] != 0xc3); i++)
    ;
  if (p[i] != 0xc9 || p[i + 1] != 0xc3)
    return k;
  row =
      (struct ljs_row){.pc = pc + (uint32_t)i + 1, .cfa = 8, .how = LJS_CFA_SP};
  out[k++] = row; /* At ret, behind leave. */
  last.pc = pc + (uint32_t)i + 2;
  if (last.pc < end)
    out[k++] = last;
  return k;
}

int ls_vmrows(const LsElf *elf, const struct ljs_vm *vm, LsRows *rows)
{
  Code c = {.p = ls_elf_bytes(elf, vm->lo, vm->hi - vm->lo),
            .lo = vm->lo,
            .n = vm->hi - vm->lo,
            .vm = vm};
  LsVmText text = {c.p, c.n, vm};
  Rows r = {.room = c.n / 2}; /* Most instructions change nothing. */
  struct ljs_row *all;
  uint16_t *flow;
  size_t before = 0, behind, n;
  struct ljs_row last = {.how = LJS_CFA_UNKNOWN};
  if (!c.p)
    return -1;
  while (before < rows->n && rows->row[before].pc < vm->lo)
    before++;
  for (behind = before; behind < rows->n && rows->row[behind].pc <= vm->hi;
       behind++)
    last = rows->row[behind];
  c.flow = flow = ls_vmflow(&text);
  r.row = malloc(r.room * sizeof(*r.row));
  all = malloc((rows->n + r.room + 8) * sizeof(*all));
  if (!flow || !r.row || !all) {
    free(flow);
    free(r.row);
    free(all);
    return -1;
  }
  walk(&c, &r);
  memcpy(all, rows->row, before * sizeof(*all));
  memcpy(all + before, r.row, r.n * sizeof(*all));
  n = before + r.n;
  n += ffi_call(elf, vm->hi, behind < rows->n ? rows->row[behind].pc : vm->hi,
                last, all + n);
  memcpy(all + n, rows->row + behind, (rows->n - behind) * sizeof(*all));
  rows->n = n + rows->n - behind;
  free(rows->row);
  rows->row = all;
  free(r.row);
  free(flow);
  return 0;
}

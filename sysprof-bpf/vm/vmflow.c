/*
** Data flow of BASE and PC through the interpreter's registers.
**
** Frames of the Lua stack are made and taken down by a few instructions, in
** the course of which BASE and PC are not what they are elsewhere, and memory
** is half written. What an instruction does to BASE (rdx), to PC (rbx) and to a
** copy of BASE (rbp) is determined by a few known instruction idioms, which all
** versions of the interpreter have; a data-flow fixpoint over the code and its
** jumps does the rest. Where two paths that differ meet nothing is certain, and
** the unwinder has to look at memory.
*/

#include <stdlib.h>

#include "vmflow.h"
#include "x86.h"

/* The state before one instruction, and whether it is reached. */
typedef struct Flow {
  uint8_t bx, dx, bp;
  uint8_t begins; /* An instruction begins here. */
  uint8_t root;   /* It has no known predecessor. */
  uint8_t forced; /* What rbx is in any case; 0: it depends. */
  uint8_t seen;
} Flow;

typedef struct Run {
  const LsVmText *t;
  Flow *at;
  int changed;
} Run;

static const Flow unknown = {.seen = 1};

/* -- Instructions --------------------------------------------------------- */

/* Decode the instruction at a place. Returns its length, or 0. */
static unsigned decode(const LsVmText *t, uint32_t at, LsX86 *x)
{
  if (at >= t->n || !ls_x86_decode(t->p + at, t->n - at, x))
    return 0;
  return x->len;
}

/* Is it the instruction of an opcode of one byte? */
static int is(const LsX86 *x, uint8_t op)
{
  return x->map == 0 && x->op == op;
}

/* As wide as a reference. */
static int refwide(const LsVmText *t, const LsX86 *x)
{
  return x->wide == t->vm->gc64;
}

/* mov [base+disp], reg and mov reg, [base+disp]; of a reference. */
static int stores(const LsVmText *t, const LsX86 *x, unsigned base, int disp,
                  unsigned reg)
{
  return is(x, 0x89) && x->mem && x->index == LS_NREG && x->base == base &&
         x->disp == disp && x->reg == reg && refwide(t, x);
}

/* Does it load a register from a base and an offset? */
static int loads(const LsX86 *x, unsigned base, int disp, unsigned reg)
{
  return is(x, 0x8b) && x->mem && x->index == LS_NREG && x->base == base &&
         x->disp == disp && x->reg == reg;
}

/* mov, sub, ... to, from: of registers. */
static int regs(const LsX86 *x, uint8_t op, unsigned to, unsigned from)
{
  if (x->map != 0 || x->mem)
    return 0;
  if (x->op == op) /* Either way to write it. */
    return x->rm == to && x->reg == from;
  return x->op == (op | 2) && x->reg == to && x->rm == from;
}

/* add, and, ... reg, imm. */
static int imm(const LsX86 *x, unsigned what, unsigned reg, int64_t v)
{
  return (is(x, 0x83) || is(x, 0x81)) && !x->mem && (x->reg & 7) == what &&
         x->rm == reg && x->imm == v;
}

enum { ADD = 0, OR = 1, AND = 4, SUB = 5, XOR = 6, CMP = 7 };

/* Any store to memory. */
static int any_store(const LsX86 *x)
{
  if (!x->mem)
    return 0;
  if (x->map == 0)
    return x->op == 0x88 || x->op == 0x89 || x->op == 0xc6 || x->op == 0xc7;
  return x->map == 1 &&
         (x->op == 0x11 || x->op == 0x13 || x->op == 0x17 || x->op == 0x29 ||
          x->op == 0x7e || x->op == 0x7f || x->op == 0xd6);
}

/* Of two bytes: has it a general register for its result? */
static int writes1(const LsX86 *x, unsigned reg)
{
  if (x->op == 0x7e || (x->op & 0xf0) == 0x90)
    return !x->mem && x->rm == reg;
  if ((x->op & 0xf0) == 0x40 || x->op == 0x2c || x->op == 0x2d ||
      x->op == 0x50 || (x->op >= 0xaf && x->op != 0xba && x->op < 0xc0))
    return x->reg == reg;
  return 0;
}

/* Is the register written to? If in doubt it is. */
static int writes(const LsX86 *x, unsigned reg)
{
  uint8_t op = x->op;
  if (x->map != 0)
    return x->map == 1 && writes1(x, reg);
  if (op < 0x40) {
    if ((op & 7) > 3 || (op & 0x38) == 0x38)
      return reg == LS_RAX && (op & 7) > 3;
    return op & 2 ? x->reg == reg : !x->mem && x->rm == reg;
  }
  if ((op & 0xf8) == 0x50 || op == 0x84 || op == 0x85)
    return 0;
  if ((op & 0xf8) == 0x58 || (op & 0xf0) == 0xb0)
    return x->reg == reg;
  if (op == 0x88 || op == 0x89)
    return !x->mem && x->rm == reg;
  if (op == 0x63 || op == 0x69 || op == 0x6b || op == 0x8a || op == 0x8b ||
      op == 0x8d)
    return x->reg == reg;
  if (op == 0x87)
    return x->reg == reg || (!x->mem && x->rm == reg);
  if (op == 0x99)
    return reg == LS_RDX;
  if (op == 0x80 || op == 0x81 || op == 0x83)
    return !x->mem && x->rm == reg && (x->reg & 7) != CMP;
  if (op == 0xf6 || op == 0xf7) {
    if ((x->reg & 7) >= 4)
      return reg == LS_RAX || reg == LS_RDX;
    return (x->reg & 7) >= 2 && !x->mem && x->rm == reg;
  }
  return x->rm == reg && !x->mem && op != 0xff;
}

/* Is it a call, direct or not? */
static int is_call(const LsX86 *x)
{
  return is(x, 0xe8) || (is(x, 0xff) && (x->reg & 7) == 2);
}

/* A jump that is always taken; or a return. */
static int is_end(const LsX86 *x)
{
  return is(x, 0xe9) || is(x, 0xeb) || is(x, 0xc3) || is(x, 0xcc) ||
         (is(x, 0xff) && (x->reg & 7) == 4);
}

/* A direct jump; *TO is its target. */
static int is_jump(const LsX86 *x, uint32_t next, uint32_t *to)
{
  if (!is(x, 0xe9) && !is(x, 0xeb) && (x->map != 0 || (x->op & 0xf0) != 0x70) &&
      (x->map != 1 || (x->op & 0xf0) != 0x80))
    return 0;
  *to = next + (uint32_t)x->disp;
  return 1;
}

/* -- Known instruction idioms --------------------------------------------- */

/* Place of a frame's link, and of its function, from BASE. */
static int link_at(const LsVmText *t)
{
  return t->vm->gc64 ? -8 : -4;
}

/* Where a frame has its function, from BASE. */
static int func_at(const LsVmText *t)
{
  return t->vm->gc64 ? -16 : -8;
}

/* The link of a new frame is stored. */
static int stores_link(const LsVmText *t, const LsX86 *x)
{
  return stores(t, x, LS_RDX, link_at(t), LS_RBX);
}

/* A pattern that comes among the next N instructions from AT on. */
typedef int Pattern(const LsVmText *t, const LsX86 *x);

/* Is there one of a pattern among the next N instructions that run? */
static int soon(const LsVmText *t, uint32_t at, unsigned n, Pattern *p)
{
  LsX86 x;
  unsigned len;
  while (n-- && (len = decode(t, at, &x))) {
    if (p(t, &x))
      return 1;
    if (is_end(&x) || is_call(&x))
      break;
    at += len;
  }
  return 0;
}

static int subs_base(const LsVmText *t, const LsX86 *x)
{
  (void)t;
  return regs(x, 0x29, LS_RBX, LS_RDX);
}

static int copies_base(const LsVmText *t, const LsX86 *x)
{
  (void)t;
  return regs(x, 0x89, LS_RBP, LS_RDX);
}

/* test ebx, 3: of which kind is the link? */
static int tests_link(const LsVmText *t, const LsX86 *x)
{
  (void)t;
  return is(x, 0xf7) && !x->mem && x->rm == LS_RBX && (x->reg & 7) == 0 &&
         x->imm == 3;
}

static int ends(const LsVmText *t, const LsX86 *x)
{
  (void)t;
  return is_end(x);
}

static int calls(const LsVmText *t, const LsX86 *x)
{
  (void)t;
  return is_call(x);
}

/* mov [reg+l_cframe], reg, 64 bits wide. */
static int stores_cframe(const LsVmText *t, const LsX86 *x)
{
  return is(x, 0x89) && x->wide && x->mem && x->base != LS_RSP &&
         x->index == LS_NREG && x->disp == t->vm->l_cframe;
}

/* The C frame before this one is about to be the newest again. */
static int leaves(const LsVmText *t, const LsX86 *x, uint32_t next)
{
  return x->reg != LS_NREG && loads(x, LS_RSP, t->vm->save_cframe, x->reg) &&
         x->wide && soon(t, next, 1, stores_cframe);
}

/* cmpb [reg+fn_ffid], n: what kind of function is that? */
static int tests_ffid(const LsVmText *t, const LsX86 *x)
{
  return is(x, 0x80) && x->mem && (x->reg & 7) == CMP &&
         x->disp == t->vm->fn_ffid;
}

/* From NEXT on, is the link of the frame at BASE looked at next? */
static int looks_at_link(const LsVmText *t, uint32_t next)
{
  uint32_t to;
  LsX86 x;
  unsigned len = decode(t, next, &x);
  if (len && is(&x, 0x01)) /* Where the results are moves along. */
    len = decode(t, next += len, &x);
  return len && is_jump(&x, next + len, &to) && decode(t, to, &x) &&
         loads(&x, LS_RDX, link_at(t), LS_RBX);
}

/* The value of rbx behind an instruction that writes to it. NEXT is where the
** next one is.
*/
static uint8_t flow_bx(const LsVmText *t, const LsX86 *x, const Flow *f,
                       uint32_t next)
{
  const struct ljs_vm *vm = t->vm;
  uint8_t bx = f->bx;
  if (loads(x, LS_RDX, link_at(t), LS_RBX))
    return LJS_BX_LINK;
  if (loads(x, LS_RSP, vm->save_pc, LS_RBX))
    return soon(t, next, 5, tests_link) ? LJS_BX_GONE : LJS_BX_PC;
  if (loads(x, LS_RBP, 3 * link_at(t), LS_RBX))
    return LJS_BX_PC; /* Of who called a metamethod. */
  if (is(x, 0x8b) && x->mem && x->base != LS_RSP && x->base != LS_RDX &&
      x->index == LS_NREG && x->disp == vm->fn_pc && refwide(t, x))
    return LJS_BX_NEXT;
  if (is(x, 0x8d) && x->base == LS_RBX)
    return x->index == LS_NREG ? bx : LJS_BX_NEXT;
  if (imm(x, ADD, LS_RBX, 4))
    return bx <= LJS_BX_START ? LJS_BX_PC : bx;
  if (imm(x, SUB, LS_RBX, 4) || imm(x, OR, LS_RBX, 1) ||
      imm(x, AND, LS_RBX, -2) || imm(x, SUB, LS_RBX, 3) ||
      imm(x, ADD, LS_RBX, 3))
    return bx;
  if (imm(x, XOR, LS_RBX, 1))
    return bx == LJS_BX_XLINK ? LJS_BX_GONE : LJS_BX_XLINK;
  if (imm(x, AND, LS_RBX, -8) && soon(t, next, 2, subs_base))
    return LJS_BX_LEAVE;
  if (imm(x, AND, LS_RBX, -8))
    return soon(t, next, 1, copies_base) ? LJS_BX_CONT : LJS_BX_SIZE;
  if (regs(x, 0x29, LS_RBX, LS_RDX) && bx == LJS_BX_LEAVE)
    return LJS_BX_MINUS;
  if (is(x, 0xf7) && (x->reg & 7) == 3 && bx == LJS_BX_MINUS)
    return LJS_BX_BASE;
  if (x->map == 0 && (x->op & 0xf8) == 0xb8 && (x->imm == 1 || x->imm == 5))
    return LJS_BX_ENTER; /* A link to C. */
  if (bx == LJS_BX_ENTER && x->map == 0 && x->op < 0x40)
    return bx; /* It is made complete. */
  return LJS_BX_NONE;
}

/* The value of rdx behind an instruction, and of rbx if it depends on it. */
static void flow_dx(const LsVmText *t, const LsX86 *x, Flow *f, uint32_t next)
{
  const struct ljs_vm *vm = t->vm;
  int link = f->bx == LJS_BX_LINK || f->bx == LJS_BX_GONE;
  f->dx = LJS_DX_BASE;
  if (soon(t, next, 1, stores_link)) { /* It makes a frame. */
    f->bx = LJS_BX_GONE;
  } else if (is(x, 0x8d) && x->base == LS_RDX && x->index != LS_NREG && link) {
    /* Back to who called. */
    f->bx = soon(t, next, 1, ends) ? LJS_BX_PC : LJS_BX_NEXT;
  } else if (regs(x, 0x29, LS_RDX, LS_RBX) &&
             (f->bx == LJS_BX_SIZE || f->bx == LJS_BX_LINK)) {
    f->bx = LJS_BX_NONE;
  } else if (regs(x, 0x29, LS_RDX, LS_RBX) && f->bx == LJS_BX_CONT) {
    f->bx = LJS_BX_CONTB;
  } else if (regs(x, 0x29, LS_RDX, LS_RBP) && link) {
    /* To the lower half of a vararg function's frame; or to who called. */
    f->bx = looks_at_link(t, next) ? LJS_BX_LINK : LJS_BX_ANY;
  } else if (regs(x, 0x89, LS_RDX, LS_RBP) && f->bp != LJS_BP_NONE) {
    f->dx = f->bp == LJS_BP_BASE ? LJS_DX_BASE : LJS_DX_ANY;
  } else if (is(x, 0x8b) && x->mem && x->index == LS_NREG &&
             ((x->base != LS_RSP && x->disp == vm->l_base) ||
              (vm->jit && x->base == LS_R14 &&
               x->disp == vm->jit_base - vm->g2disp))) {
    f->dx = LJS_DX_BASE;
  } else {
    int copy = is(x, 0x8b) || is(x, 0x89);
    f->dx =
        copy && !x->mem && !soon(t, next, 5, calls) ? LJS_DX_ANY : LJS_DX_NONE;
  }
}

/* The state behind an instruction. */
static Flow flow(const LsVmText *t, const LsX86 *x, Flow f, uint32_t next)
{
  uint8_t bx = f.bx;
  if (is_call(x)) {
    uint32_t to = next + (uint32_t)x->disp;
    /* Routines of the VM's own leave BASE alone, but for its entries. */
    if (!is(x, 0xe8) || to >= t->n || t->p[to] == 0x55)
      f.dx = LJS_DX_NONE;
    return f;
  }
  if (stores_link(t, x)) {
    f.bx = LJS_BX_START;
    return f;
  }
  if (stores_cframe(t, x) && x->reg == LS_RSP)
    f.bx = LJS_BX_ENTER;
  if (any_store(x) && x->base == LS_RDX && x->index != LS_NREG && x->disp < 0 &&
      bx == LJS_BX_LINK)
    f.bx = LJS_BX_GONE; /* Results that are missing. */
  if (any_store(x) && x->base != LS_RSP && x->index == LS_NREG) {
    if (x->disp == func_at(t) && bx == LJS_BX_LINK) /* Or a tail call. */
      f.bx = soon(t, next, 16, tests_ffid) ? LJS_BX_START : LJS_BX_GONE;
    if (x->disp == link_at(t) && x->base == LS_RDX &&
        (bx == LJS_BX_NONE || bx == LJS_BX_LINK))
      f.bx = bx == LJS_BX_NONE ? LJS_BX_SAVED : LJS_BX_GONE;
  }
  if (writes(x, LS_RBX)) {
    f.bx = flow_bx(t, x, &f, next);
    if (f.bx == LJS_BX_LINK)
      f.dx = LJS_DX_BASE;
  }
  if (writes(x, LS_RDX)) {
    flow_dx(t, x, &f, next);
    if (f.dx != LJS_DX_NONE && !regs(x, 0x89, LS_RDX, LS_RBP))
      f.bp = LJS_BP_NONE; /* Another one. */
  }
  if (writes(x, LS_RBP))
    f.bp = regs(x, 0x89, LS_RBP, LS_RDX) && f.dx != LJS_DX_NONE ? LJS_BP_BASE
                                                                : LJS_BP_NONE;
  return f;
}

/* -- Data-flow fixpoint ---------------------------------------------------- */

/* The join of two values that differ. */
static uint8_t either(uint8_t a, uint8_t b)
{
  if ((a == LJS_BX_LINK && b == LJS_BX_GONE) ||
      (a == LJS_BX_GONE && b == LJS_BX_LINK))
    return LJS_BX_GONE; /* It may be there no more. */
  if ((a == LJS_BX_PC && b == LJS_BX_NEXT) ||
      (a == LJS_BX_NEXT && b == LJS_BX_PC))
    return LJS_BX_NEXT; /* Behind it, or at it: it has ended. */
  return LJS_BX_ANY;
}

/* Join the state F into that at AT. */
static void join(Run *r, uint32_t at, const Flow *f)
{
  Flow *old, was;
  if (at >= r->t->n || !r->at[at].begins)
    return;
  old = &r->at[at];
  was = *old;
  if (!old->seen) {
    old->bx = old->forced ? old->forced : f->bx;
    old->dx = f->dx;
    old->bp = f->bp;
    old->seen = 1;
  } else {
    if (old->bx != f->bx && !old->forced)
      old->bx = either(old->bx, f->bx);
    if (old->dx != f->dx)
      old->dx = LJS_DX_ANY;
    if (old->bp != f->bp)
      old->bp = LJS_BP_ANY;
  }
  if (was.seen != old->seen || was.bx != old->bx || was.dx != old->dx ||
      was.bp != old->bp)
    r->changed = 1;
}

/* Goes over all code once. */
static void pass(Run *r)
{
  uint32_t at = 0, next, to;
  LsX86 x;
  unsigned len;
  for (; (len = decode(r->t, at, &x)); at = next) {
    Flow f;
    next = at + len;
    if (r->at[at].root && !r->at[at].seen)
      join(r, at, &unknown);
    if (!r->at[at].seen)
      continue;
    f = flow(r->t, &x, r->at[at], next);
    if (is_jump(&x, next, &to))
      join(r, to, &f);
    if (!is_end(&x))
      join(r, next, &f);
  }
}

/* Does the code jump to the instruction that frees the C frame? That is the
** return from a function that the FFI called: the VM's part of the frame is
** gone by then.
*/
static int takes_down(const LsVmText *t, uint32_t next)
{
  unsigned len, n = 4;
  uint32_t to;
  LsX86 x;
  for (; n-- && (len = decode(t, next, &x)); next += len)
    if (is(&x, 0xe9))
      return is_jump(&x, next + len, &to) && decode(t, to, &x) &&
             is(&x, 0x83) && !x.mem && x.rm == LS_RSP && (x.reg & 7) == ADD;
    else if (is_end(&x) || is_call(&x))
      break;
  return 0;
}

/* From one place to another all Lua frames have ended. */
static void force_left(Run *r, uint32_t from, uint32_t to)
{
  unsigned len;
  LsX86 x;
  for (; from <= to && (len = decode(r->t, from, &x)); from += len)
    r->at[from].forced = LJS_BX_LEFT;
}

/* Finds where instructions begin, and which of them are reached only by
** indirect jumps: through the dispatch table, as the continuation of something,
** from traces.
*/
static void find_roots(Run *r)
{
  uint32_t at = 0, block = 0, to;
  unsigned len;
  uint8_t root = 1;
  LsX86 x;
  for (; (len = decode(r->t, at, &x)); at += len) {
    r->at[at].begins = 1;
    r->at[at].root = root;
    root = (uint8_t)is_end(&x);
    if (r->at[at].root)
      block = at;
    if (leaves(r->t, &x, at + len))
      r->at[at].forced = LJS_BX_ENTER;
    if (is_call(&x) && takes_down(r->t, at + len) && at - block < 48)
      force_left(r, block, at);
  }
  for (at = 0; (len = decode(r->t, at, &x)); at += len)
    if (is_jump(&x, at + len, &to) && to < r->t->n)
      r->at[to].root = 0;
  /* Routines are called from elsewhere, too; what is before them may be a call
  ** that never returns.
  */
  for (at = 0; (len = decode(r->t, at, &x)); at += len)
    if (is(&x, 0xe8))
      join(r, at + len + (uint32_t)x.disp, &unknown);
}

/* Makes the first unreached instruction a root. Returns 0 if there is none. */
static int next_root(Run *r)
{
  uint32_t at = 0;
  unsigned len;
  LsX86 x;
  for (; (len = decode(r->t, at, &x)); at += len)
    if (!r->at[at].seen) {
      r->at[at].root = 1;
      return 1;
    }
  return 0;
}

#define PASSES 1024 /* States only get less certain, so they end. */

uint16_t *ls_vmflow(const LsVmText *t)
{
  Run r = {.t = t, .at = calloc((size_t)t->n + 1, sizeof(Flow)), .changed = 1};
  uint16_t *out = calloc((size_t)t->n + 1, sizeof(*out));
  uint32_t at;
  unsigned i;
  if (!r.at || !out) {
    free(r.at);
    free(out);
    return NULL;
  }
  find_roots(&r);
  for (i = 0; i < PASSES && (r.changed || next_root(&r)); i++) {
    r.changed = 0;
    pass(&r);
  }
  for (at = 0; at < t->n && !r.changed; at++)
    out[at] = (uint16_t)LJS_VM(r.at[at].bx, r.at[at].dx, r.at[at].bp);
  free(r.at);
  return out;
}

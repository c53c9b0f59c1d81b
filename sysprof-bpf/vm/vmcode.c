/*
** Finds LuaJIT in machine code, and the layout of its VM.
**
** The interpreter is one large function. An offset must be the same at all
** places where the code has it, or the VM is rejected.
*/

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmcode.h"
#include "vmir.h"
#include "vmlib.h"
#include "vmlayout.h"
#include "vmscan.h"

#define VM_MINCODE  0x2000  /* No interpreter is smaller. */
#define VM_MAXCODE  0x20000 /* Nor larger. */
#define VM_DISPATCH 40      /* Jumps to the next instruction: many more. */

/* Findings, and room for what is wrong with them. */
typedef struct Case {
  LsScan s;
  char *why;
} Case;

/* Reject the VM: WHAT is wrong. Always returns -1. */
__attribute__((format(printf, 2, 3))) static int refuse(char *why,
                                                        const char *what, ...)
{
  va_list ap;
  va_start(ap, what);
  vsnprintf(why, LS_WHY, what, ap);
  va_end(ap);
  return -1;
}

/* -- Conclusions ---------------------------------------------------------- */

/* A value on which all votes agree. */
static bool agreed(Case *c, const LsVotes *v, unsigned min, const char *what,
                   int64_t lo, int64_t hi, int64_t *value)
{
  if (!ls_vote_won(v, min, 100, value)) {
    refuse(c->why, "%s: %u of %u places in the code agree", what, v->n[0],
           v->total);
    return false;
  }
  if (*value < lo || *value > hi) {
    refuse(c->why, "%s: %lld makes no sense", what, (long long)*value);
    return false;
  }
  return true;
}

/* The C frame. Returns false, and says why, when it is not certain. */
static bool conclude_frame(Case *c, struct ljs_vm *vm)
{
  int64_t v, pc, max;
  if (!agreed(c, &c->s.frame, 3, "size of the C frame", 64, 512, &v))
    return false;
  if (v != c->s.c->frame) {
    refuse(c->why, "C frame: %lld bytes by the code, %u by the unwind table",
           (long long)v, c->s.c->frame);
    return false;
  }
  vm->frame = c->s.c->frame;
  vm->bp = c->s.c->bp;
  vm->bx = c->s.c->bx;
  max = vm->frame - 8;
  if (!agreed(c, &c->s.save_l, 3, "SAVE_L", 0, max, &v))
    return false;
  vm->save_l = (uint16_t)v;
  if (!agreed(c, &c->s.save_nres, 2, "SAVE_NRES", 0, max, &v))
    return false;
  vm->save_nres = (uint16_t)v;
  if (!agreed(c, &c->s.save_cframe, 2, "SAVE_CFRAME", 0, max, &v))
    return false;
  vm->save_cframe = (uint16_t)v;
  if (!agreed(c, &c->s.save_pc, 2, "SAVE_PC", 0, max, &v))
    return false;
  if (!ls_vote_won(&c->s.anypc, 10, 80, &pc) || pc != v) {
    refuse(c->why, "SAVE_PC: entries and instructions do not agree");
    return false;
  }
  vm->save_pc = (uint16_t)v;
  return true;
}

/* Fields of g that are there in all builds. */
static bool conclude_global(Case *c, struct ljs_vm *vm)
{
  int64_t g2disp, v, most;
  if (!agreed(c, &c->s.g2disp, 3, "dispatch table", 256, 1 << 20, &g2disp))
    return false;
  vm->g2disp = (int32_t)g2disp;
  if (!agreed(c, &c->s.cur_l, 3, "cur_L", -g2disp, -1, &v))
    return false;
  vm->cur_l = (int32_t)(v + g2disp);
  if (!agreed(c, &c->s.vmstate, 2, "vmstate", -g2disp, -1, &v))
    return false;
  if (!ls_vote_won(&c->s.anystate, 4, 60, &most) || most != v) {
    refuse(c->why, "vmstate: entries and the rest do not agree");
    return false;
  }
  vm->vmstate = (int32_t)(v + g2disp);
  return true;
}

/* The tables of fields, as far as the code has them too. */
static bool conclude_fields(Case *c, const struct ljs_vm *vm)
{
  const struct {
    const char *what;
    const LsVotes *votes;
    unsigned min;
    int64_t expected;
  } field[] = {
      {"glref", &c->s.glref, 3, vm->l_glref},
      {"L->cframe", &c->s.l_cframe, 3, vm->l_cframe},
      {"L->base", &c->s.l_base, 2, vm->l_base},
      {"constants", &c->s.kofs, 2, vm->pt_k - vm->pt_size},
      {"function's PC", &c->s.fnpc, 3, vm->fn_pc},
  };
  size_t i;
  for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
    int64_t v;
    if (!ls_vote_won(field[i].votes, field[i].min, 60, &v)) {
      refuse(c->why, "%s: not found in the code", field[i].what);
      return false;
    }
    /* Some are read with the PC one instruction ahead. */
    if (v != field[i].expected &&
        !(field[i].votes == &c->s.kofs && v == field[i].expected - 4)) {
      refuse(c->why, "%s: at %lld in the code, but at %lld as far as known",
             field[i].what, (long long)v, (long long)field[i].expected);
      return false;
    }
  }
  return true;
}

/* Traces. A build without the compiler has neither entries nor exits. */
static bool conclude_jit(Case *c, struct ljs_vm *vm)
{
  unsigned i, zeroed = 0;
  int64_t v;
  if (c->s.jloops == 0 && c->s.exits == 0)
    return true;
  if (c->s.jloops != 1 || c->s.exits != 1) {
    refuse(c->why, "traces: %u entries and %u exits", c->s.jloops, c->s.exits);
    return false;
  }
  for (i = 0; i < 8; i++)
    if (c->s.nojit.v[i] == c->s.jit_base)
      zeroed = c->s.nojit.n[i];
  if (!zeroed || c->s.jit_base >= 0 || c->s.jit_base + vm->g2disp <= 0) {
    refuse(c->why, "jit_base: entries and exits do not agree");
    return false;
  }
  if (!ls_vote_won(&c->s.tracearray, 1, 100, &v) || v != c->s.trace ||
      !ls_vote_won(&c->s.exitroom, 1, 100, &v) || v != c->s.jit_frame) {
    refuse(c->why, "traces: entries and exits do not agree");
    return false;
  }
  if (c->s.mcode != vm->t_mcode || c->s.trace_ref != (vm->gc64 ? 8 : 4)) {
    refuse(c->why, "traces: their layout is not known");
    return false;
  }
  if (c->s.trace + vm->g2disp <= 0 || c->s.jit_frame < 0 ||
      c->s.jit_frame > 1024) {
    refuse(c->why, "traces: offsets that make no sense");
    return false;
  }
  vm->jit = 1;
  vm->jit_base = (int32_t)(c->s.jit_base + vm->g2disp);
  vm->trace = (int32_t)(c->s.trace + vm->g2disp);
  vm->jit_frame = (uint16_t)c->s.jit_frame;
  return true;
}

/* Draw the conclusions from what was found. */
static int conclude(Case *c, struct ljs_vm *out)
{
  struct ljs_vm vm = {0};
  int64_t wide;
  if (!agreed(c, &c->s.gc64, 8, "width of references", 0, 1, &wide))
    return -1;
  vm.gc64 = (uint8_t)wide;
  ls_vm_fields(&vm);
  vm.lo = c->s.c->lo;
  vm.hi = c->s.c->lo + (uint32_t)c->s.c->n;
  if (!conclude_frame(c, &vm) || !conclude_global(c, &vm) ||
      !conclude_fields(c, &vm) || !conclude_jit(c, &vm))
    return -1;
  *out = vm;
  return 1;
}

int ls_vm_scan(const LsVmCode *code, struct ljs_vm *out, char why[LS_WHY])
{
  Case c = {.s.c = code, .why = why};
  int found = 0;
  why[0] = '\0';
  if (code->n < VM_MINCODE || code->n > VM_MAXCODE ||
      code->lo > UINT32_MAX - code->n)
    return 0;
  if (!ls_scan(&c.s))
    return refuse(why, "not enough memory");
  if (c.s.dispatch >= VM_DISPATCH && c.s.entries > 0)
    found = conclude(&c, out);
  free(c.s.ins);
  return found;
}

/* The row that holds for all of a function, if there is one and it is like an
** interpreter's; or NULL.
*/
static const struct ljs_row *find_row(const LsRows *rows,
                                      const LsAddrRange *range)
{
  const struct ljs_row *row = ls_rows_find(rows, range->lo);
  if (range->hi > UINT32_MAX || range->hi - range->lo < VM_MINCODE ||
      range->hi - range->lo > VM_MAXCODE || !row)
    return NULL;
  if (row + 1 < rows->row + rows->n && row[1].pc < range->hi)
    return NULL; /* Functions of C have prologues. */
  if (row->how != LJS_CFA_SP || row->cfa < 64 || row->cfa > 512 ||
      row->bphow != LJS_REG_CFA || row->bxhow != LJS_REG_CFA)
    return NULL;
  return row;
}

/* Whether a file says that it has LuaJIT 2.0: its version is a string in it. */
static bool vm_isold(const LsElf *e)
{
  static const char version[] = "LuaJIT 2.0.";
  LsSegment seg[LS_ELF_SEGMENTS];
  size_t n = ls_elf_segments(e, seg), i, rest;
  for (i = 0; i < n; i++) {
    const uint8_t *p = ls_elf_rest(e, seg[i].addr, &rest);
    if (p && memmem(p, rest, version, sizeof(version) - 1))
      return true;
  }
  return false;
}

int ls_vm_find(const LsElf *e, const LsRows *rows, struct ljs_vm *out,
               char why[LS_WHY])
{
  int found = 0;
  size_t i;
  why[0] = '\0';
  for (i = 0; i < rows->nrange; i++) {
    const LsAddrRange *range = &rows->range[i];
    const struct ljs_row *row = find_row(rows, range);
    LsVmCode code;
    struct ljs_vm vm;
    char what[LS_WHY];
    int r;
    if (!row)
      continue;
    code = (LsVmCode){.n = range->hi - range->lo,
                      .lo = (uint32_t)range->lo,
                      .frame = (uint16_t)row->cfa,
                      .bp = row->bp,
                      .bx = row->bx};
    code.code = ls_elf_bytes(e, range->lo, code.n);
    r = code.code ? ls_vm_scan(&code, &vm, what) : 0;
    if (r == 1 && found == 1)
      return refuse(why, "two interpreters in one file");
    if (r == 1) {
      *out = vm;
      why[0] = '\0';
      found = 1;
    } else if (r < 0 && found == 0) {
      snprintf(why, LS_WHY, "%s", what);
      found = -1;
    }
  }
  if (found > 0 && out->jit) {
    out->irform = ls_vm_irform(e);
    ls_vm_libraries(e, out);
  }
  if (found < 0 && vm_isold(e))
    snprintf(why, LS_WHY, "%s", LS_WHY_OLD);
  return found;
}

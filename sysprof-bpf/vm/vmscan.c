/*
** Scan of an interpreter's machine code for offsets in its VM.
**
** Offsets are read at places where the code has a meaning that cannot change:
** where C enters the VM, where a trace is entered and left, where an
** instruction stores its PC. Each place has a vote.
*/

#include <stdlib.h>

#include "vmscan.h"
#include "x86.h"

#define VM_ENTRY 48 /* Instructions at an entry from C. */

#define REG_BASE LS_RDX /* The interpreter's registers. */
#define REG_PC   LS_RBX
#define REG_L    LS_RBP
#define REG_DISP LS_R14
#define REG_KB   LS_R15

/* -- Votes ---------------------------------------------------------------- */

/* Count a value, one of at most eight. */
static void vote(LsVotes *v, int64_t value)
{
  unsigned i;
  v->total++;
  for (i = 0; i < 8; i++) {
    if (!v->n[i])
      v->v[i] = value;
    if (v->v[i] == value) {
      v->n[i]++;
      return;
    }
  }
}

bool ls_vote_won(const LsVotes *v, unsigned min, unsigned percent,
                 int64_t *value)
{
  unsigned i, best = 0;
  for (i = 1; i < 8; i++)
    if (v->n[i] > v->n[best])
      best = i;
  if (v->n[best] < min || v->n[best] * 100ull < v->total * (uint64_t)percent)
    return false;
  *value = v->v[best];
  return true;
}

/* -- Shapes of instructions ----------------------------------------------- */

/* Load of a register from [base+disp], with nothing added. */
static bool is_load(const LsX86 *i, uint8_t reg, uint8_t base)
{
  return i->map == 0 && i->op == 0x8b && i->mem && !i->prefix &&
         i->reg == reg && i->base == base && i->index == LS_NREG;
}

/* Store of a register to [base+disp]. */
static bool is_store(const LsX86 *i, uint8_t reg, uint8_t base)
{
  return i->map == 0 && i->op == 0x89 && i->mem && !i->prefix &&
         i->reg == reg && i->base == base && i->index == LS_NREG;
}

/* Store of a constant to [base+disp]. */
static bool is_storeimm(const LsX86 *i, uint8_t base)
{
  return i->map == 0 && i->op == 0xc7 && i->mem && !i->prefix &&
         i->base == base && i->index == LS_NREG;
}

/* add or sub of a constant and a register. */
static bool is_arith(const LsX86 *i, unsigned which, uint8_t reg)
{
  return i->map == 0 && (i->op == 0x81 || i->op == 0x83) && !i->mem &&
         (i->reg & 7) == which && i->rm == reg;
}

/* Does it push a register? */
static bool is_push(const LsX86 *i, uint8_t reg)
{
  return i->map == 0 && (i->op & 0xf8) == 0x50 && i->reg == reg;
}

/* jmp reg */
static bool is_jmpreg(const LsX86 *i, uint8_t reg)
{
  return i->map == 0 && i->op == 0xff && !i->mem && (i->reg & 7) == 4 &&
         i->rm == reg;
}

/* jmp [r14+rbp*8]: on to the next bytecode. */
static bool is_dispatch(const LsX86 *i)
{
  return i->map == 0 && i->op == 0xff && i->mem && (i->reg & 7) == 4 &&
         i->base == REG_DISP && i->index != LS_NREG && i->scale == 8;
}

/* A state of the VM is a small number below zero. */
static bool is_setstate(const LsX86 *i)
{
  return is_storeimm(i, REG_DISP) && !i->wide && i->imm < 0 && i->imm >= -16;
}

/* True if nothing goes on behind the instruction. */
static bool is_end(const LsX86 *i)
{
  return i->map == 0 && (i->op == 0xe9 || i->op == 0xeb || i->op == 0xc3 ||
                         (i->op == 0xff && (i->reg & 7) == 4));
}

/* -- Entries from C ------------------------------------------------------- */

/* The pushes and the room made at instruction I: how many instructions they
** are. 0 if it is no entry.
*/
static unsigned scan_prologue(LsScan *s, size_t i)
{
  static const uint8_t saved[] = {LS_RBP, LS_RBX, LS_R15, LS_R14, 13, 12};
  unsigned n = 0;
  while (n < 6 && i + n + 1 < s->n && is_push(&s->ins[i + n], saved[n]))
    n++;
  if (n != 4 && n != 6)
    return 0;
  if (!is_arith(&s->ins[i + n], 5, LS_RSP) || s->ins[i + n].imm <= 0)
    return 0;
  vote(&s->frame, 8 + 8 * n + s->ins[i + n].imm);
  return n + 1;
}

/* One instruction of an entry. */
static void scan_entryins(LsScan *s, const LsX86 *p, const LsX86 *end)
{
  const LsX86 *q;
  if (is_store(p, LS_RDI, LS_RSP)) {
    vote(&s->save_l, p->disp);
    vote(&s->gc64, p->wide);
  } else if (!p->wide &&
             (is_store(p, LS_RDX, LS_RSP) || is_store(p, REG_KB, LS_RSP))) {
    vote(&s->save_nres, p->disp);
  } else if (is_load(p, REG_DISP, REG_L)) {
    vote(&s->glref, p->disp);
    vote(&s->gc64, p->wide);
  } else if (is_arith(p, 0, REG_DISP)) {
    vote(&s->g2disp, p->imm);
    vote(&s->gc64, p->wide);
  } else if (is_store(p, LS_RSP, REG_L) && p->wide) {
    vote(&s->l_cframe, p->disp);
  } else if (is_store(p, REG_L, LS_RSP)) {
    vote(&s->save_pc, p->disp);
    vote(&s->gc64, p->wide);
  } else if (is_store(p, REG_L, REG_DISP)) {
    vote(&s->cur_l, p->disp);
    vote(&s->gc64, p->wide);
  } else if (is_setstate(p)) {
    vote(&s->vmstate, p->disp);
  } else if (is_load(p, REG_BASE, REG_L)) {
    vote(&s->l_base, p->disp);
  } else if (is_load(p, REG_KB, REG_L) && p->wide) {
    for (q = p + 1; q < end && q < p + 4; q++)
      if (is_store(q, REG_KB, LS_RSP) && q->wide) {
        vote(&s->save_cframe, q->disp);
        vote(&s->l_cframe, p->disp);
        break;
      }
  }
}

/* An entry from C, if there is one at instruction I. */
static void scan_entry(LsScan *s, size_t i)
{
  unsigned n = scan_prologue(s, i);
  const LsX86 *p = s->ins + i + n, *end;
  if (n == 0)
    return;
  s->entries++;
  end = s->ins + (s->n - i < VM_ENTRY ? s->n : i + VM_ENTRY);
  for (; p < end && !is_end(p) && !is_push(p, LS_RBP); p++)
    scan_entryins(s, p, end);
}

/* -- Traces --------------------------------------------------------------- */

/* The rest of a trace's entry: from where its machine code's address is in a
** register.
*/
static bool scan_jloop_tail(LsScan *s, size_t i, uint8_t mcode)
{
  int64_t base = 0, room = 0;
  size_t end = s->n - i < 12 ? s->n : i + 12;
  for (; i < end; i++) {
    const LsX86 *p = &s->ins[i];
    if (is_store(p, REG_BASE, REG_DISP))
      base = p->disp;
    else if (is_arith(p, 5, LS_RSP))
      room = p->imm;
    else if (is_jmpreg(p, mcode))
      break;
    else if (is_end(p))
      return false;
  }
  if (i == end || base == 0)
    return false;
  s->jit_base = base;
  s->jit_frame = room;
  return true;
}

/* mov a,[r14+x]; mov b,[a+n*8]: a trace is taken from the list of them. */
static bool is_listed(const LsX86 *p)
{
  return p[0].map == 0 && p[0].op == 0x8b && p[0].mem &&
         p[0].base == REG_DISP && p[0].index == LS_NREG && p[1].map == 0 &&
         p[1].op == 0x8b && p[1].mem && p[1].base == p[0].reg &&
         p[1].index != LS_NREG && p[1].disp == 0;
}

/* lea r,[rsp+x] or add rsp,x; then r13 is restored: the room of a trace is
** given back. How much it is, or 0.
*/
static int64_t exit_room(const LsX86 *p)
{
  bool lea = p->map == 0 && p->op == 0x8d && p->mem && p->base == LS_RSP &&
             p->index == LS_NREG;
  if (!lea && !is_arith(p, 0, LS_RSP))
    return 0;
  if (!is_load(p + 1, 13, lea ? p->reg : LS_RSP) || !p[1].wide)
    return 0;
  return lea ? p->disp : p->imm;
}

/* is_listed(); mov b,[b+y]; ...; jmp b: a trace is entered. */
static void scan_jloop(LsScan *s, size_t i)
{
  const LsX86 *p = s->ins + i;
  if (i + 3 >= s->n || !is_listed(p))
    return;
  vote(&s->tracearray, p[0].disp);
  if (!is_load(&p[2], p[2].reg, p[1].reg) || !p[2].wide ||
      !scan_jloop_tail(s, i + 3, p[2].reg))
    return;
  s->jloops++;
  s->trace = p[0].disp;
  s->trace_ref = p[1].scale;
  s->mcode = p[2].disp;
}

/* Where exits of traces save all registers. */
static void scan_exit(LsScan *s, size_t i)
{
  unsigned k;
  if (i + 1 < s->n && exit_room(&s->ins[i]))
    vote(&s->exitroom, exit_room(&s->ins[i]));
  for (k = 0; k < 6; k++)
    if (i + k >= s->n || !is_push(&s->ins[i + k], (uint8_t)(13 - k)))
      return;
  s->exits++;
}

/* -- The whole ------------------------------------------------------------ */

/* What an instruction shows wherever it is. */
static void scan_anywhere(LsScan *s, size_t i)
{
  const LsX86 *p = s->ins + i;
  if (is_dispatch(p))
    s->dispatch++;
  else if (is_store(p, REG_PC, LS_RSP))
    vote(&s->anypc, p->disp);
  else if (is_setstate(p))
    vote(&s->anystate, p->disp);
  else if (is_storeimm(p, REG_DISP) && p->imm == 0)
    vote(&s->nojit, p->disp);
  else if (is_load(p, REG_KB, REG_PC) && p->disp < 0)
    vote(&s->kofs, p->disp);
  else if (is_load(p, REG_PC, REG_L) && i + 1 < s->n &&
           is_load(p + 1, LS_RCX, REG_PC) && p[1].disp == 0)
    vote(&s->fnpc, p->disp);
}

/* Decode all code. Bytes that are no instruction are passed over. */
static bool scan_decode(LsScan *s)
{
  size_t at = 0;
  s->ins = malloc(s->c->n * sizeof(LsX86));
  if (!s->ins)
    return false;
  while (at < s->c->n) {
    if (ls_x86_decode(s->c->code + at, s->c->n - at, &s->ins[s->n]))
      at += s->ins[s->n++].len;
    else
      at++;
  }
  return true;
}

bool ls_scan(LsScan *s)
{
  size_t i;
  if (!scan_decode(s))
    return false;
  for (i = 0; i < s->n; i++) {
    scan_anywhere(s, i);
    scan_entry(s, i);
    scan_jloop(s, i);
    scan_exit(s, i);
  }
  return true;
}

/*
** Which functions a trace has called, by where its code has them from.
*/

#include <stdlib.h>
#include <string.h>

#include "traceflow.h"
#include "tracecallee.h"

#define CALLEE_BACK 64 /* Instructions in front of a call, that are read. */

/* -- Bytecode -------------------------------------------------------------- */

enum { BC_ISTC = 12, BC_ISFC = 13, BC_TGETR = 59 };

/* Whether an instruction may write to a slot. A call leaves nothing as it was
** in its own slots.
*/
static bool callee_writes(uint32_t ins, uint32_t slot)
{
  uint32_t op = LS_BC_OP(ins), a = LS_BC_A(ins);
  if (op == LS_BC_KNIL)
    return slot >= a && slot <= LS_BC_D(ins);
  if (op == BC_ISTC || op == BC_ISFC || (op >= LS_BC_MOV && op <= LS_BC_UGET) ||
      (op >= LS_BC_FNEW && op <= LS_BC_GGET) ||
      (op > LS_BC_GSET && op <= BC_TGETR))
    return slot == a;
  if (op >= LS_BC_FORI && op <= LS_BC_JFORL)
    return slot >= a && slot <= a + 3;
  return op >= LS_BC_CALLM && op <= LS_BC_VARG && slot >= a;
}

/* Whether a jump from in front of the instruction at DEF leads behind it, and
** not behind POS.
*/
static bool callee_jumped(const LsFunc *f, uint32_t def, uint32_t pos)
{
  uint32_t i = def > CALLEE_BACK ? def - CALLEE_BACK : 0;
  for (; i < def; i++)
    if (ls_flow_jumps(f, i) && ls_flow_target(f, i) > def &&
        ls_flow_target(f, i) <= pos)
      return true;
  return false;
}

/* The instruction that has put into its slot what is called at POS, or 0. POS
** itself calls an iterator, which is in a slot of the loop.
*/
static uint32_t callee_def(const LsFunc *f, uint32_t pos)
{
  uint32_t slot = LS_BC_A(f->bc[pos]), i;
  if (LS_BC_OP(f->bc[pos]) == LS_BC_ITERC)
    return slot < 3 ? 0 : pos;
  for (i = pos; i-- > 1 && pos - i < CALLEE_BACK;)
    if (callee_writes(f->bc[i], slot))
      return callee_jumped(f, i, pos) ? 0 : i;
  return 0;
}

/* -- Reading -------------------------------------------------------------- */

/* The entry of what is loaded from somewhere; a new one is of CALLEE. NULL if
** there is no room.
*/
static LsKnown *known_entry(LsTrace *T, const LsKnown *from)
{
  uint32_t i;
  for (i = 0; i < T->nknown; i++)
    if (T->known[i].key == from->key && T->known[i].slot == from->slot)
      return &T->known[i];
  if (T->nknown == LS_KNOWN)
    return NULL;
  T->known[T->nknown] = *from;
  return &T->known[T->nknown++];
}

/* Add that what is loaded from somewhere is a function. */
static void known_add(LsTrace *T, const LsKnown *from)
{
  LsKnown *k = known_entry(T, from);
  if (k && (k->f != from->f || from->several))
    k->several = true;
}

/* The name of a field that instruction REF is a reference to, or NULL. */
static const char *known_key(LsFuncs *fs, const LsIr *t, uint32_t ref)
{
  const LsIns *ins;
  char buf[LS_NAME_MAX + 1];
  uint64_t value;
  size_t n;
  if (ref < LS_REF_BIAS || ref >= t->nins)
    return NULL;
  ins = &t->ins[ref - LS_REF_BIAS];
  if (ins->op != LS_IR_HREFK && ins->op != LS_IR_HREF &&
      ins->op != LS_IR_NEWREF)
    return NULL;
  ref = ins->op2;
  if (ls_ir_constant(t, ref, &value) == LS_IR_KSLOT)
    ref = (uint32_t)value & 0xffff;
  if (ls_ir_constant(t, ref, &value) != LS_IR_KGC)
    return NULL;
  n = ls_view_string(t->v, value, buf, sizeof(buf));
  return n > 0 ? ls_pool_add(fs->pool, buf, n) : NULL;
}

/* Where instruction REF loads a function from. Returns false if that is no
** place that is known.
*/
static bool known_from(LsFuncs *fs, const LsIr *t, uint32_t ref, LsKnown *k)
{
  const LsIns *ins;
  uint32_t first = 1u + t->v->vm.gc64;
  *k = (LsKnown){0};
  if (ref < LS_REF_BIAS || ref >= t->nins)
    return false;
  ins = &t->ins[ref - LS_REF_BIAS];
  if (ins->op == LS_IR_HLOAD)
    return (k->key = known_key(fs, t, ins->op1)) != NULL;
  if (ins->op != LS_IR_SLOAD || ins->op1 < first)
    return false;
  k->slot = ins->op1 - first;
  return true;
}

/* What REF, a function, is compared with by instruction I, a guard. Returns 0
** if it is something else, 1 if it is one of Lua's, 2 if it is another one.
*/
static int known_compare(LsFuncs *fs, const LsIr *t, uint32_t i, uint32_t *ref,
                         LsFunc **f)
{
  const LsIns *ins = &t->ins[i - LS_REF_BIAS], *load;
  LsView *v = t->v;
  uint64_t value, pt = 0, check;
  int op;
  *ref = ins->op1;
  *f = NULL;
  if (ins->op != LS_IR_EQ || *ref < LS_REF_BIAS || *ref >= i)
    return 0;
  op = ls_ir_constant(t, ins->op2, &value);
  load = &t->ins[*ref - LS_REF_BIAS];
  if (op == LS_IR_KGC && ls_view_type(v, value) == LS_GCT_FUNC) {
    if (ls_remote_uint(v->mem, value + v->vm.fn_ffid, 1) != 0)
      return 2;
    pt = ls_view_ref(v, value + v->vm.fn_pc) - v->vm.pt_size;
  } else if ((op == LS_IR_KPTR || op == LS_IR_KKPTR) &&
             load->op == LS_IR_FLOAD) {
    pt = value - v->vm.pt_size;
    *ref = load->op1;
  }
  if (pt && ls_proto_check(v, pt, &check))
    *f = ls_func_read(fs, v, pt);
  return *f != NULL;
}

/* Note each comparison of a function. DONE: what was compared. */
static void known_compared(LsFuncs *fs, const LsIr *t, LsTrace *T,
                           uint8_t *done)
{
  uint32_t i, ref;
  for (i = LS_REF_BIAS + 1; i < t->nins; i++) {
    LsFunc *f;
    LsKnown k;
    if (!known_compare(fs, t, i, &ref, &f) || !known_from(fs, t, ref, &k))
      continue;
    done[ref - LS_REF_BIAS] = 1;
    k.f = f;
    known_add(T, &k);
  }
}

/* Note what may be another function: one that is not compared, or stored. */
static void known_others(LsFuncs *fs, const LsIr *t, LsTrace *T,
                         const uint8_t *done)
{
  uint32_t i;
  for (i = LS_REF_BIAS + 1; i < t->nins; i++) {
    const LsIns *ins = &t->ins[i - LS_REF_BIAS];
    LsKnown k = {.several = true};
    if ((ins->type & LS_IRT_TYPE) != LS_IRT_FUNC || done[i - LS_REF_BIAS])
      continue;
    if (ins->op == LS_IR_HSTORE)
      k.key = known_key(fs, t, ins->op1);
    else if (!known_from(fs, t, i, &k))
      continue;
    k.several = true;
    if (k.key || ins->op != LS_IR_HSTORE)
      known_add(T, &k);
  }
}

void ls_callee_read(LsFuncs *fs, const LsIr *t, LsTrace *T)
{
  uint8_t *done;
  if (!t->v->vm.irform || !(done = calloc(t->nins - LS_REF_BIAS, 1)))
    return;
  known_compared(fs, t, T, done);
  known_others(fs, t, T, done);
  free(done);
}

/* -- Finding -------------------------------------------------------------- */

/* Whether the trace may have begun between two instructions of a function. */
static bool callee_begun(const LsTrace *T, const LsFunc *f, uint32_t def,
                         uint32_t pos)
{
  uint32_t k;
  for (k = 0; T->nsnap > 0 && k < T->snap[0].nplace; k++) {
    const LsPlace *p = &T->place[T->snap[0].place + k];
    if (p->f == f && p->pos > def && p->pos <= pos)
      return true;
  }
  return false;
}

typedef struct Part {
  uint32_t lo, hi;
} Part;

static void part_add(Part *p, uint32_t pos)
{
  p->lo = pos < p->lo ? pos : p->lo;
  p->hi = pos > p->hi ? pos : p->hi;
}

/* The part of a function that a trace is in, as an outermost one: where
** snapshots and returns are, and from there on up to where a loop around them
** ends. Returns false if there is none.
*/
static bool callee_part(const LsTrace *T, const LsFunc *f, Part *p)
{
  uint32_t i, k;
  *p = (Part){.lo = UINT32_MAX};
  for (i = 0; i < T->nsnap; i++) {
    const LsSnap *s = &T->snap[i];
    for (k = s->nplace ? s->nplace - 1 : 0; k < s->nplace + s->nback; k++)
      if (T->place[s->place + k].f == f)
        part_add(p, T->place[s->place + k].pos);
    if (s->branches && s->nplace == 1 && T->place[s->place].f == f)
      part_add(p, s->go);
  }
  if (p->lo > p->hi)
    return false;
  while (p->hi < f->sizebc &&
         !(ls_flow_jumps(f, p->hi) && ls_flow_target(f, p->hi) <= p->lo))
    p->hi++;
  return true;
}

/* Whether a trace does not change a slot of F, as an outermost function, and
** has the instruction at POS.
*/
static bool callee_keeps(const LsTrace *T, const LsFunc *f, uint32_t slot,
                         uint32_t pos)
{
  Part p;
  uint32_t i;
  if (!callee_part(T, f, &p) || pos < p.lo || pos > p.hi)
    return false;
  for (i = p.lo; i < p.hi && i < f->sizebc; i++)
    if (callee_writes(f->bc[i], slot))
      return false;
  return true;
}

/* The entry of a field or of a slot. */
static const LsKnown *callee_find(const LsTrace *T, const char *key,
                                  uint32_t slot)
{
  uint32_t i;
  for (i = 0; i < T->nknown; i++) {
    const LsKnown *k = &T->known[i];
    if (key ? k->key && strcmp(k->key, key) == 0 : !k->key && k->slot == slot)
      return k;
  }
  return NULL;
}

const char *ls_callee_name(const LsFunc *f, uint32_t pos)
{
  return callee_def(f, pos) ? ls_func_callee(f, pos) : "";
}

bool ls_callee_known(const LsTrace *T, const LsFunc *f, uint32_t pos,
                     bool outermost, LsFunc **callee)
{
  uint32_t def = T->nknown > 0 ? callee_def(f, pos) : 0, slot;
  const char *name = ls_func_callee(f, pos);
  const LsKnown *k = NULL;
  if (!def)
    return false;
  slot = def == pos ? LS_BC_A(f->bc[pos]) - 3 : LS_BC_D(f->bc[def]);
  switch (LS_BC_OP(f->bc[def])) {
  case LS_BC_GGET:
  case LS_BC_TGETS:
    if (*name && !callee_begun(T, f, def, pos))
      k = callee_find(T, name, 0);
    break;
  case LS_BC_MOV:
  case LS_BC_ITERC:
    k = outermost ? callee_find(T, NULL, slot) : NULL;
    if (k && !callee_keeps(T, f, slot, def))
      k = NULL;
    break;
  default:
    break;
  }
  if (!k || k->several)
    return false;
  *callee = k->f;
  return true;
}

/*
** What a trace has loaded.
*/

#include <stdlib.h>
#include <string.h>

#include "traceflow.h"
#include "traceloads.h"

#define LOADS_BACK 64 /* Instructions in front of one, that are read. */
#define LOADS_MAX  64 /* Fields and slots. */

/* -- Bytecode -------------------------------------------------------------- */

/* Whether an instruction may write to a slot. A call leaves nothing as it was
** in its own slots.
*/
static bool loads_writes(uint32_t ins, uint32_t slot)
{
  uint32_t op = LS_BC_OP(ins), a = LS_BC_A(ins);
  if (op == LS_BC_KNIL)
    return slot >= a && slot <= LS_BC_D(ins);
  if (op == LS_BC_ISTC || op == LS_BC_ISFC ||
      (op >= LS_BC_MOV && op <= LS_BC_UGET) ||
      (op >= LS_BC_FNEW && op <= LS_BC_GGET) ||
      (op > LS_BC_GSET && op <= LS_BC_TGETR))
    return slot == a;
  if (op >= LS_BC_FORI && op <= LS_BC_JFORL)
    return slot >= a && slot <= a + 3;
  return op >= LS_BC_CALLM && op <= LS_BC_VARG && slot >= a;
}

/* Whether a jump from in front of the instruction at DEF leads behind it, and
** not behind POS.
*/
static bool loads_jumped(const LsFunc *f, uint32_t def, uint32_t pos)
{
  uint32_t i = def > LOADS_BACK ? def - LOADS_BACK : 0;
  for (; i < def; i++)
    if (ls_flow_jumps(f, i) && ls_flow_target(f, i) > def &&
        ls_flow_target(f, i) <= pos)
      return true;
  return false;
}

uint32_t ls_loads_source(const LsFunc *f, uint32_t pos, uint32_t slot)
{
  uint32_t i;
  for (i = pos; i-- > 1 && pos - i < LOADS_BACK;)
    if (loads_writes(f->bc[i], slot))
      return loads_jumped(f, i, pos) ? 0 : i;
  return 0;
}

/* -- Reading -------------------------------------------------------------- */

/* What is read, and where it goes. */
typedef struct Loads {
  LsFuncs *fs;
  const LsIr *t;
  LsLoad at[LOADS_MAX];
  uint32_t n;
  uint8_t *called; /* Of instructions that are compared with functions: the
                   ** numbers of their entries, from 1 on. */
} Loads;

/* The entry of a field, or of a slot without one. NULL if there is no room. */
static LsLoad *load_entry(Loads *l, const char *key, uint32_t slot)
{
  uint32_t i;
  for (i = 0; i < l->n; i++)
    if (l->at[i].key == key && l->at[i].slot == slot)
      return &l->at[i];
  if (l->n == LOADS_MAX)
    return NULL;
  l->at[l->n] = (LsLoad){.key = key, .slot = slot};
  return &l->at[l->n++];
}

/* Whether instruction REF refers to a field with a name: then it is in *KEY. */
static bool load_isfield(const Loads *l, uint32_t ref, const char **key)
{
  const LsIr *t = l->t;
  char buf[LS_NAME_MAX + 1];
  uint64_t str;
  size_t n;
  uint8_t op;
  if (ref < LS_REF_BIAS || ref >= t->nins)
    return false;
  op = t->ins[ref - LS_REF_BIAS].op;
  if (op != LS_IR_HREFK && op != LS_IR_HREF && op != LS_IR_NEWREF)
    return false;
  str = ls_ir_key(t, &t->ins[ref - LS_REF_BIAS]);
  n = str ? ls_view_string(t->v, str, buf, sizeof(buf)) : 0;
  *key = n > 0 ? ls_pool_add(l->fs->pool, buf, n) : NULL;
  return *key != NULL;
}

/* The entry of what instruction REF loads, or NULL. */
static LsLoad *load_of(Loads *l, uint32_t ref)
{
  uint32_t first = 1u + l->t->v->vm.gc64;
  const LsIns *ins;
  const char *key;
  if (ref < LS_REF_BIAS || ref >= l->t->nins)
    return NULL;
  ins = &l->t->ins[ref - LS_REF_BIAS];
  if (ins->op == LS_IR_HLOAD && load_isfield(l, ins->op1, &key))
    return load_entry(l, key, 0);
  if (ins->op == LS_IR_SLOAD && ins->op1 >= first)
    return load_entry(l, NULL, ins->op1 - first);
  return NULL;
}

/* What REF, a function, is compared with by a guard. Returns 0 if it is
** something else, 1 if it is one of Lua's, 2 if it is another one.
*/
static int load_compare(const Loads *l, const LsIns *ins, uint32_t *ref,
                        LsFunc **f)
{
  LsView *v = l->t->v;
  uint64_t value, pt = 0, check;
  int op;
  *ref = ins->op1;
  *f = NULL;
  if (ins->op != LS_IR_EQ || *ref < LS_REF_BIAS || *ref >= l->t->nins)
    return 0;
  op = ls_ir_constant(l->t, ins->op2, &value);
  if (op == LS_IR_KGC && ls_view_type(v, value) == LS_GCT_FUNC) {
    if (ls_remote_uint(v->mem, value + v->vm.fn_ffid, 1) != 0)
      return 2;
    pt = ls_view_ref(v, value + v->vm.fn_pc) - v->vm.pt_size;
  } else if (op == LS_IR_KPTR || op == LS_IR_KKPTR) {
    const LsIns *load = &l->t->ins[*ref - LS_REF_BIAS];
    pt = load->op == LS_IR_FLOAD ? value - v->vm.pt_size : 0;
    *ref = load->op1;
  }
  if (pt && ls_proto_check(v, pt, &check))
    *f = ls_func_read(l->fs, v, pt);
  return *f != NULL;
}

/* Note which functions were called. */
static void load_calls(Loads *l)
{
  uint32_t i, n = l->t->nins - LS_REF_BIAS, ref;
  for (i = 1; i < n; i++) {
    LsLoad *e;
    LsFunc *f;
    if (!load_compare(l, &l->t->ins[i], &ref, &f) || !(e = load_of(l, ref)))
      continue;
    l->called[ref - LS_REF_BIAS] = (uint8_t)(e - l->at + 1);
    e->several = e->several || (e->called && e->f != f);
    e->called = true;
    e->f = f;
  }
}

/* Note an instruction, with what it is of all that is loaded. */
static void load_value(Loads *l, uint32_t i)
{
  const LsIns *ins = &l->t->ins[i];
  uint8_t type = ins->type & LS_IRT_TYPE;
  uint8_t called = l->called[i];
  LsLoad *e = called ? &l->at[called - 1] : load_of(l, LS_REF_BIAS + i);
  const char *key;
  if (e) {
    e->several = e->several || (type == LS_IRT_FUNC && !called);
    e->yes = e->yes || type > LS_IRT_FALSE;
    e->no = e->no || type <= LS_IRT_FALSE;
  } else if ((ins->op == LS_IR_HSTORE || ins->op == LS_IR_EQ ||
              ins->op == LS_IR_NE) &&
             load_isfield(l, ins->op1, &key) && (e = load_entry(l, key, 0))) {
    /* It is stored, or not there. */
    e->several = e->several || type == LS_IRT_FUNC;
    e->yes = e->no = true;
  }
}

void ls_loads_read(LsFuncs *fs, const LsIr *t, LsTrace *T)
{
  Loads l = {.fs = fs, .t = t};
  uint32_t i;
  if (!t->v->vm.irform || !(l.called = calloc(t->nins - LS_REF_BIAS, 1)))
    return;
  load_calls(&l);
  for (i = 1; i < t->nins - LS_REF_BIAS; i++)
    load_value(&l, i);
  free(l.called);
  T->load = l.n > 0 ? malloc(l.n * sizeof(*T->load)) : NULL;
  if (T->load) {
    memcpy(T->load, l.at, l.n * sizeof(*T->load));
    T->nload = l.n;
  }
}

/* -- Finding -------------------------------------------------------------- */

/* Whether the trace may have begun between two instructions of a function. */
static bool loads_begun(const LsTrace *T, const LsFunc *f, uint32_t def,
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
static bool loads_part(const LsTrace *T, const LsFunc *f, Part *p)
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
static bool loads_keeps(const LsTrace *T, const LsFunc *f, uint32_t slot,
                        uint32_t pos)
{
  Part p;
  uint32_t i;
  if (!loads_part(T, f, &p) || pos < p.lo || pos > p.hi)
    return false;
  for (i = p.lo; i < p.hi && i < f->sizebc; i++)
    if (loads_writes(f->bc[i], slot))
      return false;
  return true;
}

/* The entry of a field or of a slot. */
static const LsLoad *loads_find(const LsTrace *T, const char *key,
                                uint32_t slot)
{
  uint32_t i;
  for (i = 0; i < T->nload; i++) {
    const LsLoad *k = &T->load[i];
    if (key ? k->key && strcmp(k->key, key) == 0 : !k->key && k->slot == slot)
      return k;
  }
  return NULL;
}

/* What is known of a slot of F at POS, or NULL. */
static const LsLoad *loads_slot(const LsTrace *T, const LsFunc *f, uint32_t pos,
                                uint32_t slot, bool outermost)
{
  const LsLoad *k = outermost ? loads_find(T, NULL, slot) : NULL;
  return k && loads_keeps(T, f, slot, pos) ? k : NULL;
}

/* What is known of the field with a name that SOURCE has loaded for POS. */
static const LsLoad *loads_field(const LsTrace *T, const LsFunc *f,
                                 uint32_t source, uint32_t pos,
                                 const char *name)
{
  uint32_t op = LS_BC_OP(f->bc[source]);
  if ((op != LS_BC_GGET && op != LS_BC_TGETS) || !*name ||
      loads_begun(T, f, source, pos))
    return NULL;
  return loads_find(T, name, 0);
}

bool ls_loads_callee(const LsTrace *T, const LsFunc *f, uint32_t pos,
                     bool outermost, LsFunc **callee)
{
  uint32_t slot = LS_BC_A(f->bc[pos]), source;
  const LsLoad *k;
  if (T->nload == 0)
    return false;
  source = ls_loads_source(f, pos, slot);
  if (LS_BC_OP(f->bc[pos]) == LS_BC_ITERC) /* It is in a slot of the loop. */
    k = slot < 3 ? NULL : loads_slot(T, f, pos, slot - 3, outermost);
  else if (LS_BC_OP(f->bc[source]) == LS_BC_MOV)
    k = loads_slot(T, f, source, LS_BC_D(f->bc[source]), outermost);
  else
    k = loads_field(T, f, source, pos, ls_func_callee(f, pos));
  if (!k || !k->called || k->several)
    return false;
  *callee = k->f;
  return true;
}

int ls_loads_jumps(const LsTrace *T, const LsFunc *f, uint32_t pos,
                   bool outermost)
{
  uint32_t op, slot, source;
  const LsLoad *k;
  if (T->nload == 0 || pos < 2)
    return -1;
  op = LS_BC_OP(f->bc[pos - 1]);
  slot = LS_BC_D(f->bc[pos - 1]);
  if (LS_BC_OP(f->bc[pos]) != LS_BC_JMP || op < LS_BC_ISTC || op > LS_BC_ISF)
    return -1;
  source = pos - 2;
  if (!loads_writes(f->bc[source], slot))
    k = loads_slot(T, f, pos, slot, outermost);
  else if (loads_jumped(f, source, pos - 1))
    return -1;
  else
    k = loads_field(T, f, source, pos - 1, ls_func_callee(f, source));
  if (!k || k->yes == k->no)
    return -1;
  return k->yes == (op == LS_BC_ISTC || op == LS_BC_IST);
}

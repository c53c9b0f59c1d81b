/*
** What a trace has loaded.
*/

#include <stdlib.h>
#include <string.h>

#include "luaclosure.h"
#include "luactype.h"
#include "traceflow.h"
#include "traceloads.h"
#include "vmlib.h"

#define LOADS_BACK 64 /* Instructions in front of one, that are read. */
#define LOADS_MAX  64 /* Fields, slots and upvalues. */

/* Flags of a proto that has many closures, from here on: traces are not for one
** of them.
*/
#define LOADS_MANY 96

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

/* An instruction that is compared with a function. */
typedef struct Compared {
  LsFunc *f;      /* The function, if it is one of Lua's. */
  uint8_t called; /* The number of the entry of what was loaded, from 1 on. */
} Compared;

/* What is read, and where it goes. */
typedef struct Loads {
  LsFuncs *fs;
  const LsIr *t;
  const LsTrace *T;
  LsLoad at[LOADS_MAX];
  uint32_t n;
  Compared *ins; /* Instructions. */
  bool methods;  /* Of the FFI there are some that are Lua's. */
} Loads;

/* The entry of a field, or of a slot or an upvalue without one. NULL if there
** is no room.
*/
static LsLoad *load_entry(Loads *l, const char *key, const LsFunc *of,
                          uint32_t slot)
{
  uint32_t i;
  for (i = 0; i < l->n; i++)
    if (l->at[i].key == key && l->at[i].of == of && l->at[i].slot == slot)
      return &l->at[i];
  if (l->n == LOADS_MAX)
    return NULL;
  l->at[l->n] = (LsLoad){.key = key, .of = of, .slot = slot};
  return &l->at[l->n++];
}

/* Note that an entry is called, as C. */
static void load_called(LsLoad *e, LsCallee c)
{
  e->several = e->several ||
               (e->called && (e->callee.f != c.f || e->callee.ffid != c.ffid));
  e->called = true;
  e->callee = c;
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

/* The Lua function with the proto at PT. */
static bool load_proto(const Loads *l, uint64_t pt, LsCallee *c)
{
  uint64_t check;
  *c = (LsCallee){.f = NULL};
  if (pt && ls_proto_check(l->t->v, pt, &check))
    c->f = ls_func_read(l->fs, l->t->v, pt);
  return c->f != NULL;
}

/* Which arguments a library function passes to the one that it calls: see
** LsCallee.
*/
static uint8_t load_enters(const LsView *v, uint32_t ffid)
{
  switch (ls_vm_function(&v->vm, ffid)) {
  case LS_FN_PCALL:
    return 1;
  case LS_FN_XPCALL:
    return 2;
  default:
    return v->vm.library[LJS_LIBRARIES - 1] ? 0 : LS_ENTERS_ANY;
  }
}

/* The function that is the object at FN. */
static bool load_function(const Loads *l, uint64_t fn, LsCallee *c)
{
  LsView *v = l->t->v;
  uint32_t ffid = (uint32_t)ls_remote_uint(v->mem, fn + v->vm.fn_ffid, 1);
  if (ffid == 0)
    return load_proto(l, ls_view_ref(v, fn + v->vm.fn_pc) - v->vm.pt_size, c);
  *c = (LsCallee){.ffid = ffid,
                  .cfn = ls_remote_uint(v->mem, fn + v->vm.fn_f, 8),
                  .enters = load_enters(v, ffid)};
  return true;
}

/* What *REF, a function, is compared with by a guard. */
static bool load_compare(const Loads *l, const LsIns *ins, uint32_t *ref,
                         LsCallee *c)
{
  LsView *v = l->t->v;
  uint64_t value;
  int op;
  *ref = ins->op1;
  if (ins->op != LS_IR_EQ || *ref < LS_REF_BIAS || *ref >= l->t->nins)
    return false;
  op = ls_ir_constant(l->t, ins->op2, &value);
  if (op == LS_IR_KGC && ls_view_type(v, value) == LS_GCT_FUNC)
    return load_function(l, value, c);
  if (op == LS_IR_KPTR || op == LS_IR_KKPTR) {
    const LsIns *load = &l->t->ins[*ref - LS_REF_BIAS];
    *ref = load->op1;
    return load->op == LS_IR_FLOAD && load_proto(l, value - v->vm.pt_size, c);
  }
  return false;
}

/* The Lua function that REF is: a constant, the outermost one, or one that was
** compared. NULL if it is not known.
*/
static const LsFunc *load_closure(const Loads *l, uint32_t ref)
{
  const LsTrace *T = l->T;
  uint64_t value;
  LsCallee c;
  if (ls_ir_constant(l->t, ref, &value) == LS_IR_KGC)
    return load_function(l, value, &c) ? c.f : NULL;
  if (ref < LS_REF_BIAS || ref >= l->t->nins)
    return NULL;
  if (l->t->ins[ref - LS_REF_BIAS].op == LS_IR_SLOAD &&
      l->t->ins[ref - LS_REF_BIAS].op1 == 0 && !T->returns && T->nsnap > 0)
    return T->snap[0].nplace > 0
               ? T->place[T->snap[0].place + T->snap[0].nplace - 1].f
               : NULL;
  return l->ins[ref - LS_REF_BIAS].f;
}

/* The entry of what REF refers to, a variable of a function. */
static LsLoad *load_variable(Loads *l, uint32_t ref)
{
  const LsIns *ins = &l->t->ins[ref < LS_REF_BIAS ? 0 : ref - LS_REF_BIAS];
  const LsFunc *of = NULL;
  if (ref < l->t->nins && (ins->op == LS_IR_UREFO || ins->op == LS_IR_UREFC))
    of = load_closure(l, ins->op1);
  return of ? load_entry(l, NULL, of, ins->op2 >> 8) : NULL;
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
    return load_entry(l, key, NULL, 0);
  if (ins->op == LS_IR_SLOAD && ins->op1 >= first)
    return load_entry(l, NULL, NULL, ins->op1 - first);
  if (ins->op == LS_IR_ULOAD)
    return load_variable(l, ins->op1);
  return NULL;
}

/* Note which functions were called, and which instructions are functions. */
static void load_calls(Loads *l)
{
  uint32_t i, n = l->t->nins - LS_REF_BIAS, ref;
  LsLoad *e;
  LsCallee c;
  for (i = 1; i < n; i++)
    if (load_compare(l, &l->t->ins[i], &ref, &c) && ref > LS_REF_BIAS &&
        ref < l->t->nins)
      l->ins[ref - LS_REF_BIAS].f = c.f;
  for (i = 1; i < n; i++) {
    if (!load_compare(l, &l->t->ins[i], &ref, &c) || !(e = load_of(l, ref)))
      continue;
    l->ins[ref - LS_REF_BIAS].called = (uint8_t)(e - l->at + 1);
    load_called(e, c);
  }
}

/* Note an instruction, with what it is of all that is loaded. */
static void load_value(Loads *l, uint32_t i)
{
  const LsIns *ins = &l->t->ins[i];
  uint8_t type = ins->type & LS_IRT_TYPE;
  uint8_t called = l->ins[i].called;
  LsLoad *e = called ? &l->at[called - 1] : load_of(l, LS_REF_BIAS + i);
  const char *key;
  if (e) {
    e->several = e->several || (type == LS_IRT_FUNC && !called);
    e->yes = e->yes || type > LS_IRT_FALSE;
    e->no = e->no || type <= LS_IRT_FALSE;
  } else if ((ins->op == LS_IR_HSTORE || ins->op == LS_IR_EQ ||
              ins->op == LS_IR_NE) &&
             load_isfield(l, ins->op1, &key) &&
             (e = load_entry(l, key, NULL, 0))) {
    /* It is stored, or not there. */
    e->several = e->several || type == LS_IRT_FUNC;
    e->yes = e->no = true;
  }
}

/* Note which variables may have other values: functions share variables, so
** that a store may be to any; and what an unknown function loads may be that of
** any function, with the same number.
*/
static void load_doubt(Loads *l)
{
  bool unknown[256] = {false}, stores = false;
  uint32_t i;
  for (i = 1; i < l->t->nins - LS_REF_BIAS; i++) {
    const LsIns *ins = &l->t->ins[i];
    uint32_t ref = ins->op1;
    stores = stores || ins->op == LS_IR_USTORE;
    if (ins->op == LS_IR_ULOAD && ref >= LS_REF_BIAS && ref < l->t->nins &&
        !load_of(l, LS_REF_BIAS + i))
      unknown[l->t->ins[ref - LS_REF_BIAS].op2 >> 8] = true;
  }
  for (i = 0; i < l->n; i++)
    if (l->at[i].of && (stores || unknown[l->at[i].slot & 255]))
      l->at[i].several = l->at[i].yes = l->at[i].no = true;
}

/* Note functions that are upvalues of a closure and never change. The closure
** is the only one of its function that the trace has, or there are several with
** the same entries: the trace is for closures, not for protos, unless there are
** many of one.
*/
static void load_upvalues(Loads *l, uint64_t fn)
{
  LsView *v = l->t->v;
  uint32_t n = (uint32_t)ls_remote_uint(v->mem, fn + v->lay->fn_nupvalues, 1);
  bool was = v->mem->bad;
  uint32_t i;
  LsCallee c, value;
  if (!load_function(l, fn, &c) || !c.f ||
      ls_remote_uint(v->mem, c.f->addr + v->vm.pt_flags, 1) >= LOADS_MANY)
    return;
  v->mem->bad = false;
  for (i = 0; i < n && !v->mem->bad; i++) {
    LsValue u;
    LsLoad *e;
    if (ls_closure_constant(v, fn, i, &u) && u.type == LS_GCT_FUNC &&
        load_function(l, u.addr, &value) &&
        (e = load_entry(l, NULL, c.f, i)) != NULL)
      load_called(e, value);
  }
  v->mem->bad = was;
}

/* Note a metamethod of the FFI, if it is Lua's. */
static void load_metamethod(void *ctx, LsValue value)
{
  Loads *l = ctx;
  uint64_t check;
  l->methods = l->methods || value.type == LS_GCT_TAB ||
               ls_closure_proto(l->t->v, value.addr, &check) != 0;
}

/* Whether functions of Lua may have been called as metamethods: they are loaded
** from fields, or known of types of the FFI.
*/
static bool load_methods(Loads *l, const LsTrace *T)
{
  uint32_t i;
  for (i = 0; i < l->n; i++) {
    const LsLoad *e = &l->at[i];
    if (e->key && strncmp(e->key, "__", 2) == 0 &&
        (e->several || (e->called && e->callee.f)))
      return true;
  }
  return T->cdata &&
         (!ls_ctype_metamethods(l->t->v, l->t->g, load_metamethod, l) ||
          l->methods);
}

/* Whether there is an object of the FFI, or a call of its function. */
static bool load_iscdata(const LsIns *ins)
{
  return (ins->type & LS_IRT_TYPE) == LS_IRT_CDATA || ins->op == LS_IR_CALLXS;
}

static void load_all(Loads *l, LsTrace *T)
{
  uint32_t i;
  load_calls(l);
  for (i = 1; i < l->t->nins - LS_REF_BIAS; i++) {
    load_value(l, i);
    T->cdata = T->cdata || load_iscdata(&l->t->ins[i]);
  }
  load_doubt(l);
  for (i = 0; T->nclosure < LS_CLOSURES && i < T->nclosure; i++)
    load_upvalues(l, T->closure[i]);
  T->fields = l->n < LOADS_MAX;
  T->methods = !T->fields || load_methods(l, T);
}

void ls_loads_read(LsFuncs *fs, const LsIr *t, LsTrace *T)
{
  Loads l = {.fs = fs, .t = t, .T = T};
  T->methods = true; /* Nothing is known. */
  T->arg = 1u + t->v->vm.gc64;
  if (!t->v->vm.irform ||
      !(l.ins = calloc(t->nins - LS_REF_BIAS, sizeof(*l.ins))))
    return;
  load_all(&l, T);
  free(l.ins);
  T->load = l.n > 0 ? malloc(l.n * sizeof(*T->load)) : NULL;
  if (T->load) {
    memcpy(T->load, l.at, l.n * sizeof(*T->load));
    T->nload = l.n;
  }
  T->fields = T->fields && T->nload == l.n; /* Otherwise there was no memory. */
}

/* -- Finding -------------------------------------------------------------- */

/* Whether the trace may have come to a function between two instructions: it
** begins there, or returns to there.
*/
static bool loads_begun(const LsTrace *T, const LsFunc *f, uint32_t def,
                        uint32_t pos)
{
  uint32_t i, k, n = T->returns || T->nsnap < 1 ? T->nsnap : 1;
  for (i = 0; i < n; i++) {
    const LsSnap *s = &T->snap[i];
    for (k = i == 0 ? 0 : s->nplace; k < s->nplace + s->nback; k++) {
      const LsPlace *p = &T->place[s->place + k];
      if (p->f == f && p->pos > def && p->pos <= pos)
        return true;
    }
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

/* The entry of a field, or of a slot or an upvalue. */
static const LsLoad *loads_find(const LsTrace *T, const char *key,
                                const LsFunc *of, uint32_t slot)
{
  uint32_t i;
  for (i = 0; i < T->nload; i++) {
    const LsLoad *k = &T->load[i];
    if (key ? k->key && strcmp(k->key, key) == 0
            : !k->key && k->of == of && k->slot == slot)
      return k;
  }
  return NULL;
}

/* What is known of a slot of F at POS, or NULL. */
static const LsLoad *loads_slot(const LsTrace *T, const LsFunc *f, uint32_t pos,
                                uint32_t slot, bool outermost)
{
  const LsLoad *k = outermost ? loads_find(T, NULL, NULL, slot) : NULL;
  return k && loads_keeps(T, f, slot, pos) ? k : NULL;
}

/* Whether SOURCE has loaded a field with a name for POS, on the trace. */
static bool loads_isfield(const LsTrace *T, const LsFunc *f, uint32_t source,
                          uint32_t pos, const char *name)
{
  uint32_t op = LS_BC_OP(f->bc[source]);
  return (op == LS_BC_GGET || op == LS_BC_TGETS) && *name &&
         !loads_begun(T, f, source, pos);
}

/* Whether the trace has loaded no function from fields of a name, and nothing
** else can have given one.
*/
static bool loads_isobject(const LsTrace *T, const LsLoad *k)
{
  return !T->methods && (k ? !k->called && !k->several : T->fields);
}

/* Whether the function in a slot of F at the call at POS is known: *CALLEE. */
static bool loads_callee(const LsTrace *T, const LsFunc *f, uint32_t pos,
                         uint32_t slot, bool outermost, LsCallee *callee)
{
  uint32_t source = ls_loads_source(f, pos, slot);
  bool calls = slot == LS_BC_A(f->bc[pos]);
  const char *name = ls_func_callee(f, calls ? pos : source);
  const LsLoad *k = NULL;
  if (LS_BC_OP(f->bc[source]) == LS_BC_UGET)
    k = loads_find(T, NULL, f, LS_BC_D(f->bc[source]));
  else if (LS_BC_OP(f->bc[pos]) == LS_BC_ITERC) /* In a slot of the loop. */
    k = slot < 3 ? NULL : loads_slot(T, f, pos, slot - 3, outermost);
  else if (LS_BC_OP(f->bc[source]) == LS_BC_MOV)
    k = loads_slot(T, f, source, LS_BC_D(f->bc[source]), outermost);
  else if (loads_isfield(T, f, source, pos, name)) {
    k = loads_find(T, name, NULL, 0);
    if (loads_isobject(T, k)) {
      *callee = (LsCallee){.f = NULL};
      return true;
    }
  }
  if (!k || !k->called || k->several)
    return false;
  *callee = k->callee;
  return true;
}

/* How many arguments of the call at POS are in slots, at least. */
static uint32_t loads_arguments(const LsFunc *f, uint32_t pos)
{
  uint32_t ins = f->bc[pos];
  switch (LS_BC_OP(ins)) {
  case LS_BC_CALLM:
    return LS_BC_C(ins);
  case LS_BC_CALLM + 1:
    return LS_BC_C(ins) - 1;
  case LS_BC_CALLMT:
    return LS_BC_D(ins);
  case LS_BC_CALLT:
    return LS_BC_D(ins) - 1;
  default:
    return 0;
  }
}

unsigned ls_loads_called(const LsTrace *T, const LsFunc *f, uint32_t pos,
                         bool outermost, LsCallee called[LS_CALLED])
{
  uint32_t slot = LS_BC_A(f->bc[pos]), arg = 0;
  unsigned n = 0;
  while (n < LS_CALLED &&
         loads_callee(T, f, pos, slot, outermost, &called[n])) {
    uint8_t enters = called[n++].enters;
    if (enters == 0 || enters == LS_ENTERS_ANY ||
        arg >= loads_arguments(f, pos))
      break;
    slot = LS_BC_A(f->bc[pos]) + T->arg + arg;
    arg += enters;
  }
  return n;
}

int ls_loads_islua(const LsTrace *T, const char *name)
{
  const LsLoad *k = loads_find(T, name, NULL, 0);
  if (!k)
    return T->fields ? 0 : -1;
  return k->several || (k->called && k->callee.f);
}

int ls_loads_jumps(const LsTrace *T, const LsFunc *f, uint32_t pos,
                   bool outermost)
{
  uint32_t op, slot, source;
  const LsLoad *k = NULL;
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
  else if (LS_BC_OP(f->bc[source]) == LS_BC_UGET)
    k = loads_find(T, NULL, f, LS_BC_D(f->bc[source]));
  else if (loads_isfield(T, f, source, pos - 1, ls_func_callee(f, source)))
    k = loads_find(T, ls_func_callee(f, source), NULL, 0);
  if (!k || k->yes == k->no)
    return -1;
  return k->yes == (op == LS_BC_ISTC || op == LS_BC_IST);
}

/*
** What IR bytecode instructions may emit when a trace is recorded.
*/

#include <string.h>

#include "iremit.h"
#include "luaclosure.h"
#include "luactype.h"

/* -- Bytecode -------------------------------------------------------------- */

/* Opcodes, as in luaproto.h: the rest of those that are needed here. */
enum {
  BC_ISEQV = 4,
  BC_ISTYPE = 16,
  BC_NOT = 19,
  BC_UNM = 20,
  BC_LEN = 21,
  BC_ADDVN = 22,
  BC_ADDVV = 32,
  BC_USETV = 46,
  BC_USETP = 49,
  BC_TGETV = 56,
  BC_TGETB = 58,
  BC_TSETB = 62,
  BC_TSETM = 63,
  BC_TSETR = 64
};

#define ARITH                                                                  \
  (LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_MUL | LS_EMIT_DIV |       \
   LS_EMIT_NEG)
#define COMPUTED                                                               \
  (LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_MUL | LS_EMIT_DIV | LS_EMIT_NEG)
#define READS (LS_EMIT_ANY | LS_EMIT_SLOT)
#define TABLE                                                                  \
  (READS | LS_EMIT_INT | LS_EMIT_UORDER | LS_EMIT_INDEX | LS_EMIT_HASH |       \
   LS_EMIT_LOAD | LS_EMIT_FIELD)
#define UPVALUE                                                                \
  (READS | LS_EMIT_UPVALUE | LS_EMIT_INT | LS_EMIT_UORDER | LS_EMIT_FIELD)
#define SETS (LS_EMIT_STORE | LS_EMIT_BARRIER)

/* Metamethods, in the order of their names below. */
enum {
  META_INDEX = 1 << 0,
  META_NEWINDEX = 1 << 1,
  META_EQ = 1 << 2,
  META_LT = 1 << 3,
  META_LE = 1 << 4,
  META_LEN = 1 << 5,
  META_CONCAT = 1 << 6,
  META_UNM = 1 << 7,
  META_ADD = 1 << 8,
  META_SUB = 1 << 9,
  META_MUL = 1 << 10,
  META_DIV = 1 << 11,
  META_MOD = 1 << 12,
  META_POW = 1 << 13,
  META_CALL = 1 << 14,
  META_TOSTRING = 1 << 15,
  META_ANY = (1 << 16) - 1
};
#define META_ARITH                                                             \
  (META_ADD | META_SUB | META_MUL | META_DIV | META_MOD | META_POW)

static const char *const meta_name[] = {
    "__index",  "__newindex", "__eq",   "__lt",      "__le",  "__len",
    "__concat", "__unm",      "__add",  "__sub",     "__mul", "__div",
    "__mod",    "__pow",      "__call", "__tostring"};

/* What an arithmetic instruction may emit. */
static uint32_t emit_arith(uint32_t op)
{
  uint32_t which = op == LS_BC_POW ? 5 : (op - BC_ADDVN) % 5;
  static const uint32_t kinds[6] = {
      LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_BITS,
      LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_SUB | LS_EMIT_NEG | LS_EMIT_BITS,
      LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_MUL | LS_EMIT_NEG | LS_EMIT_BITS,
      LS_EMIT_MUL | LS_EMIT_DIV | LS_EMIT_NEG,
      ARITH | LS_EMIT_MOD | LS_EMIT_MATH | LS_EMIT_BITS | LS_EMIT_CALL |
          LS_EMIT_INDEX,
      ARITH | LS_EMIT_POW | LS_EMIT_MATH | LS_EMIT_CALL | LS_EMIT_OTHER |
          LS_EMIT_INDEX};
  return kinds[which] | READS | LS_EMIT_STRTO;
}

/* What an instruction may emit that looks up no metamethod, by its opcode. */
static uint32_t emit_kinds(uint32_t op)
{
  if (op <= LS_BC_ISGT)
    return READS | LS_EMIT_ORDER | LS_EMIT_CALL;
  if (op <= LS_BC_ISNEP)
    return READS | LS_EMIT_MEMORY | LS_EMIT_CALL | LS_EMIT_FIELD;
  if (op >= BC_ADDVN && op <= LS_BC_POW)
    return emit_arith(op);
  if (op >= BC_USETV && op <= BC_USETP)
    return UPVALUE | LS_EMIT_UPSTORE;
  if (op >= BC_TGETV && op <= LS_BC_TGETR)
    return TABLE;
  if (op >= LS_BC_TSETV && op <= BC_TSETR)
    return op == BC_TSETM ? LS_EMIT_ALL : TABLE | SETS;
  if (op >= LS_BC_FORI && op <= LS_BC_JFORL)
    return READS | LS_EMIT_INT | LS_EMIT_ADD | LS_EMIT_ORDER | LS_EMIT_STRTO |
           LS_EMIT_INDEX;
  switch (op) {
  case LS_BC_MOV:
  case BC_NOT:
    return LS_EMIT_SLOT;
  case BC_UNM:
    return READS | LS_EMIT_NEG | LS_EMIT_INT | LS_EMIT_SUB | LS_EMIT_STRTO;
  case BC_LEN:
    return READS | LS_EMIT_FIELD | LS_EMIT_LEN | LS_EMIT_CALL;
  case LS_BC_CAT:
    return READS | LS_EMIT_STRING | LS_EMIT_CALL | LS_EMIT_FIELD;
  case LS_BC_UGET:
    return UPVALUE | LS_EMIT_UPLOAD;
  case LS_BC_TNEW:
    return LS_EMIT_TNEW;
  case LS_BC_TDUP:
    return LS_EMIT_TDUP;
  case LS_BC_GGET:
    return READS | LS_EMIT_HASH | LS_EMIT_LOAD | LS_EMIT_FIELD;
  case LS_BC_GSET:
    return READS | LS_EMIT_HASH | LS_EMIT_LOAD | LS_EMIT_FIELD | SETS;
  default:
    return op <= BC_ISTYPE + 1 ? READS : LS_EMIT_ALL;
  }
}

static bool emit_iscall(uint32_t op)
{
  return op >= LS_BC_CALLM && op <= LS_BC_ITERC;
}

#define CDATA                                                                  \
  (READS | LS_EMIT_FIELD | LS_EMIT_MEMORY | LS_EMIT_INDEX | LS_EMIT_STRTO |    \
   LS_EMIT_BITS | LS_EMIT_OTHER | ARITH)

/* What an instruction may emit besides if it is of objects of the FFI: it loads
** and stores their memory, computes addresses and integers of 64 bits, which
** may be calls, and makes objects of what results.
*/
static uint32_t emit_cdatakinds(uint32_t op)
{
  if (op <= LS_BC_ISNEP)
    return CDATA | LS_EMIT_ORDER | LS_EMIT_UORDER | LS_EMIT_CALL;
  if ((op >= BC_ADDVN && op <= LS_BC_POW) || op == BC_UNM)
    return CDATA | LS_EMIT_MOD | LS_EMIT_POW | LS_EMIT_CALL;
  if (op >= BC_TGETV && op <= LS_BC_TGETR)
    return CDATA;
  if (op >= LS_BC_TSETV && op <= BC_TSETR)
    return CDATA | LS_EMIT_CALL;
  if (emit_iscall(op)) /* They convert arguments, but compute nothing. */
    return (CDATA & ~(uint32_t)COMPUTED) | LS_EMIT_CALL;
  return 0;
}

/* The metamethods that an instruction may look up. */
static uint32_t emit_meta(uint32_t op)
{
  if (op <= LS_BC_ISGT)
    return META_LT | META_LE;
  if (op <= LS_BC_ISNEP)
    return META_EQ;
  if (op == BC_UNM)
    return META_UNM;
  if (op == BC_LEN)
    return META_LEN;
  if (op >= BC_ADDVN && op <= LS_BC_POW)
    return META_ARITH;
  if (op == LS_BC_CAT)
    return META_CONCAT;
  if (op == LS_BC_GGET || (op >= BC_TGETV && op <= LS_BC_TGETR))
    return META_INDEX;
  if (op == LS_BC_GSET || (op >= LS_BC_TSETV && op <= BC_TSETR))
    return META_NEWINDEX;
  return 0;
}

/* Whether an instruction compares or computes: what it calls has no effects. */
static bool emit_isvalue(uint32_t op)
{
  return op <= LS_BC_ISNEP || (op >= BC_UNM && op <= LS_BC_POW);
}

static bool emit_isconstant(uint32_t op)
{
  return (op >= LS_BC_KSTR && op <= LS_BC_KNIL) || op == LS_BC_JMP;
}

static bool emit_isheader(uint32_t op, uint32_t pos)
{
  return pos == 0 && op >= LS_BC_FUNCF;
}

/* -- Paths ----------------------------------------------------------------- */

/* Whether an instruction is a remainder: a quotient is rounded down, multiplied
** and subtracted.
*/
static bool emit_ismodulo(uint32_t op)
{
  return op >= BC_ADDVN && op < LS_BC_POW && (op - BC_ADDVN) % 5 == 4;
}

/* Of what groups an instruction emits one at most. */
static uint8_t emit_once(uint32_t op)
{
  if ((op >= BC_ADDVN && op < LS_BC_POW) || op == BC_UNM)
    return 1 << LS_ONE_ARITH;
  if (op <= LS_BC_ISGT)
    return 1 << LS_ONE_ORDER;
  if (op >= LS_BC_FORI && op <= LS_BC_JFORL)
    return 1 << LS_ONE_ARITH;
  if (op == LS_BC_UGET || op == LS_BC_GGET || op == LS_BC_GSET ||
      (op >= BC_TGETV && op <= BC_TSETB))
    return 1 << LS_ONE_HASH | 1 << LS_ONE_LOAD | 1 << LS_ONE_STORE;
  return 0;
}

/* Whether a leg calls the next one, which is of a Lua function, directly. One
** that is hidden may not have been called.
*/
static bool emit_inlines(const LsPath *p, unsigned i)
{
  const LsLeg *g = &p->leg[i];
  return i + 1 < p->n && !g[1].hidden && g[1].nouter == g->nouter + 1 &&
         g[1].outer[0].f == g->f;
}

/* What the call at instruction POS may emit by itself: a function of Lua that
** is inlined has its own instructions.
*/
static uint32_t emit_called(const LsEmission *e, const LsLeg *g, uint32_t pos)
{
  LsCallee c[LS_CALLED];
  unsigned i, n = ls_path_called(e->T, g, pos, c);
  uint32_t kinds = 0;
  if (n == 0 || c[n - 1].enters) /* It may be one of the FFI. */
    return e->library | (e->T->cdata ? emit_cdatakinds(LS_BC_CALLM) : 0);
  for (i = 0; i < n; i++)
    kinds |= c[i].f ? 0 : ls_emit_library(&e->t->v->vm, c[i].ffid);
  return kinds;
}

/* Whether what is called at instruction POS may call a function of Lua that is
** not on the path, or be one.
*/
static bool emit_enters(const LsEmission *e, const LsLeg *g, uint32_t pos)
{
  bool some = ls_path_some(e->T);
  LsCallee c[LS_CALLED], *last;
  unsigned n = ls_path_called(e->T, g, pos, c);
  if (n == 0 || c[n - 1].enters)
    return some;
  last = &c[n - 1];
  if (!last->f && !last->ffid)
    return e->called & META_CALL;
  return last->f || (some && e->meta & META_TOSTRING &&
                     ls_emit_istostring(&e->t->v->vm, last->ffid));
}

/* What an instruction may emit where it is. The call of a function on the path
** does nothing else, unless it is of what has a metamethod; nor does a return,
** unless it is that of a metamethod.
*/
static uint32_t emit_inleg(const LsEmission *e, const LsPath *p, unsigned i,
                           uint32_t pos)
{
  const LsLeg *g = &p->leg[i];
  uint32_t op = LS_BC_OP(g->f->bc[pos]);
  if (op == LS_BC_LOOP || op == LS_BC_LOOP + 1)
    return LS_EMIT_ANY;
  if (emit_isheader(op, pos) || (op >= LS_BC_ITERL && op <= LS_BC_JITERL))
    return READS;
  if (e->meta & emit_meta(op))
    return e->chained && emit_meta(op) == META_INDEX ? TABLE : LS_EMIT_ALL;
  if (g->calls && pos + 1 == g->end && emit_inlines(p, i) && !g->detour &&
      !(e->meta & META_CALL))
    return READS | LS_EMIT_FIELD;
  if (op >= LS_BC_RETM && op <= LS_BC_RET1 && !e->called)
    return READS | LS_EMIT_RETURN;
  if (emit_iscall(op) && !(e->meta & META_CALL))
    return READS | LS_EMIT_FIELD | emit_called(e, g, pos);
  return emit_kinds(op) | (e->T->cdata ? emit_cdatakinds(op) : 0);
}

/* What instruction POS of a leg may emit. */
static LsEmitter emit_one(const LsEmission *e, const LsPath *p, unsigned i,
                          uint32_t pos)
{
  const LsLeg *g = &p->leg[i];
  uint32_t op = LS_BC_OP(g->f->bc[pos]);
  LsEmitter b = {.leg = g, .pos = pos};
  if (emit_isconstant(op))
    return b;
  b.kinds = emit_inleg(e, p, i, pos);
  if (b.kinds != LS_EMIT_ALL)
    b.once = emit_once(op);
  b.sums = emit_ismodulo(op);
  if (e->T->cdata && emit_cdatakinds(op)) /* Addresses are computed, too. */
    b.once &= (uint8_t) ~(1u << LS_ONE_ARITH | 1u << LS_ONE_ORDER);
  b.tests = op >= LS_BC_FORI && op <= LS_BC_JFORL;
  if (e->meta & emit_meta(op)) /* Other tables are looked up, too. */
    b.once &= 1 << LS_ONE_LOAD;
  b.open = e->called & emit_meta(op);
  if (g->calls && pos + 1 == g->end)
    b.open = b.open || g->detour;
  else if (emit_iscall(op))
    b.open = emit_enters(e, g, pos);
  if (b.open)
    b.kinds = LS_EMIT_ALL;
  return b;
}

unsigned ls_emit_path(const LsEmission *e, const LsPath *p, LsEmitter *out,
                      unsigned n)
{
  unsigned i, k = 0;
  uint32_t pos;
  for (i = 0; i < p->n; i++) {
    const LsCallers *by = ls_callers_get(e->pool, &p->leg[i]);
    for (pos = p->leg[i].pos; pos < p->leg[i].end; pos++) {
      LsEmitter b = emit_one(e, p, i, pos);
      if (b.kinds == 0)
        continue;
      if (k == n)
        return n;
      b.by = by;
      b.line = ls_func_line(b.leg->f, pos);
      out[k++] = b;
    }
  }
  return k;
}

/* -- Whether it may be ---------------------------------------------------- */

/* Whether an instruction reads a slot. */
static bool emit_reads(uint32_t ins, uint32_t slot)
{
  uint32_t op = LS_BC_OP(ins), a = LS_BC_A(ins), d = LS_BC_D(ins);
  uint32_t b = LS_BC_B(ins), c = LS_BC_C(ins);
  if (op <= BC_ISEQV + 1)
    return slot == a || slot == d;
  if (op <= LS_BC_ISNEP)
    return slot == a;
  if (op <= LS_BC_ISF)
    return slot == d;
  if (op >= LS_BC_MOV && op <= BC_LEN)
    return slot == d;
  if (op >= BC_ADDVN && op < BC_ADDVV)
    return slot == b;
  if (op >= BC_ADDVV && op <= LS_BC_POW)
    return slot == b || slot == c;
  if (op == LS_BC_CAT)
    return slot >= b && slot <= c;
  if (op == BC_TGETV || op == LS_BC_TGETR)
    return slot == b || slot == c;
  if (op == LS_BC_TGETS || op == BC_TGETB)
    return slot == b;
  if (op == LS_BC_TSETV || op == BC_TSETR)
    return slot == a || slot == b || slot == c;
  if (op == LS_BC_TSETS || op == BC_TSETB)
    return slot == a || slot == b;
  if (op == LS_BC_GSET)
    return slot == a;
  if (op >= LS_BC_FORI && op <= LS_BC_JFORL)
    return slot >= a && slot <= a + 3;
  if (op == LS_BC_ITERC || op == LS_BC_ITERN || op == LS_BC_ISNEXT)
    return slot + 3 >= a;
  if (op >= LS_BC_CALLM && op <= LS_BC_RET1 && op != LS_BC_VARG)
    return slot >= a;
  return true;
}

/* Whether a load of a stack's slot may be of an instruction. */
static bool emit_mayslot(const LsEmission *e, const LsEmitter *b,
                         const LsIns *ins)
{
  uint32_t first = 1u + e->t->v->vm.gc64;
  if (e->T->returns || b->leg->nouter > 0 || b->leg->hidden || ins->op1 < first)
    return true;
  return emit_reads(b->leg->f->bc[b->pos], ins->op1 - first);
}

/* Constant number I of a function, an object. */
static uint64_t emit_kgc(const LsEmission *e, const LsFunc *f, uint32_t i)
{
  LsView *v = e->t->v;
  uint64_t k = ls_view_ref(v, f->addr + v->vm.pt_k);
  return ls_view_ref(v, k - (i + 1ull) * v->lay->ref);
}

/* Whether the object at FN is a function that is called. */
static bool emit_isfunction(const LsEmission *e, uint64_t fn, const LsCallee *c)
{
  LsView *v = e->t->v;
  uint64_t check;
  if (c->f)
    return ls_closure_proto(v, fn, &check) == c->f->addr;
  return c->ffid == 0 ||
         ls_remote_uint(v->mem, fn + v->vm.fn_ffid, 1) == c->ffid;
}

/* Whether it may be of an instruction that a function is compared with a
** constant: of a call, one that is known of this; that of the current function
** is what upvalues need.
*/
static bool emit_mayfunction(const LsEmission *e, const LsEmitter *b,
                             const LsIns *ins)
{
  uint32_t op = LS_BC_OP(b->leg->f->bc[b->pos]);
  uint64_t fn;
  LsCallee c[LS_CALLED];
  unsigned i, n;
  if (!emit_iscall(op))
    return op <= LS_BC_ISNEP || b->kinds & LS_EMIT_UPVALUE;
  if (ls_ir_constant(e->t, ins->op2, &fn) != LS_IR_KGC)
    return true;
  n = ls_path_called(e->T, b->leg, b->pos, c);
  if (n == 0 || c[n - 1].enters)
    return true;
  for (i = 0; i < n; i++)
    if (emit_isfunction(e, fn, &c[i]))
      return true;
  return false;
}

/* Whether a look-up may be of an instruction: one by a name has only that. */
static bool emit_mayhash(const LsEmission *e, const LsEmitter *b,
                         const LsIns *ins)
{
  uint32_t bc = b->leg->f->bc[b->pos], op = LS_BC_OP(bc);
  bool named = op == LS_BC_TGETS || op == LS_BC_TSETS;
  if (e->chained && emit_meta(op) == META_INDEX &&
      ls_ir_key(e->t, ins) == e->chained)
    return true;
  if (op == LS_BC_GGET || op == LS_BC_GSET)
    return ls_ir_key(e->t, ins) == emit_kgc(e, b->leg->f, LS_BC_D(bc));
  return !named || ls_ir_key(e->t, ins) == emit_kgc(e, b->leg->f, LS_BC_C(bc));
}

bool ls_emit_may(const LsEmission *e, const LsEmitter *b, const LsIns *ins,
                 uint32_t kind)
{
  uint32_t op = LS_BC_OP(b->leg->f->bc[b->pos]);
  if (!(b->kinds & kind))
    return false;
  if (ins->op == LS_IR_SLOAD)
    return emit_mayslot(e, b, ins);
  if ((ins->op == LS_IR_CALLS && emit_isvalue(op)) ||
      (ins->op == LS_IR_CALLXS && !emit_iscall(op)))
    return b->open;
  if (b->kinds == LS_EMIT_ALL && kind & COMPUTED)
    return e->computes || b->open || !emit_iscall(op);
  if (b->kinds == LS_EMIT_ALL)
    return true;
  if (kind == LS_EMIT_HASH)
    return emit_mayhash(e, b, ins);
  if (ins->op == LS_IR_EQ && (ins->type & LS_IRT_TYPE) == LS_IRT_FUNC)
    return emit_mayfunction(e, b, ins);
  return true;
}

/* -- Traces ---------------------------------------------------------------- */

/* Note a function of a library, or the name of a metamethod. */
static void emit_constant(LsEmission *e, uint64_t obj)
{
  LsView *v = e->t->v;
  char name[16]; /* The longest is `__tostring`. */
  unsigned i;
  if (ls_view_type(v, obj) == LS_GCT_FUNC) {
    uint32_t ffid = (uint32_t)ls_remote_uint(v->mem, obj + v->vm.fn_ffid, 1);
    if (ffid > 0)
      e->library |= ls_emit_library(&v->vm, ffid);
  }
  if (ls_view_string(e->t->v, obj, name, sizeof(name)) < 4 || name[0] != '_')
    return;
  for (i = 0; i < sizeof(meta_name) / sizeof(meta_name[0]); i++)
    if (strcmp(name, meta_name[i]) == 0) {
      e->meta |= 1u << i;
      if (i == 0)
        e->chained = obj;
      if (ls_path_mayinline(e->T, name))
        e->called |= 1u << i;
    }
}

/* A metamethod of a type of the FFI. What those do that are not Lua's is not
** known.
*/
static void emit_metamethod(void *ctx, LsValue value)
{
  LsEmission *e = ctx;
  uint64_t check, pt;
  uint32_t i;
  if (value.type != LS_GCT_FUNC)
    return;
  pt = ls_closure_proto(e->t->v, value.addr, &check);
  if (!pt)
    e->meta = META_ANY;
  for (i = 0; i < e->T->ncallee; i++)
    if (e->T->callee[i]->addr == pt)
      e->called = META_ANY;
}

/* Objects of the FFI do what their metamethods say. */
static void emit_cdata(LsEmission *e)
{
  e->chained = 0;
  if (!ls_ctype_metamethods(e->t->v, e->t->g, emit_metamethod, e)) {
    e->meta = META_ANY;
    if (ls_path_some(e->T))
      e->called = META_ANY;
  }
  if (e->T->more)
    e->called = META_ANY;
}

/* Whether `__index` is loaded. */
static bool emit_isindex(const LsEmission *e, const LsIns *ins)
{
  const LsIns *field;
  if (ins->op != LS_IR_HLOAD || ins->op1 < LS_REF_BIAS ||
      ins->op1 >= e->t->nins)
    return false;
  field = &e->t->ins[ins->op1 - LS_REF_BIAS];
  return (field->op == LS_IR_HREFK || field->op == LS_IR_HREF) &&
         ls_ir_key(e->t, field) == e->chained;
}

bool ls_emit_passes(const LsEmission *e, const LsIns *ins)
{
  uint8_t type = ins->type & LS_IRT_TYPE;
  if (!e->chained || (ins->op != LS_IR_HLOAD && ins->op != LS_IR_ALOAD))
    return false;
  return type == LS_IRT_NIL || (type == LS_IRT_TAB && emit_isindex(e, ins));
}

/* Whether all that is found as `__index` is a table. */
static bool emit_ischained(const LsEmission *e)
{
  uint32_t i, n = e->t->nins - LS_REF_BIAS, tables = 0;
  for (i = 1; i < n; i++) {
    const LsIns *ins = &e->t->ins[i];
    if (!emit_isindex(e, ins))
      continue;
    if ((ins->type & LS_IRT_TYPE) != LS_IRT_TAB)
      return false;
    tables++;
  }
  return tables > 0;
}

void ls_emit_init(LsEmission *e, const LsIr *t, const LsTrace *T, LsPool *pool)
{
  uint32_t ref, n = t->nins - LS_REF_BIAS;
  *e = (LsEmission){.t = t, .T = T, .pool = pool};
  for (ref = t->nk; ref < LS_REF_BIAS; ref++) {
    uint64_t value;
    int op = ls_ir_constant(t, ref, &value);
    if (op == LS_IR_KGC)
      emit_constant(e, value);
    if (ls_ir_wide(t, op))
      ref++;
  }
  for (ref = 0; ref < n; ref++)
    e->computes = e->computes || ls_emit_computes(&t->ins[ref]);
  if (T->cdata)
    emit_cdata(e);
  if (e->chained && emit_ischained(e))
    e->called &= ~(uint32_t)META_INDEX;
  else
    e->chained = 0;
}

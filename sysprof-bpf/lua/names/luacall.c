/*
** Names of functions by the calls of them.
**
** A call has its function from an upvalue, or a field of a table that is one:
** the instructions in front of it show which. The same way is gone in the live
** VM, and must lead to the function that really ran.
*/

#include <stdio.h>
#include <string.h>

#include "luabuiltin.h"
#include "luacall.h"

#define CALL_TRIES  8    /* Calls of one function. */
#define CALL_BACK   32   /* Instructions in front of one. */
#define CALL_FIELDS 3    /* Of tables in tables. */
#define CALL_META   3    /* Tables where another one finds fields. */
#define CALL_NODES  4096 /* Of one table. */

/* Where a function is from: an upvalue, and fields of that. */
typedef struct Way {
  uint32_t root;               /* The upvalue. */
  uint32_t field[CALL_FIELDS]; /* Constants, the last one first. */
  unsigned n;
} Way;

/* -- The way in the code -------------------------------------------------- */

/* How a slot was filled before an instruction. Local variables end the way:
** what they held is not known.
*/
static bool call_way(const LsBlob *b, uint32_t pos, uint32_t slot, Way *w)
{
  uint32_t stop = pos > CALL_BACK ? pos - CALL_BACK : 0;
  *w = (Way){0};
  while (pos-- > stop + 1) {
    uint32_t ins = ls_proto_ins(b, pos), op = LS_BC_OP(ins);
    if (op >= LS_BC_CALLM && op <= LS_BC_VARG && LS_BC_A(ins) <= slot)
      return false;
    if (LS_BC_A(ins) != slot)
      continue;
    if (op == LS_BC_UGET) {
      w->root = LS_BC_D(ins);
      return true;
    }
    if (op == LS_BC_MOV) {
      slot = LS_BC_D(ins);
    } else if (op == LS_BC_TGETS && w->n < CALL_FIELDS) {
      w->field[w->n++] = LS_BC_C(ins);
      slot = LS_BC_B(ins);
    } else {
      return false;
    }
  }
  return false;
}

/* -- The way in the VM ---------------------------------------------------- */

/* What a table has itself for a string, which is there only once. */
static LsValue call_rawget(LsView *v, uint64_t tab, uint64_t str)
{
  LsValue none = {.type = LS_GCT_NONE};
  LsTable t;
  uint32_t i;
  if (!ls_view_table(v, tab, &t))
    return none;
  for (i = 0; i < t.n && i < CALL_NODES && !v->mem->bad; i++) {
    LsValue k, value;
    ls_view_node(v, &t, i, &k, &value);
    if (k.type == LS_GCT_STR && k.addr == str && value.type != LS_GCT_NONE)
      return value;
  }
  return none;
}

/* What is found in a table, or by its metatables. */
static LsValue call_get(LsView *v, uint64_t tab, uint64_t str)
{
  LsValue value = {.type = LS_GCT_NONE};
  unsigned level;
  for (level = 0; level <= CALL_META; level++) {
    uint64_t meta;
    LsValue next;
    value = call_rawget(v, tab, str);
    if (value.type != LS_GCT_NONE)
      break;
    meta = ls_view_ref(v, tab + v->lay->tab_meta);
    if (!meta || !ls_view_get(v, meta, "__index", &next) ||
        next.type != LS_GCT_TAB)
      break;
    tab = next.addr;
  }
  return value;
}

/* The object at the end of a way. */
static LsValue call_value(const LsClosure *c, const Way *w, LsUpvalue *u)
{
  LsView *v = c->b.v;
  LsValue value = {.type = LS_GCT_NONE};
  unsigned i = w->n;
  if (ls_closure_upvalue(c, w->root, u))
    value = u->value;
  while (i-- > 0 && value.type == LS_GCT_TAB)
    value = call_get(v, value.addr, ls_proto_kgc(&c->b, w->field[i]));
  return value;
}

/* -- The name ------------------------------------------------------------- */

/* The string that is a constant, cut to half of a name's length. */
static const char *call_string(const LsBlob *b, uint32_t k,
                               char buf[LS_NAME_MAX / 2])
{
  ls_view_string(b->v, ls_proto_kgc(b, k), buf, LS_NAME_MAX / 2);
  return buf;
}

/* Name the function by the way: "t.name", as it is when it is defined so. */
static void call_put(LsProven *pn, LsProvenName *e, const LsClosure *c,
                     const Way *w, const LsUpvalue *u)
{
  char name[2 * LS_NAME_MAX], part[LS_NAME_MAX / 2];
  unsigned i = w->n;
  size_t n;
  if (!u->name)
    return; /* Stripped. */
  n = (size_t)snprintf(name, LS_NAME_MAX / 2, "%s", u->name);
  if (n >= LS_NAME_MAX / 2)
    n = LS_NAME_MAX / 2 - 1;
  while (i-- > 0)
    n += (size_t)snprintf(name + n, sizeof(name) - n, ".%s",
                          call_string(&c->b, w->field[i], part));
  ls_proven_put(pn, e, LS_PROVEN_CALL, name, n);
}

/* The function at the end of a way is the one that was called. A variable alone
** must be the function's own: others call it by any name.
*/
static void call_verified(LsProven *pn, LsProvenName *e, const LsClosure *c,
                          const Way *w, const LsUpvalue *u, uint64_t fn)
{
  LsClosure value;
  if (w->n > 0) {
    if (!e->data)
      call_put(pn, e, c, w, u);
  } else if (ls_closure_read(c->b.v, fn, &value)) {
    if (ls_proven_own(pn, c, u, &value))
      call_put(pn, e, c, w, u);
    ls_closure_free(&value);
  }
}

/* Look at one call. */
static void call_look(LsProven *pn, LsProvenName *e, const LsClosure *c,
                      const LsCalled *call)
{
  uint32_t ins = ls_proto_ins(&c->b, call->pos), op = LS_BC_OP(ins);
  uint32_t slot = LS_BC_A(ins);
  uint64_t check, pt;
  LsUpvalue u = {0};
  LsValue value;
  Way w;
  if (op < LS_BC_CALLM || op >= LS_BC_CALLMT || call->pos >= c->b.sizebc)
    return;
  if (call->protect) /* What is called is the first argument. */
    slot += c->b.v->vm.gc64 ? 2 : 1;
  if (!call_way(&c->b, call->pos, slot, &w))
    return;
  value = call_value(c, &w, &u);
  if (value.type != LS_GCT_FUNC)
    return;
  pt = ls_closure_proto(c->b.v, value.addr, &check);
  if (pt == call->pt && check == call->check)
    call_verified(pn, e, c, &w, &u, value.addr);
}

void ls_call_name(LsProven *pn, LsView *v, const LsCalled *call)
{
  LsProvenName *e =
      ls_proven_entry(pn, ls_names_protokey(call->pt, call->check));
  LsClosure c;
  if (!e || e->final || e->rank >= LS_PROVEN_CALL || e->tries >= CALL_TRIES ||
      pn->calls == 0)
    return;
  pn->calls--;
  e->tries++;
  v->mem->bad = false;
  if (!ls_closure_read(v, call->caller, &c))
    return;
  call_look(pn, e, &c, call);
  ls_closure_free(&c);
  v->mem->bad = false;
}

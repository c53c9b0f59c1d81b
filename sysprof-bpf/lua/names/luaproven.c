/*
** Proven names: names of functions by the upvalues of closures.
**
** The best name is that of a variable that is never assigned to, in the very
** function that made the closure: it is what the definition would have said. A
** variable of another function is a parameter more often than not (`fn`), and
** says nothing. Fields of tables come last: one function may be in many.
*/

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "luabuiltin.h"
#include "luaproven.h"

#define PROVEN_MAX      (1u << 16) /* Functions and tables that are known. */
#define PROVEN_VISITS   8    /* Closures of one function, looks at a table. */
#define PROVEN_MS       1000 /* Between two looks at the same one. */
#define PROVEN_CLOSURES 16   /* Looked at in one call, */
#define PROVEN_SLOTS    600 /* slots of tables and upvalues, which cost more, */
#define PROVEN_LEAST    240 /* as many as one closure's upvalues may cost, */
#define PROVEN_UPVALUE  4
#define PROVEN_CALLS    16 /* and calls. */
#define PROVEN_QUEUED   64 /* That are taken off the queue. */
#define PROVEN_LEVELS   3  /* Of __index. */

/* -- What is known -------------------------------------------------------- */

LsProvenName *ls_proven_entry(LsProven *pn, uint64_t key)
{
  LsProvenName *e = ls_hash_find(&pn->map, &key, sizeof(key), sizeof(*e));
  if (!e && pn->map.n < PROVEN_MAX)
    e = ls_hash_put(&pn->map, &key, sizeof(key), sizeof(*e));
  return e;
}

void ls_proven_finalize(LsProven *pn, LsFunc *f)
{
  uint64_t key = ls_names_protokey(f->addr, f->check);
  LsProvenName *e = ls_hash_find(&pn->map, &key, sizeof(key), sizeof(*e));
  if (!e || !e->name || f->found)
    return;
  e->final = true;
  f->found = e->name;
}

void ls_proven_put(LsProven *pn, LsProvenName *e, uint8_t rank,
                   const char *name, size_t n)
{
  if (e->final || e->rank > rank)
    return;
  e->name = ls_pool_add(pn->pool, name, n < LS_NAME_MAX ? n : LS_NAME_MAX);
  e->rank = rank;
}

void ls_proven_free(LsProven *pn)
{
  ls_hash_free(&pn->map);
  pn->waiting = 0;
}

/* -- Which ones are looked at --------------------------------------------- */

static uint32_t proven_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* Whether something is worth another look: a closure FN of one function, or a
** table. Not too often, and not the same one at once.
*/
static bool proven_visit(LsProvenName *e, uint64_t fn)
{
  uint32_t now = proven_now();
  if (e->visits >= PROVEN_VISITS ||
      (e->visits > 0 && e->fn == fn && now - e->when < PROVEN_MS))
    return false;
  e->visits++;
  e->fn = fn;
  e->when = now;
  return true;
}

void ls_proven_closure(LsProven *pn, uint64_t fn)
{
  if (!fn || pn->waiting == LS_PROVEN_QUEUE)
    return;
  pn->queue[(pn->first + pn->waiting++) % LS_PROVEN_QUEUE] = fn;
}

/* -- Variables ------------------------------------------------------------ */

/* Whether the function is known by its definition, or is a main chunk. */
static bool proven_known(const LsProven *pn, uint64_t pt, uint64_t check)
{
  const LsFunc *f = ls_func_known(pn->funcs, pt, LJS_CHECK(check));
  return f && (f->known || f->first <= 0);
}

/* The same, after the function that made it was looked for. */
static bool proven_define(LsProven *pn, const LsClosure *c)
{
  LsHome home;
  if (c->b.first <= 0 || proven_known(pn, c->b.addr, c->b.check))
    return true;
  home = ls_closure_home(c);
  if (home.mask)
    ls_home_define(pn->funcs, home, &c->b);
  return proven_known(pn, c->b.addr, c->b.check);
}

bool ls_proven_own(LsProven *pn, const LsClosure *c, const LsUpvalue *u,
                   const LsClosure *value)
{
  LsHome home = ls_closure_home(value);
  if (c->b.chunkname != value->b.chunkname || !ls_home_same(u->home, home))
    return false;
  if (home.mask)
    return true;
  /* Had the variable's function made it, and were there, it would be known. */
  return ls_home_define(pn->funcs, u->home, &value->b) < 0;
}

/* Whether a variable's name is better than what a function has. Of two in one
** function, the first one's slot is lower; the other one is an alias.
*/
static bool proven_better(const LsProvenName *e, const LsUpvalue *u)
{
  if (e->final || !u->name || !u->constant)
    return false;
  return e->rank < LS_PROVEN_LOCAL ||
         (u->slot < e->slot && u->home.addr == e->home.addr);
}

/* A variable has a function: it may be the one that was made for it. */
static void proven_local(LsProven *pn, const LsClosure *c, const LsUpvalue *u)
{
  LsView *v = c->b.v;
  LsClosure value;
  uint64_t check, pt = ls_closure_proto(v, u->value.addr, &check);
  LsProvenName *e;
  if (!pt)
    return;
  e = ls_proven_entry(pn, ls_names_protokey(pt, check));
  if (e && e->visits < PROVEN_VISITS && e->fn != u->value.addr)
    ls_proven_closure(pn, u->value.addr);
  if (!e || !proven_better(e, u) || proven_known(pn, pt, check) ||
      !ls_closure_read(v, u->value.addr, &value))
    return;
  if (!proven_define(pn, &value) && ls_proven_own(pn, c, u, &value) &&
      !proven_known(pn, pt, check)) {
    ls_proven_put(pn, e, LS_PROVEN_LOCAL, u->name, strlen(u->name));
    e->slot = u->slot;
    e->home = u->home;
  }
  ls_closure_free(&value);
}

/* -- Tables --------------------------------------------------------------- */

static bool proven_isname(const char *s)
{
  if (isdigit((unsigned char)*s))
    return false;
  for (; *s; s++)
    if (!isalnum((unsigned char)*s) && *s != '_')
      return false;
  return true;
}

/* The function FN is in the table that is called PREFIX. A closure that is in
** there by two names has no name by that; several closures are data, and what
** they are called in says nothing of the function.
*/
static void proven_fieldname(LsProven *pn, LsProvenName *e, uint64_t fn,
                             uint64_t tab, const char *prefix, const char *key)
{
  char full[2 * LS_NAME_MAX + 8];
  int n = snprintf(full, sizeof(full), "%s.%s", prefix, key);
  if (e->rank == LS_PROVEN_NONE) {
    ls_proven_put(pn, e, LS_PROVEN_FIELD, full, (size_t)n);
    e->table = tab;
    e->held = fn;
  } else if (e->table == tab && (!e->name || strcmp(e->name, full) != 0)) {
    e->name = NULL;
    e->data = e->data || e->held != fn;
  }
}

/* Field KEY of a table has a function. */
static void proven_field(LsProven *pn, LsView *v, uint64_t fn, uint64_t tab,
                         const char *prefix, const char *key)
{
  uint64_t check, pt = ls_closure_proto(v, fn, &check);
  LsProvenName *e;
  if (!pt || !proven_isname(key))
    return;
  e = ls_proven_entry(pn, ls_names_protokey(pt, check));
  if (e && e->visits < PROVEN_VISITS && e->fn != fn)
    ls_proven_closure(pn, fn);
  if (e && !e->final && e->rank <= LS_PROVEN_FIELD)
    proven_fieldname(pn, e, fn, tab, prefix, key);
}

/* Tables lead on to tables, PROVEN_LEVELS at most. */
/* NOLINTBEGIN(misc-no-recursion) */

/* The functions in a table that is called PREFIX, and in those where it finds
** what it has not itself.
*/
static void proven_table(LsProven *pn, LsView *v, uint64_t tab,
                         const char *prefix, unsigned level)
{
  LsProvenName *e = ls_proven_entry(pn, tab);
  LsTable t;
  uint32_t i;
  if (!e || !proven_visit(e, tab) || !ls_view_table(v, tab, &t))
    return;
  for (i = 0; i < t.n && pn->slots > 0 && !v->mem->bad; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue k, value;
    pn->slots--;
    ls_view_node(v, &t, i, &k, &value);
    if (k.type != LS_GCT_STR || !ls_view_string(v, k.addr, key, sizeof(key)))
      continue;
    if (value.type == LS_GCT_FUNC)
      proven_field(pn, v, value.addr, tab, prefix, key);
    else if (value.type == LS_GCT_TAB && level < PROVEN_LEVELS &&
             value.addr != tab && strcmp(key, "__index") == 0)
      proven_table(pn, v, value.addr, prefix, level + 1);
  }
}

/* NOLINTEND(misc-no-recursion) */

/* -- Closures ------------------------------------------------------------- */

/* All variables of a closure. */
static void proven_upvalues(LsProven *pn, const LsClosure *c)
{
  LsUpvalue u;
  uint32_t i;
  for (i = 0; i < c->nuv; i++) {
    c->b.v->mem->bad = false;
    pn->slots -= pn->slots < PROVEN_UPVALUE ? pn->slots : PROVEN_UPVALUE;
    if (!ls_closure_upvalue(c, i, &u))
      continue;
    if (u.value.type == LS_GCT_FUNC)
      proven_local(pn, c, &u);
    else if (u.value.type == LS_GCT_TAB && u.name)
      proven_table(pn, c->b.v, u.value.addr, u.name, 0);
  }
}

/* One that waits. Returns false if there is nothing to do for it. */
static bool proven_next(LsProven *pn, LsView *v)
{
  uint64_t fn = pn->queue[pn->first], check, pt;
  LsProvenName *e;
  LsClosure c;
  pn->first = (pn->first + 1) % LS_PROVEN_QUEUE;
  pn->waiting--;
  v->mem->bad = false;
  pt = ls_closure_proto(v, fn, &check);
  e = pt ? ls_proven_entry(pn, ls_names_protokey(pt, check)) : NULL;
  if (!e || !proven_visit(e, fn) || !ls_closure_read(v, fn, &c))
    return false;
  proven_define(pn, &c);
  proven_upvalues(pn, &c);
  ls_closure_free(&c);
  return true;
}

void ls_proven_look(LsProven *pn, LsView *v)
{
  unsigned n = PROVEN_CLOSURES, all = PROVEN_QUEUED;
  pn->slots = PROVEN_SLOTS;
  pn->calls = PROVEN_CALLS;
  while (pn->waiting > 0 && n > 0 && all-- > 0 && pn->slots >= PROVEN_LEAST)
    n -= proven_next(pn, v);
  v->mem->bad = false;
}

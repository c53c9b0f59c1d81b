/*
** Names that closures give each other.
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
#include "luagiven.h"

#define GIVEN_MAX      (1u << 16) /* Functions and tables that are known. */
#define GIVEN_VISITS   8    /* Closures of one function, looks at a table. */
#define GIVEN_MS       1000 /* Between two looks at the same one. */
#define GIVEN_CLOSURES 16   /* Looked at in one call, */
#define GIVEN_SLOTS    600  /* slots of tables and upvalues, which cost more, */
#define GIVEN_LEAST    240  /* as many as one closure's upvalues may cost, */
#define GIVEN_UPVALUE  4
#define GIVEN_SEARCHES 2  /* functions whose makers are searched, */
#define GIVEN_CALLS    16 /* and calls. */
#define GIVEN_QUEUED   64 /* That are taken off the queue. */
#define GIVEN_LEVELS   3  /* Of __index. */

/* -- What is known -------------------------------------------------------- */

/* The slot of a key, or the free one where it belongs. */
static LsGivenName *given_slot(const LsGiven *gn, uint64_t key)
{
  size_t i = ljs_mix(0, key) >> 20 & (gn->size - 1);
  while (gn->at[i].key && gn->at[i].key != key)
    i = (i + 1) & (gn->size - 1);
  return &gn->at[i];
}

/* Twice the room. Returns false without memory. */
static bool given_grow(LsGiven *gn)
{
  LsGivenName *old = gn->at;
  size_t i, n = gn->size, size = n ? n * 2 : 256;
  LsGivenName *at = calloc(size, sizeof(*at));
  if (!at)
    return false;
  gn->at = at;
  gn->size = size;
  for (i = 0; i < n; i++)
    if (old[i].key)
      *given_slot(gn, old[i].key) = old[i];
  free(old);
  return true;
}

LsGivenName *ls_given_entry(LsGiven *gn, uint64_t key)
{
  LsGivenName *e;
  if (gn->n * 2 >= gn->size && !given_grow(gn))
    return NULL;
  e = given_slot(gn, key);
  if (!e->key && gn->n < GIVEN_MAX) {
    *e = (LsGivenName){.key = key};
    gn->n++;
  }
  return e->key ? e : NULL;
}

void ls_given_tell(LsGiven *gn, LsFunc *f)
{
  uint64_t key = ls_names_protokey(f->addr, f->check);
  LsGivenName *e = gn->size ? given_slot(gn, key) : NULL;
  if (!e || !e->name || f->given)
    return;
  e->told = true;
  f->given = e->name;
}

void ls_given_put(LsGiven *gn, LsGivenName *e, uint8_t rank, const char *name,
                  size_t n)
{
  if (e->told || e->rank > rank)
    return;
  e->name = ls_pool_add(gn->pool, name, n < LS_NAME_MAX ? n : LS_NAME_MAX);
  e->rank = rank;
}

void ls_given_free(LsGiven *gn)
{
  free(gn->at);
  gn->at = NULL;
  gn->n = gn->size = 0;
  gn->waiting = 0;
}

/* -- Which ones are looked at --------------------------------------------- */

static uint32_t given_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* Whether something is worth another look: a closure FN of one function, or a
** table. Not too often, and not the same one at once.
*/
static bool given_visit(LsGivenName *e, uint64_t fn)
{
  uint32_t now = given_now();
  if (e->visits >= GIVEN_VISITS ||
      (e->visits > 0 && e->fn == fn && now - e->when < GIVEN_MS))
    return false;
  e->visits++;
  e->fn = fn;
  e->when = now;
  return true;
}

void ls_given_closure(LsGiven *gn, uint64_t fn)
{
  if (!fn || gn->waiting == LS_GIVEN_QUEUE)
    return;
  gn->queue[(gn->first + gn->waiting++) % LS_GIVEN_QUEUE] = fn;
}

/* -- Variables ------------------------------------------------------------ */

/* Whether the function is known by its definition, or is a main chunk. */
static bool given_known(const LsGiven *gn, uint64_t pt, uint64_t check)
{
  const LsFunc *f = ls_func_known(gn->funcs, pt, LJS_CHECK(check));
  return f && (f->known || f->first <= 0);
}

/* The same, after the function that made it was looked for. */
static bool given_define(LsGiven *gn, LsGivenName *e, const LsClosure *c)
{
  LsHome home;
  if (c->b.first <= 0 || given_known(gn, c->b.addr, c->b.check))
    return true;
  home = ls_closure_home(c);
  if (home.mask) {
    ls_home_define(gn->funcs, home, &c->b);
  } else if (!e->searched && gn->searches > 0) {
    ls_home_search(gn->funcs, &c->b);
    e->searched = true;
    gn->searches--;
  }
  return given_known(gn, c->b.addr, c->b.check);
}

bool ls_given_own(LsGiven *gn, const LsClosure *c, const LsUpvalue *u,
                  const LsClosure *value)
{
  LsHome home = ls_closure_home(value);
  if (c->b.chunkname != value->b.chunkname || !ls_home_same(u->home, home))
    return false;
  if (home.mask)
    return true;
  /* Had the variable's function made it, and were there, it would be known. */
  return ls_home_define(gn->funcs, u->home, &value->b) < 0;
}

/* Whether a variable's name is better than what a function has. Of two in one
** function, the first one's slot is lower; the other one is an alias.
*/
static bool given_better(const LsGivenName *e, const LsUpvalue *u)
{
  if (e->told || !u->name || !u->constant)
    return false;
  return e->rank < LS_GIVEN_LOCAL ||
         (u->slot < e->slot && u->home.addr == e->home.addr);
}

/* A variable has a function: it may be the one that was made for it. */
static void given_local(LsGiven *gn, const LsClosure *c, const LsUpvalue *u)
{
  LsView *v = c->b.v;
  LsClosure value;
  uint64_t check, pt = ls_closure_proto(v, u->value.addr, &check);
  LsGivenName *e;
  if (!pt)
    return;
  e = ls_given_entry(gn, ls_names_protokey(pt, check));
  if (e && e->visits < GIVEN_VISITS && e->fn != u->value.addr)
    ls_given_closure(gn, u->value.addr);
  if (!e || !given_better(e, u) || given_known(gn, pt, check) ||
      !ls_closure_read(v, u->value.addr, &value))
    return;
  if (!given_define(gn, e, &value) && ls_given_own(gn, c, u, &value) &&
      !given_known(gn, pt, check)) {
    ls_given_put(gn, e, LS_GIVEN_LOCAL, u->name, strlen(u->name));
    e->slot = u->slot;
    e->home = u->home;
  }
  ls_closure_free(&value);
}

/* -- Tables --------------------------------------------------------------- */

static bool given_isname(const char *s)
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
static void given_fieldname(LsGiven *gn, LsGivenName *e, uint64_t fn,
                            uint64_t tab, const char *prefix, const char *key)
{
  char full[2 * LS_NAME_MAX + 8];
  int n =
      snprintf(full, sizeof(full), "%s%s%s", prefix, *prefix ? "." : "", key);
  if (e->rank == LS_GIVEN_NONE) {
    ls_given_put(gn, e, LS_GIVEN_FIELD, full, (size_t)n);
    e->table = tab;
    e->held = fn;
  } else if (e->table == tab && (!e->name || strcmp(e->name, full) != 0)) {
    e->name = NULL;
    e->data = e->data || e->held != fn;
  }
}

/* Field KEY of a table has a function. */
static void given_field(LsGiven *gn, LsView *v, uint64_t fn, uint64_t tab,
                        const char *prefix, const char *key)
{
  uint64_t check, pt = ls_closure_proto(v, fn, &check);
  LsGivenName *e;
  if (!pt || !given_isname(key))
    return;
  e = ls_given_entry(gn, ls_names_protokey(pt, check));
  if (e && e->visits < GIVEN_VISITS && e->fn != fn)
    ls_given_closure(gn, fn);
  if (e && !e->told && e->rank <= LS_GIVEN_FIELD)
    given_fieldname(gn, e, fn, tab, prefix, key);
}

/* Tables lead to metatables and on to tables, GIVEN_LEVELS at most. */
/* NOLINTBEGIN(misc-no-recursion) */

static void given_table(LsGiven *gn, LsView *v, uint64_t tab,
                        const char *prefix, unsigned level);

/* A metatable: metamethods are called by their own names, and methods by that
** of the table.
*/
static void given_meta(LsGiven *gn, LsView *v, uint64_t meta,
                       const char *prefix, unsigned level)
{
  LsTable t;
  uint32_t i;
  if (level >= GIVEN_LEVELS || !ls_view_table(v, meta, &t))
    return;
  for (i = 0; i < t.n && gn->slots > 0 && !v->mem->bad; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue k, value;
    gn->slots--;
    ls_view_node(v, &t, i, &k, &value);
    if (value.type == LS_GCT_NONE || k.type != LS_GCT_STR ||
        !ls_view_string(v, k.addr, key, sizeof(key)))
      continue;
    if (value.type == LS_GCT_FUNC && strncmp(key, "__", 2) == 0)
      given_field(gn, v, value.addr, meta, "", key);
    else if (value.type == LS_GCT_TAB && strcmp(key, "__index") == 0)
      given_table(gn, v, value.addr, prefix, level + 1);
  }
}

/* The functions in a table that is called PREFIX, and in those where it finds
** what it has not itself.
*/
static void given_table(LsGiven *gn, LsView *v, uint64_t tab,
                        const char *prefix, unsigned level)
{
  LsGivenName *e = ls_given_entry(gn, tab);
  uint64_t meta;
  LsTable t;
  uint32_t i;
  if (!e || !given_visit(e, tab) || !ls_view_table(v, tab, &t))
    return;
  for (i = 0; i < t.n && gn->slots > 0 && !v->mem->bad; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue k, value;
    gn->slots--;
    ls_view_node(v, &t, i, &k, &value);
    if (k.type != LS_GCT_STR || !ls_view_string(v, k.addr, key, sizeof(key)))
      continue;
    if (value.type == LS_GCT_FUNC)
      given_field(gn, v, value.addr, tab, prefix, key);
    else if (value.type == LS_GCT_TAB && level < GIVEN_LEVELS &&
             value.addr != tab && strcmp(key, "__index") == 0)
      given_table(gn, v, value.addr, prefix, level + 1);
  }
  meta = ls_view_ref(v, tab + v->lay->tab_meta);
  if (meta && meta != tab)
    given_meta(gn, v, meta, prefix, level);
}

/* NOLINTEND(misc-no-recursion) */

/* -- Closures ------------------------------------------------------------- */

/* All variables of a closure. */
static void given_upvalues(LsGiven *gn, const LsClosure *c)
{
  LsUpvalue u;
  uint32_t i;
  for (i = 0; i < c->nuv; i++) {
    c->b.v->mem->bad = false;
    gn->slots -= gn->slots < GIVEN_UPVALUE ? gn->slots : GIVEN_UPVALUE;
    if (!ls_closure_upvalue(c, i, &u))
      continue;
    if (u.value.type == LS_GCT_FUNC)
      given_local(gn, c, &u);
    else if (u.value.type == LS_GCT_TAB && u.name)
      given_table(gn, c->b.v, u.value.addr, u.name, 0);
  }
  given_table(gn, c->b.v, c->env, "", 0);
}

/* One that waits. Returns false if there is nothing to do for it. */
static bool given_next(LsGiven *gn, LsView *v)
{
  uint64_t fn = gn->queue[gn->first], check, pt;
  LsGivenName *e;
  LsClosure c;
  gn->first = (gn->first + 1) % LS_GIVEN_QUEUE;
  gn->waiting--;
  v->mem->bad = false;
  pt = ls_closure_proto(v, fn, &check);
  e = pt ? ls_given_entry(gn, ls_names_protokey(pt, check)) : NULL;
  if (!e || !given_visit(e, fn) || !ls_closure_read(v, fn, &c))
    return false;
  given_define(gn, e, &c);
  given_upvalues(gn, &c);
  ls_closure_free(&c);
  return true;
}

void ls_given_look(LsGiven *gn, LsView *v)
{
  unsigned n = GIVEN_CLOSURES, all = GIVEN_QUEUED;
  gn->slots = GIVEN_SLOTS;
  gn->searches = GIVEN_SEARCHES;
  gn->calls = GIVEN_CALLS;
  while (gn->waiting > 0 && n > 0 && all-- > 0 && gn->slots >= GIVEN_LEAST)
    n -= given_next(gn, v);
  v->mem->bad = false;
}

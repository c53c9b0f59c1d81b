/*
** Names of builtins and of other C functions: as a program would write them,
** "string.rep" or "vim.api.nvim_command". They are looked up where the program
** finds them: among the loaded modules and the globals.
**
** Tables are read as they are: nothing is allocated, and no metamethod is
** called. That is safe in all phases of the collector. A node without a value
** may have a key that was freed, so its key is not looked at.
*/

#define lj_memprof_builtin_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdio.h>
#include <string.h>

#include "lj_memprof_name.h"
#include "format/ljm_name.h"

#define BUILTIN_SLOTS 65536 /* Most nodes that are looked at for one name. */

/* -- Tables --------------------------------------------------------------- */

/* The string key of a node with a value, or NULL. */
static const GCstr *builtin_key(const Node *n)
{
  return !tvisnil(&n->val) && tvisstr(&n->key) ? strV(&n->key) : NULL;
}

/* The value of a string key of a table, or NULL. */
static cTValue *builtin_get(const GCtab *t, const char *name)
{
  const Node *node = noderef(t->node);
  MSize i;
  for (i = 0; i <= t->hmask; i++) {
    const GCstr *key = builtin_key(&node[i]);
    if (key != NULL && strcmp(strdata(key), name) == 0)
      return &node[i].val;
  }
  return NULL;
}

const GCtab *lj_memprof_loaded(global_State *g)
{
  cTValue *loaded = tvistab(&g->registrytv)
                        ? builtin_get(tabV(&g->registrytv), "_LOADED")
                        : NULL;
  return loaded != NULL && tvistab(loaded) ? tabV(loaded) : NULL;
}

/* -- Search --------------------------------------------------------------- */

/* The search for the names of a function. */
typedef struct BuiltinSearch {
  const GCfunc *fn;
  const GCtab *loaded, *globals;
  uint32_t slots; /* Nodes that may still be looked at. */
  LjmNaming naming;
  char name[LJM_FIELD_MAX + 1]; /* The best one. */
} BuiltinSearch;

/* True if a value is the function: all closures of a C function are. */
static int builtin_is(const BuiltinSearch *s, cTValue *tv)
{
  const GCfunc *fn;
  if (!tvisfunc(tv))
    return 0;
  fn = funcV(tv);
  return fn->c.ffid == s->fn->c.ffid && (isffunc(fn) || fn->c.f == s->fn->c.f);
}

/* Offers a name of the function: what is in front of it, a table, a key. */
static void builtin_offer(BuiltinSearch *s, unsigned rank, cTValue *tv,
                          const char *module, const char *table,
                          const char *key)
{
  char name[LJM_FIELD_MAX + 1];
  int n = snprintf(name, sizeof(name), "%s%s%s%s%s", module, *module ? "." : "",
                   table, *table ? "." : "", key);
  if (n < 0 || (size_t)n >= sizeof(name))
    return;
  if (ljm_name_offer(&s->naming, rank, (uint64_t)(uintptr_t)funcV(tv), name)) {
    memcpy(s->name, name, (size_t)n + 1);
    s->naming.name = s->name;
  }
}

/* True for a table that may be looked through: then its nodes are counted. */
static int builtin_enter(BuiltinSearch *s, const GCtab *t)
{
  if (t->hmask >= LJM_NAME_NODES || t->hmask >= s->slots)
    return 0;
  s->slots -= t->hmask + 1;
  return 1;
}

/* Looks for the function among the fields of a table. */
static void builtin_fields(BuiltinSearch *s, const GCtab *t, const char *module,
                           const char *table)
{
  const Node *node = noderef(t->node);
  unsigned tables = (*module != '\0') + (*table != '\0');
  MSize i;
  if (!builtin_enter(s, t))
    return;
  for (i = 0; i <= t->hmask; i++) {
    const GCstr *key = builtin_key(&node[i]);
    if (key != NULL && builtin_is(s, &node[i].val) &&
        ljm_name_isfield(strdata(key), key->len))
      builtin_offer(s, ljm_name_rank(isffunc(s->fn), module, tables),
                    &node[i].val, module, table, strdata(key));
  }
}

/* Looks for it in the tables of a table. */
static void builtin_subtables(BuiltinSearch *s, const GCtab *t,
                              const char *module)
{
  const Node *node = noderef(t->node);
  MSize i;
  if (!builtin_enter(s, t))
    return;
  for (i = 0; i <= t->hmask; i++) {
    const GCstr *key = builtin_key(&node[i]);
    if (key != NULL && tvistab(&node[i].val) &&
        tabV(&node[i].val) != s->globals && tabV(&node[i].val) != s->loaded &&
        tabV(&node[i].val) != t && ljm_name_isfield(strdata(key), key->len))
      builtin_fields(s, tabV(&node[i].val), module, strdata(key));
  }
}

/* Looks for it in all modules, which are in a table by their names: in these
** themselves, or in the tables that they have.
*/
static void builtin_modules(BuiltinSearch *s, const GCtab *t, int sub)
{
  const Node *node = noderef(t->node);
  MSize i;
  if (!builtin_enter(s, t))
    return;
  for (i = 0; i <= t->hmask; i++) {
    const GCstr *key = builtin_key(&node[i]);
    cTValue *val = &node[i].val;
    if (key == NULL ||
        (t == s->globals && !ljm_name_isfield(strdata(key), key->len)))
      continue;
    if (tvistab(val) && tabV(val) != s->globals && tabV(val) != s->loaded) {
      if (sub)
        builtin_subtables(s, tabV(val), strdata(key));
      else
        builtin_fields(s, tabV(val), strdata(key), "");
    } else if (!sub && t == s->loaded && builtin_is(s, val)) {
      /* A module that is a function. */
      builtin_offer(s, ljm_name_modulerank(strdata(key)), val, "", "",
                    strdata(key));
    }
  }
}

/* Looks for the function everywhere; one table is enough if that has it. */
static const char *builtin_find(global_State *g, BuiltinSearch *s)
{
  cTValue *globals;
  int sub;
  s->loaded = lj_memprof_loaded(g);
  if (s->loaded == NULL)
    return NULL;
  globals = builtin_get(s->loaded, "_G");
  s->globals = globals != NULL && tvistab(globals) ? tabV(globals) : NULL;
  for (sub = 0; sub < LJM_NAME_TABLES; sub++) {
    if (sub && s->naming.name != NULL &&
        s->naming.rank < ljm_name_rank(isffunc(s->fn), "", LJM_NAME_TABLES))
      break;
    builtin_modules(s, s->loaded, sub);
    if (s->globals != NULL && !sub)
      builtin_fields(s, s->globals, "", "");
    if (s->globals != NULL)
      builtin_modules(s, s->globals, sub);
  }
  return isffunc(s->fn) ? s->naming.name : ljm_name_get(&s->naming);
}

/*
** Puts the name of a C function into name, which has room for size bytes: an
** empty one if no table has it. The work is bounded.
*/
void lj_memprof_cname(global_State *g, const GCfunc *fn, char *name,
                      size_t size)
{
  BuiltinSearch s;
  const char *found;
  memset(&s, 0, sizeof(s));
  s.fn = fn;
  s.slots = BUILTIN_SLOTS;
  found = builtin_find(g, &s);
  snprintf(name, size, "%s", found != NULL ? found : "");
}

#endif

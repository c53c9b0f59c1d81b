/*
** Names of LuaJIT's builtins: as a program would write them, "string.rep".
** They are looked up where the program finds them, among the loaded modules;
** what is not there any more has the name of its C function.
*/

#define lj_memprof_builtin_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <stdio.h>
#include <string.h>

/* -- Loaded modules ------------------------------------------------------- */

/* True if a value is this string. */
static int builtin_isstr(cTValue *tv, const char *s)
{
  return tvisstr(tv) && strcmp(strVdata(tv), s) == 0;
}

/* The value of a string key of a table, or NULL. */
static cTValue *builtin_get(const GCtab *t, const char *key)
{
  const Node *node = noderef(t->node);
  MSize i;
  for (i = 0; i <= t->hmask; i++)
    if (builtin_isstr(&node[i].key, key))
      return &node[i].val;
  return NULL;
}

/* The key under which a table has a builtin, or NULL. */
static const char *builtin_key(const GCtab *t, uint8_t ffid)
{
  const Node *node = noderef(t->node);
  MSize i;
  for (i = 0; i <= t->hmask; i++)
    if (tvisfunc(&node[i].val) && funcV(&node[i].val)->c.ffid == ffid &&
        tvisstr(&node[i].key))
      return strVdata(&node[i].key);
  return NULL;
}

/* The table of loaded modules, or NULL. */
const GCtab *lj_memprof_loaded(global_State *g)
{
  cTValue *loaded = tvistab(&g->registrytv)
                        ? builtin_get(tabV(&g->registrytv), "_LOADED")
                        : NULL;
  return loaded != NULL && tvistab(loaded) ? tabV(loaded) : NULL;
}

/* Looks for a builtin in all modules. Returns 0 if it is in none. */
static int builtin_find(global_State *g, uint8_t ffid, char *name, size_t size)
{
  const GCtab *loaded = lj_memprof_loaded(g);
  int found = 0;
  MSize i;
  for (i = 0; loaded != NULL && i <= loaded->hmask; i++) {
    const Node *n = &noderef(loaded->node)[i];
    const char *key;
    if (!tvistab(&n->val) || !tvisstr(&n->key))
      continue;
    key = builtin_key(tabV(&n->val), ffid);
    if (key == NULL)
      continue;
    if (!builtin_isstr(&n->key, "_G")) {
      snprintf(name, size, "%s.%s", strVdata(&n->key), key);
      return 1; /* string.rep says more than a global alias of it. */
    }
    snprintf(name, size, "%s", key);
    found = 1;
  }
  return found;
}

/* -- C functions ---------------------------------------------------------- */

/* Turns lj_cf_io_method_read into io.method_read. */
static void builtin_fromsymbol(const char *symbol, char *name, size_t size)
{
  static const char *const prefix[] = {"lj_cf_", "lj_ffh_"};
  char *dot;
  size_t i;
  snprintf(name, size, "%.*s", (int)size - 1, symbol);
  for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
    size_t len = strlen(prefix[i]);
    if (strncmp(symbol, prefix[i], len) == 0) {
      snprintf(name, size, "%.*s", (int)size - 1, symbol + len);
      dot = strchr(name, '_');
      if (dot != NULL && dot[1] != '\0')
        *dot = '.';
    }
  }
}

/*
** Puts the name of a builtin into name, which has room for size bytes. symbol
** is the name of its C function, or "".
*/
void lj_memprof_builtin(global_State *g, const GCfunc *fn, const char *symbol,
                        char *name, size_t size)
{
  if (!builtin_find(g, fn->c.ffid, name, size))
    builtin_fromsymbol(symbol, name, size);
}

#endif

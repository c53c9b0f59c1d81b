/*
** Names of functions by the tables in which a program finds them.
**
** package.loaded has the modules by name, and among them _G. The first module
** that has a builtin names it, as the recorder does: "string.rep".
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luabuiltin.h"
#include "luaproto.h"

#define NAMES_SLOTS (20000)    /* Slots of tables that one walk looks at. */
#define NAMES_MAX   (1u << 16) /* Names that are kept. */
#define FFID_LUA    0          /* Kinds of functions; above: builtins. */
#define FFID_C      1

/* -- The map -------------------------------------------------------------- */

/* The slot of an address, or the free one where it belongs. */
static LsNamed *names_slot(const LsNames *names, uint64_t key)
{
  size_t i = ljs_mix(0, key) >> 20 & (names->size - 1);
  while (names->map[i].key && names->map[i].key != key)
    i = (i + 1) & (names->size - 1);
  return &names->map[i];
}

/* Twice the room. Returns false without memory. */
static bool names_grow(LsNames *names)
{
  LsNamed *old = names->map;
  size_t i, n = names->size, size = n ? n * 2 : 256;
  LsNamed *map = calloc(size, sizeof(*map));
  if (!map)
    return false;
  names->map = map;
  names->size = size;
  for (i = 0; i < n; i++)
    if (old[i].key)
      *names_slot(names, old[i].key) = old[i];
  free(old);
  return true;
}

/* Name an address, unless it has a name. */
static void names_put(LsNames *names, uint64_t key, const char *name)
{
  LsNamed *slot;
  if (!key || !name || names->n >= NAMES_MAX)
    return;
  if (names->n * 2 >= names->size && !names_grow(names))
    return;
  slot = names_slot(names, key);
  if (slot->key)
    return;
  *slot = (LsNamed){key, name};
  names->n++;
}

uint64_t ls_names_protokey(uint64_t pt, uint64_t check)
{
  return ljs_mix(pt, check) | 1ull << 63; /* No C function's address. */
}

const char *ls_names_find(const LsNames *names, uint64_t key)
{
  return names->size ? names_slot(names, key)->name : NULL;
}

void ls_names_free(LsNames *names)
{
  free(names->map);
  names->map = NULL;
  names->n = names->size = 0;
}

/* -- One function --------------------------------------------------------- */

/* A builtin: a module's name for it says more than a global one, and the first
** module's is taken.
*/
static void names_builtin(LsNames *names, uint8_t ffid, const char *name,
                          bool global)
{
  if (names->builtin[ffid] && (global || !names->isglobal[ffid]))
    return;
  names->builtin[ffid] = name;
  names->isglobal[ffid] = global;
}

/* The key of a Lua function: its PC is right behind the header of its proto. */
static uint64_t names_protokey(LsView *v, uint64_t fn)
{
  uint64_t pt = ls_view_ref(v, fn + v->vm.fn_pc) - v->vm.pt_size, check;
  return ls_proto_check(v, pt, &check) ? ls_names_protokey(pt, check) : 0;
}

/* Name the function at an address: it is NAME in the table PREFIX, which is ""
** for globals.
*/
static void names_function(LsNames *names, LsView *v, uint64_t fn,
                           const char *prefix, const char *sep,
                           const char *name)
{
  const struct ljs_vm *vm = &v->vm;
  char full[2 * LS_NAME_MAX + 8];
  const char *kept;
  uint8_t ffid;
  int len;
  if (ls_view_type(v, fn) != LS_GCT_FUNC)
    return;
  ffid = (uint8_t)ls_remote_uint(v->mem, fn + vm->fn_ffid, 1);
  if (v->mem->bad)
    return;
  len =
      snprintf(full, sizeof(full), "%s%s%s", prefix, *prefix ? sep : "", name);
  if (len > LS_NAME_MAX)
    len = LS_NAME_MAX;
  kept = ls_pool_add(names->pool, full, (size_t)len);
  if (!kept)
    return;
  if (ffid == FFID_LUA && names->nlua < LS_NAMES_LUA)
    names->lua[names->nlua++] = fn;
  if (ffid == FFID_LUA)
    names_put(names, names_protokey(v, fn), kept);
  else if (ffid == FFID_C)
    names_put(names, ls_remote_uint(v->mem, fn + vm->fn_f, 8), kept);
  else /* A module that is a function is no global. */
    names_builtin(names, ffid, kept, !*prefix && !strchr(name, '.'));
}

/* -- Tables --------------------------------------------------------------- */

/* The node of a table, if its key is a string, which goes to KEY. */
static bool names_node(LsNames *names, LsView *v, const LsTable *t, uint32_t i,
                       char key[LS_NAME_MAX + 1], LsValue *value)
{
  LsValue k;
  if (names->slots == 0)
    return false;
  names->slots--;
  v->mem->bad = false;
  ls_view_node(v, t, i, &k, value);
  return k.type == LS_GCT_STR && value->type != LS_GCT_NONE &&
         ls_view_string(v, k.addr, key, LS_NAME_MAX + 1) > 0;
}

void ls_names_table(LsNames *names, LsView *v, uint64_t tab, const char *prefix,
                    const char *sep)
{
  LsTable t;
  uint32_t i;
  if (!ls_view_table(v, tab, &t))
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue value;
    if (names_node(names, v, &t, i, key, &value) && value.type == LS_GCT_FUNC)
      names_function(names, v, value.addr, prefix, sep, key);
  }
}

/* Name the functions in the tables of a table: classes of a module. Builtins
** are not looked for there.
*/
static void names_subtables(LsNames *names, LsView *v, uint64_t tab,
                            const char *prefix)
{
  LsTable t;
  uint32_t i;
  if (!ls_view_table(v, tab, &t))
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1], sub[2 * LS_NAME_MAX + 8];
    LsValue value;
    if (!names_node(names, v, &t, i, key, &value) || value.type != LS_GCT_TAB ||
        value.addr == tab)
      continue;
    snprintf(sub, sizeof(sub), "%s%s%s", prefix, *prefix ? "." : "", key);
    sub[LS_NAME_MAX] = '\0';
    ls_names_table(names, v, value.addr, sub, ".");
  }
}

/* Go through package.loaded. With SUB, through the tables in the modules. */
static void names_loaded(LsNames *names, LsView *v, uint64_t loaded, bool sub)
{
  LsTable t;
  uint32_t i;
  if (!ls_view_table(v, loaded, &t))
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1];
    const char *prefix = key;
    LsValue value;
    if (!names_node(names, v, &t, i, key, &value))
      continue;
    if (strcmp(key, "_G") == 0)
      prefix = "";
    if (sub && value.type == LS_GCT_TAB)
      names_subtables(names, v, value.addr, prefix);
    else if (value.type == LS_GCT_TAB)
      ls_names_table(names, v, value.addr, prefix, ".");
    else if (value.type == LS_GCT_FUNC) /* A module that is a function. */
      names_function(names, v, value.addr, "", "", key);
  }
}

/* -- The registry --------------------------------------------------------- */

/* Find out where the global state has the registry: a table with _LOADED. It is
** somewhere before the running coroutine in all versions.
*/
static uint64_t names_registry(LsNames *names, LsView *v, uint64_t g)
{
  uint32_t ofs = names->registry ? names->registry : 8;
  for (; ofs < (uint32_t)v->vm.cur_l; ofs += 8) {
    LsValue value = ls_view_value(v, g + ofs), loaded;
    v->mem->bad = false;
    if (value.type == LS_GCT_TAB &&
        ls_view_get(v, value.addr, "_LOADED", &loaded) &&
        loaded.type == LS_GCT_TAB) {
      names->registry = ofs;
      return value.addr;
    }
    if (names->registry) { /* Not there any more? Look again, next time. */
      names->registry = 0;
      break;
    }
  }
  return 0;
}

void ls_names_walk(LsNames *names, LsView *v, uint64_t g)
{
  LsValue value;
  uint64_t registry;
  names->slots = NAMES_SLOTS;
  names->nlua = 0;
  registry = names_registry(names, v, g);
  if (!registry)
    return;
  if (ls_view_get(v, registry, "_LOADED", &value)) {
    names_loaded(names, v, value.addr, false);
    names_loaded(names, v, value.addr, true);
    ls_names_hidden(names, v, g, value.addr);
  }
  v->mem->bad = false;
  /* Methods of files, as their C functions are called. */
  if (ls_view_get(v, registry, "FILE*", &value) && value.type == LS_GCT_TAB)
    ls_names_table(names, v, value.addr, "io", ".method_");
}

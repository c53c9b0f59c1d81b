/*
** Names of functions by the tables in which a program finds them: the loaded
** modules, the globals, and the tables in these. Which of several names a
** function has is decided as the recorder does, by ljm_name.h.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "luabuiltin.h"
#include "luaproto.h"

#define NAMES_SLOTS (65536)    /* Slots of tables that one walk looks at. */
#define NAMES_MAX   (1u << 16) /* Names that are kept. */
#define NAMES_SEEN  2048       /* Tables by a name that a walk remembers. */
#define FFID_LUA    0          /* Kinds of functions. */

/* -- The map -------------------------------------------------------------- */

/* The entry of a key, made if there was none; NULL if there is no room. */
static LsFuncNames *names_entry(LsNames *names, uint64_t key)
{
  LsFuncNames *e;
  if (!key || names->map.n >= NAMES_MAX)
    return NULL;
  e = ls_hash_find(&names->map, &key, sizeof(key), sizeof(*e));
  if (!e)
    e = ls_hash_put(&names->map, &key, sizeof(key), sizeof(*e));
  if (e && !e->naming.name)
    e->walk = names->walk;
  return e;
}

uint64_t ls_names_protokey(uint64_t pt, uint64_t check)
{
  return ljs_mix(pt, check) | 1ull << 63; /* No C function's address. */
}

const char *ls_names_find(const LsNames *names, uint64_t key)
{
  const LsFuncNames *e =
      ls_hash_find(&names->map, &key, sizeof(key), sizeof(*e));
  return e ? ljm_name_get(&e->naming) : NULL;
}

const char *ls_names_builtin(const LsNames *names, uint32_t ffid)
{
  return names->builtin[ffid & 255].naming.name;
}

void ls_names_free(LsNames *names)
{
  ls_hash_free(&names->map);
  ls_hash_free(&names->seen);
}

/* -- One function --------------------------------------------------------- */

/* A table and its name: the module, and a table in that, or "". */
typedef struct Place {
  const char *module, *table;
} Place;

/* The key of a Lua function: its PC is right behind the header of its proto. */
static uint64_t names_protokey(LsView *v, uint64_t fn)
{
  uint64_t pt = ls_view_ref(v, fn + v->vm.fn_pc) - v->vm.pt_size, check;
  return ls_proto_check(v, pt, &check) ? ls_names_protokey(pt, check) : 0;
}

/* The entry of the function at an address, and whether it is a builtin. */
static LsFuncNames *names_of(LsNames *names, LsView *v, uint64_t fn,
                             bool *builtin)
{
  uint8_t ffid;
  *builtin = false;
  if (ls_view_type(v, fn) != LS_GCT_FUNC)
    return NULL;
  ffid = (uint8_t)ls_remote_uint(v->mem, fn + v->vm.fn_ffid, 1);
  if (v->mem->bad)
    return NULL;
  if (ffid == FFID_LUA) {
    if (names->nlua < LS_NAMES_LUA)
      names->lua[names->nlua++] = fn;
    return names_entry(names, names_protokey(v, fn));
  }
  if (ffid == LS_FFID_C)
    return names_entry(names, ls_remote_uint(v->mem, fn + v->vm.fn_f, 8));
  *builtin = true;
  if (!names->builtin[ffid].naming.name)
    names->builtin[ffid].walk = names->walk;
  return &names->builtin[ffid];
}

/* The function at an address has a name: a field of a table, or a module that
** is a function. Names that an earlier walk has found stay.
*/
static void names_offer(LsNames *names, LsView *v, uint64_t fn, const Place *p,
                        const char *field, bool module)
{
  char full[LJM_FIELD_MAX + 1];
  unsigned tables = (*p->module != '\0') + (*p->table != '\0') + module, rank;
  bool builtin;
  LsFuncNames *e = names_of(names, v, fn, &builtin);
  int n = snprintf(full, sizeof(full), "%s%s%s%s%s", p->module,
                   *p->table ? "." : "", p->table, tables > module ? "." : "",
                   field);
  if (!e || e->walk != names->walk || n < 0 || (size_t)n >= sizeof(full))
    return;
  rank = module ? ljm_name_modulerank(field)
                : ljm_name_rank(builtin, p->module, tables);
  if (ljm_name_offer(&e->naming, rank, fn, full))
    e->naming.name = ls_pool_add(names->pool, full, (size_t)n);
}

/* -- Tables --------------------------------------------------------------- */

/* Whether a table by a name was looked at in this walk. */
static bool names_seen(LsNames *names, uint64_t tab, const Place *p, bool sub)
{
  uint64_t key = ls_hash_bytes(ljs_mix(tab, sub), p->module, strlen(p->module));
  key = ls_hash_bytes(key, p->table, strlen(p->table));
  if (ls_hash_find(&names->seen, &key, sizeof(key), sizeof(key)))
    return true;
  if (names->seen.n < NAMES_SEEN)
    ls_hash_put(&names->seen, &key, sizeof(key), sizeof(key));
  return false;
}

/* Begin with a table. Returns false if it is not to be looked through: one of
** data, or one that was looked through by this name.
*/
static bool names_enter(LsNames *names, LsView *v, uint64_t tab, const Place *p,
                        bool sub, LsTable *t)
{
  v->mem->bad = false;
  return ls_view_table(v, tab, t) && t->n <= LJM_NAME_NODES &&
         !names_seen(names, tab, p, sub);
}

/* The node of a table, if it has a function or a table by a string, which goes
** to KEY.
*/
static bool names_node(LsNames *names, LsView *v, const LsTable *t, uint32_t i,
                       char key[LS_NAME_MAX + 1], LsValue *value)
{
  LsValue k;
  size_t n;
  if (names->slots == 0)
    return false;
  names->slots--;
  v->mem->bad = false;
  ls_view_node(v, t, i, &k, value);
  if ((value->type != LS_GCT_FUNC && value->type != LS_GCT_TAB) ||
      k.type != LS_GCT_STR)
    return false;
  n = ls_view_string(v, k.addr, key, LS_NAME_MAX + 1);
  return n > 0 && n < LS_NAME_MAX && strlen(key) == n;
}

/* Name the functions in a table. */
static void names_fields(LsNames *names, LsView *v, uint64_t tab,
                         const Place *p)
{
  LsTable t;
  uint32_t i;
  if (!names_enter(names, v, tab, p, false, &t))
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue value;
    if (names_node(names, v, &t, i, key, &value) && value.type == LS_GCT_FUNC &&
        ljm_name_isfield(key, strlen(key)))
      names_offer(names, v, value.addr, p, key, false);
  }
}

/* Name the functions in the tables of a module. */
static void names_subtables(LsNames *names, LsView *v, uint64_t tab,
                            const char *module)
{
  LsTable t;
  uint32_t i;
  if (!names_enter(names, v, tab, &(Place){module, ""}, true, &t))
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue value;
    if (names_node(names, v, &t, i, key, &value) && value.type == LS_GCT_TAB &&
        value.addr != tab && value.addr != names->globals &&
        value.addr != names->loaded && ljm_name_isfield(key, strlen(key)))
      names_fields(names, v, value.addr, &(Place){module, key});
  }
}

/* Name the functions of all modules that a table has by their names: in these
** themselves; or with SUB, in the tables that they have.
*/
static void names_modules(LsNames *names, LsView *v, uint64_t tab, bool sub)
{
  const Place none = {"", ""};
  LsTable t;
  uint32_t i;
  v->mem->bad = false;
  if (!ls_view_table(v, tab, &t) || t.n > LJM_NAME_NODES)
    return;
  for (i = 0; i < t.n && names->slots > 0; i++) {
    char key[LS_NAME_MAX + 1];
    LsValue value;
    if (!names_node(names, v, &t, i, key, &value) ||
        (tab == names->globals && !ljm_name_isfield(key, strlen(key))))
      continue;
    if (value.type == LS_GCT_FUNC) {
      if (tab == names->loaded && !sub)
        names_offer(names, v, value.addr, &none, key, true);
    } else if (value.addr != names->globals && value.addr != names->loaded) {
      if (sub)
        names_subtables(names, v, value.addr, key);
      else
        names_fields(names, v, value.addr, &(Place){key, ""});
    }
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

/* All that a program finds by package.loaded: what is nearer first. */
static void names_loaded(LsNames *names, LsView *v, uint64_t loaded)
{
  LsValue value;
  int sub;
  names->loaded = loaded;
  names->globals = 0;
  if (ls_view_get(v, loaded, "_G", &value) && value.type == LS_GCT_TAB)
    names->globals = value.addr;
  for (sub = 0; sub < LJM_NAME_TABLES; sub++) {
    names_modules(names, v, loaded, sub);
    if (!names->globals)
      continue;
    if (!sub)
      names_fields(names, v, names->globals, &(Place){"", ""});
    names_modules(names, v, names->globals, sub);
  }
}

void ls_names_walk(LsNames *names, LsView *v, uint64_t g)
{
  LsValue value;
  uint64_t registry;
  names->slots = NAMES_SLOTS;
  names->nlua = 0;
  names->walk++;
  ls_hash_clear(&names->seen);
  registry = names_registry(names, v, g);
  if (!registry)
    return;
  if (ls_view_get(v, registry, "_LOADED", &value))
    names_loaded(names, v, value.addr);
  v->mem->bad = false;
}

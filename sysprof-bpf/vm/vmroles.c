/*
** What the native functions of a VM without symbols do, by the call graph.
**
** The functions of the C API are exported in stripped libraries, too, and the
** interpreter was found before. From these, few functions of the VM are
** identified that much of it hangs on: the step of the collector, the
** allocator, the compiler's state machine, the parser's entry. What can be
** reached only through one of these does what that does: it is dominated. What
** others reach as well is identified by who calls it, if that is certain; if
** not it is "VM, other", as the API and the libraries are.
*/

#include <stdlib.h>
#include <string.h>

#include "rolegraph.h"
#include "symbols.h"

#define ROLES_SECTIONS 64 /* Sections, in which the linker's code is. */

static const char *const role_names[LS_ROLES] = {
    "",
    "(VM, other)",
    "(allocator)",
    "(collector)",
    "(JIT compiler)",
    "(string table)",
    "(tables)",
    "(formatting)",
    "(lexer and parser)",
    "(interpreter)",
};

const char *ls_role_name(LsRole role)
{
  return role < LS_ROLES ? role_names[role] : "";
}

static const char *const anchors[NANCHOR] = {
    "lua_gc",           "lua_createtable",   "lua_newuserdata",
    "lua_pushcclosure", "lua_pushlstring",   "lua_newstate",
    "luaL_newstate",    "lua_close",         "lua_loadx",
    "lua_rawget",       "lua_rawgeti",       "lua_rawset",
    "lua_rawseti",      "lua_next",          "lua_objlen",
    "lua_type",         "lua_tolstring",     "lua_concat",
    "lua_rawequal",     "luaL_getmetafield", "str_hash_init_sse42",
    "lua_setallocf",
};

/* Other functions whose callees are the VM's. */
static const char *const entries[] = {
    "luaL_openlibs",  "luaopen_base",          "luaopen_math",
    "luaopen_string", "luaopen_table",         "luaopen_io",
    "luaopen_os",     "luaopen_package",       "luaopen_debug",
    "luaopen_bit",    "luaopen_jit",           "luaopen_ffi",
    "luaL_traceback", "luaL_loadfilex",        "luaJIT_setmode",
    "lua_resume",     "luaopen_string_buffer",
};

/* Everything that the VM's own code leads to is the VM's. */
static void find_other(LsRoles *r)
{
  uint32_t f;
  ls_roles_clear(r, r->gate);
  for (f = 0; f < r->g.n; f++)
    r->a[f] = r->entry[f] || f == r->g.hub;
  ls_callgraph_reach(&r->g, r->gate, r->a, r->stack);
  for (f = 0; f < r->g.n; f++)
    if (r->a[f] || r->alone)
      ls_roles_assign(r, f, LS_ROLE_OTHER);
}

/* Is a name in a list? *AT is where. */
static int listed(const char *name, const char *const *list, size_t n,
                  size_t *at)
{
  for (*at = 0; *at < n; ++*at)
    if (strcmp(name, list[*at]) == 0)
      return 1;
  return 0;
}

/* Functions that have names, and those that the linker made. If nearly all
** names are the API's, the file is a VM and little else.
*/
static void find_names(LsRoles *r)
{
  uint32_t names = 0, others = 0;
  uint64_t start, size;
  const char *name;
  LsSection s;
  size_t i, at;
  uint32_t f;
  for (f = 0; f < NANCHOR; f++)
    r->anchor[f] = LS_FUNC_NONE;
  for (f = 0; f < r->g.n; f++) {
    if (ls_symbols_find(r->elf, r->g.range[f].lo, &name, &start, &size) ||
        start != r->g.range[f].lo)
      continue;
    r->exported[f] = 1;
    r->entry[f] = 1;
    r->api[f] = strncmp(name, "lua", 3) == 0;
    names++;
    others += !r->api[f];
    if (listed(name, anchors, NANCHOR, &at))
      r->anchor[at] = f;
    else if (!listed(name, entries, sizeof(entries) / sizeof(*entries), &at))
      r->entry[f] = 0;
  }
  for (i = 1; i < ROLES_SECTIONS && ls_elf_section(r->elf, i, &s) == 0; i++)
    if (strncmp(s.name, ".plt", 4) == 0 || strcmp(s.name, ".init") == 0)
      for (f = 0; f < r->g.n; f++)
        if (r->g.range[f].lo >= s.addr && r->g.range[f].lo - s.addr < s.size)
          r->exported[f] = 1;
  r->alone = others * 10 < names;
}

/* Without the collector anything may be a part of it, so nothing is named. */
static void find_all(LsRoles *r)
{
  uint32_t f, allocf;
  find_names(r);
  r->role[r->g.hub] = LS_ROLE_INTERPRETER;
  if (!ls_roles_collector(r))
    return;
  allocf = ls_roles_allocator(r, r->anchor[LUA_NEWSTATE]);
  if (allocf == LS_FUNC_NONE)
    allocf = ls_roles_allocator(r, r->anchor[LUAL_NEWSTATE]);
  ls_roles_sweep(r, allocf);
  ls_roles_mem(r);
  ls_roles_strings(r);
  ls_roles_tables(r);
  ls_roles_cpcall(r);
  ls_roles_parser(r);
  ls_roles_jit(r);
  ls_roles_text(r);
  find_other(r);
  for (f = 0; f < r->g.n; f++)
    r->role[f] = r->role[r->g.owner[f]];
}

/* All that has a byte for each function. Returns 0 without memory. */
static int roles_room(LsRoles *r)
{
  size_t n = r->g.n + 1;
  r->role = calloc(n, 1);
  r->exported = calloc(n, 1);
  r->api = calloc(n, 1);
  r->entry = calloc(n, 1);
  r->gate = calloc(n, 1);
  r->a = calloc(n, 1);
  r->b = calloc(n, 1);
  r->stack = calloc(n, sizeof(*r->stack));
  return r->role && r->exported && r->api && r->entry && r->gate && r->a &&
         r->b && r->stack;
}

/* The interpreter's number. */
static uint32_t find_hub(const LsAddrRange *range, size_t n,
                         const struct ljs_vm *vm)
{
  LsCallGraph g = {.range = range, .n = (uint32_t)n};
  return n < UINT32_MAX ? ls_callgraph_at(&g, vm->lo) : LS_FUNC_NONE;
}

uint8_t *ls_vm_roles(LsElf *e, const LsAddrRange *range, size_t n,
                     const struct ljs_vm *vm)
{
  LsRoles r = {.elf = e, .step = LS_FUNC_NONE, .onestep = LS_FUNC_NONE};
  uint32_t hub = find_hub(range, n, vm);
  r.strnew = LS_FUNC_NONE;
  if (hub == LS_FUNC_NONE || ls_callgraph_build(e, range, n, hub, &r.g))
    return NULL;
  if (roles_room(&r)) {
    find_all(&r);
  } else {
    free(r.role);
    r.role = NULL;
  }
  ls_callgraph_free(&r.g);
  free(r.exported);
  free(r.api);
  free(r.entry);
  free(r.gate);
  free(r.a);
  free(r.b);
  free(r.stack);
  return r.role;
}

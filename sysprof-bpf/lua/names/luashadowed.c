/*
** Names of shadowed builtins, which no module holds: metamethods of the FFI's
** objects, methods of buffers, and the functions that iterators are.
*/

#include <string.h>

#include "luabuiltin.h"

#define SHADOWED_ROOTS 1024 /* Bytes of g that are looked at, behind cur_L. */

/* A module's table, or 0. */
static uint64_t shadowed_module(LsView *v, uint64_t loaded, const char *name)
{
  LsValue value;
  v->mem->bad = false;
  if (!ls_view_get(v, loaded, name, &value) || value.type != LS_GCT_TAB)
    return 0;
  return value.addr;
}

/* The metatable of ffi.C, a userdata, which has its metatable where tables have
** theirs. It is that of all libraries.
*/
static void shadowed_clib(LsNames *names, LsView *v, uint64_t ffi)
{
  LsValue value;
  uint64_t meta;
  if (!ls_view_get(v, ffi, "C", &value) || value.type != LS_GCT_UDATA)
    return;
  meta = ls_view_ref(v, value.addr + v->lay->tab_meta);
  if (meta)
    ls_names_shadowedtable(names, v, meta, "ffi.clib", ".");
}

/* The metatable of C data: the one of the VM's own tables, kept in g, that says
** that it is the FFI's.
*/
static void shadowed_cdata(LsNames *names, LsView *v, uint64_t g)
{
  uint64_t at = g + (uint64_t)v->vm.cur_l, end = at + SHADOWED_ROOTS;
  for (; at < end; at += v->lay->ref) {
    LsValue value;
    uint64_t tab = ls_view_ref(v, at);
    v->mem->bad = false;
    if (ls_view_type(v, tab) == LS_GCT_TAB &&
        ls_view_get(v, tab, "__metatable", &value) &&
        ls_view_isstring(v, value, "ffi")) {
      ls_names_shadowedtable(names, v, tab, "ffi.meta", ".");
      return;
    }
  }
}

/* The environment of the functions of string.buffer has the methods. */
static void shadowed_buffer(LsNames *names, LsView *v, uint64_t buffer)
{
  LsValue value;
  uint64_t env;
  if (!ls_view_get(v, buffer, "new", &value) || value.type != LS_GCT_FUNC)
    return;
  env = ls_view_ref(v, value.addr + v->vm.fn_pc - 2u * v->lay->ref);
  if (ls_view_get(v, env, "put", &value))
    ls_names_shadowedtable(names, v, env, "string.buffer", ".method_");
}

/* What an iterator is comes right before the builtin that makes it. */
static void shadowed_iterators(LsNames *names)
{
  static const char *const made[][2] = {
      {"ipairs", "ipairs_aux"},
      {"coroutine.wrap", "coroutine.wrap_aux"},
      {"string.gmatch", "string.gmatch_aux"},
  };
  unsigned ffid, k;
  for (ffid = 3; ffid < 256; ffid++)
    for (k = 0; k < sizeof(made) / sizeof(made[0]); k++)
      if (ls_names_builtin(names, ffid) && !ls_names_builtin(names, ffid - 1) &&
          strcmp(ls_names_builtin(names, ffid), made[k][0]) == 0)
        names->builtin[ffid - 1].naming.name = made[k][1];
}

void ls_names_shadowed(LsNames *names, LsView *v, uint64_t g, uint64_t loaded)
{
  uint64_t ffi = shadowed_module(v, loaded, "ffi");
  uint64_t buffer = shadowed_module(v, loaded, "string.buffer");
  if (ffi) {
    shadowed_clib(names, v, ffi);
    shadowed_cdata(names, v, g);
  }
  if (buffer)
    shadowed_buffer(names, v, buffer);
  shadowed_iterators(names);
  v->mem->bad = false;
}

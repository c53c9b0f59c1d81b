/*
** Types of the FFI in a live VM.
**
** The state of the FFI hangs in the global state, behind the base of the trace
** that runs, and has a reference back. One of its tables has the metatables of
** types, which are there for ever; in front of it, older versions have that of
** finalizers.
*/

#include "luactype.h"

/* Fields of the FFI's state, in all builds. */
#define CT_G    24 /* The global state. */
#define CT_TABS 32 /* One table or two. */

#define CTYPE_NODES 4096 /* Of tables that are looked at. */

typedef struct Walk {
  LsView *v;
  void (*met)(void *ctx, LsValue value);
  void *ctx;
  uint32_t nodes;
} Walk;

/* Begin to look at a table. Returns false if that is too much. */
static bool walk_table(Walk *w, uint64_t tab, LsTable *t)
{
  if (!ls_view_table(w->v, tab, t) || t->n > w->nodes)
    return false;
  w->nodes -= t->n;
  return true;
}

/* Meet what is in a metatable. */
static bool walk_metatable(Walk *w, uint64_t tab)
{
  LsTable t;
  uint32_t i;
  if (!walk_table(w, tab, &t))
    return false;
  for (i = 0; i < t.n; i++) {
    LsValue key, value;
    ls_view_node(w->v, &t, i, &key, &value);
    if (value.type == LS_GCT_FUNC || value.type == LS_GCT_TAB)
      w->met(w->ctx, value);
  }
  return !w->v->mem->bad;
}

/* Likewise, in the metatables that a table has for types: the keys are their
** numbers. One with a name has the methods of callbacks.
*/
static bool walk_types(Walk *w, uint64_t tab)
{
  LsTable t;
  uint32_t i;
  if (!walk_table(w, tab, &t))
    return false;
  for (i = 0; i < t.n; i++) {
    LsValue key, value;
    ls_view_node(w->v, &t, i, &key, &value);
    if (value.type == LS_GCT_TAB && key.type == LS_GCT_NONE &&
        !walk_metatable(w, value.addr))
      return false;
  }
  return !w->v->mem->bad;
}

bool ls_ctype_metamethods(LsView *v, uint64_t g,
                          void (*met)(void *ctx, LsValue value), void *ctx)
{
  Walk w = {v, met, ctx, CTYPE_NODES};
  bool was = v->mem->bad, ok;
  uint64_t at = g + (uint64_t)v->vm.jit_base + v->lay->ref, state;
  unsigned i;
  v->mem->bad = false;
  state = g ? ls_view_ref(v, at) : 0;
  ok = state && ls_remote_uint(v->mem, state + CT_G, 8) == g && !v->mem->bad;
  for (i = 0; i < 2 && ok; i++) {
    uint64_t tab = ls_remote_uint(v->mem, state + CT_TABS + 8ul * i, 8);
    if (ls_view_type(v, tab) == LS_GCT_TAB)
      ok = walk_types(&w, tab);
    else if (i == 0)
      ok = false;
    v->mem->bad = v->mem->bad && i == 0; /* The second one may be no table. */
  }
  v->mem->bad = was;
  return ok;
}

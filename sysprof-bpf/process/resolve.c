/*
** Resolves the frames of a stack to sites.
*/

#include <string.h>

#include "cut.h"
#include "resolve.h"
#include "symbols.h"

/* -- Frames --------------------------------------------------------------- */

static void kernel_site(const LsResolver *r, const struct ljs_frame *f,
                        LsSite *s)
{
  uint64_t addr = f->addr - ((f->flags & LJS_FLAG_RETURN) ? 1 : 0);
  s->kind = LS_KERNEL;
  s->name = r->kernel ? ls_kallsyms_find(r->kernel, addr) : NULL;
  s->addr = s->name ? 0 : f->addr;
}

/* A function of a VM without a symbol is named by what it does. */
static void vm_site(LsModule *m, uint64_t addr, LsSite *s)
{
  LsRole role;
  if (!m->hasvm)
    return;
  s->flags |= LS_OFVM | (ls_module_collector(m) ? 0u : LS_BLIND);
  if (s->name)
    return;
  role = ls_module_role(m, addr);
  if (role != LS_ROLE_NONE) {
    s->name = ls_role_name(role);
    s->flags |= LS_INFERRED;
  }
}

/* Where a native address is: its module and its function. */
static void native_site(const LsResolver *r, const LsTarget *t, uint64_t pc,
                        LsSite *s)
{
  const struct ljs_map *map = ls_target_map(t, pc);
  LsModule *m = map ? ls_modules_slot(r->modules, map->module) : NULL;
  const LsAddrRange *range;
  uint64_t addr, start, size;
  s->kind = LS_NATIVE;
  s->addr = pc;
  if (!m)
    return;
  addr = pc - map->bias;
  s->module = m->id;
  s->addr = addr;
  if (!ls_symbols_find(m->elf, addr, &s->name, &start, &size))
    s->addr = start;
  else if ((range = ls_module_function(m, addr)) != NULL)
    s->addr = range->lo; /* A function, though without a name. */
  vm_site(m, addr, s);
}

/* An address in the function of a native frame: behind a call that may be the
** next one. But a return address that is none of a call is where a function
** begins: see roots.c.
*/
static uint64_t site_address(const LsResolver *r, const LsTarget *t,
                             const struct ljs_frame *f)
{
  const struct ljs_map *map = ls_target_map(t, f->addr);
  LsModule *m = map ? ls_modules_slot(r->modules, map->module) : NULL;
  const LsAddrRange *range;
  if (!(f->flags & LJS_FLAG_RETURN))
    return f->addr;
  if (m && !ls_module_function(m, f->addr - 1 - map->bias)) {
    range = ls_module_function(m, f->addr - map->bias);
    if (range && range->lo == f->addr - map->bias)
      return f->addr;
  }
  return f->addr - 1;
}

/* Where a C function that has a name in Lua is: its module and its symbol. */
static void c_site(const LsResolver *r, const LsTarget *t, LsSite *s)
{
  const struct ljs_map *map = ls_target_map(t, s->addr);
  LsSite native = {0};
  const LsModule *m;
  native_site(r, t, s->addr, &native);
  if (!(native.flags & LS_INFERRED))
    s->symbol = native.name;
  m = ls_modules_find(r->modules, native.module);
  if (m) {
    s->chunk = m->path;
    s->chunklen = strlen(m->path);
    s->addr -= map->bias;
  }
}

static size_t lua_sites(const LsResolver *r, const LsTarget *t,
                        const struct ljs_stack *s, unsigned i, LsSite *out,
                        unsigned max)
{
  const LsModule *m = ls_modules_slot(r->modules, s->module);
  size_t n, k;
  if (!m || !m->hasvm)
    return 0;
  n = ls_lua_sites(t->lua, &m->vm, s, i, out, max);
  for (k = 0; k < n; k++)
    if (out[k].kind == LS_CFUNC)
      c_site(r, t, &out[k]);
  return n;
}

static void mark_site(const struct ljs_frame *f, LsSite *s)
{
  s->kind = LS_MARK;
  s->name = ls_cut_name(f->x);
}

/* A C function that Lua called is a native frame, too: then its address is that
** of the function that the native frame inside of it is in. Only one of the two
** is reported: the C function if it has a name in Lua.
*/
static int reported_already(const LsResolver *r, const LsTarget *t,
                            const struct ljs_stack *s, unsigned i)
{
  const struct ljs_frame *f = &s->frame[i], *in = f - 1;
  LsSite outer = {0}, inner = {0};
  if (f->x > 1 || !i || in->kind != LJS_FRAME_NATIVE)
    return 0;
  native_site(r, t, f->addr, &outer);
  native_site(r, t, in->addr - ((in->flags & LJS_FLAG_RETURN) ? 1 : 0), &inner);
  return outer.module == inner.module && outer.addr == inner.addr;
}

#define MANY 64 /* Sites of one frame: functions inlined in a trace. */

/* A C function that Lua called: by its name in Lua, or else by its symbol. */
static size_t builtin_site(const LsResolver *r, const LsTarget *t,
                           const struct ljs_stack *s, unsigned i,
                           LsSite out[MANY])
{
  const struct ljs_frame *f = &s->frame[i];
  size_t n;
  n = lua_sites(r, t, s, i, out, MANY);
  if (n == 1 && out->name && *out->name)
    return n;
  if (reported_already(r, t, s, i))
    return 0;
  memset(out, 0, sizeof(*out));
  native_site(r, t, f->addr, out);
  return 1;
}

/* The sites of frame I, innermost first. */
static size_t frame_sites(const LsResolver *r, const LsTarget *t,
                          const struct ljs_stack *s, unsigned i,
                          LsSite out[MANY])
{
  const struct ljs_frame *f = &s->frame[i];
  memset(out, 0, sizeof(*out));
  switch (f->kind) {
  case LJS_FRAME_KERNEL:
    kernel_site(r, f, out);
    return 1;
  case LJS_FRAME_NATIVE:
    native_site(r, t, site_address(r, t, f), out);
    return 1;
  case LJS_FRAME_MARK:
    mark_site(f, out);
    return 1;
  case LJS_FRAME_BUILTIN:
    return builtin_site(r, t, s, i, out);
  default:
    return lua_sites(r, t, s, i, out, MANY);
  }
}

/* -- Stacks --------------------------------------------------------------- */

size_t ls_resolve(LsResolver *r, const LsTarget *t, const struct ljs_stack *s,
                  uint32_t out[LS_SITES_MAX])
{
  LsSite site[MANY];
  size_t n = 0, k;
  uint32_t i = s->nframes, id;
  int named = 0; /* The frame before is a C function with a name. */
  /* Outermost first: most functions get their names from those that define
  ** them, which are further out.
  */
  while (i--) {
    if (named && reported_already(r, t, s, i + 1)) {
      named = 0;
      continue;
    }
    k = frame_sites(r, t, s, i, site);
    named = s->frame[i].kind == LJS_FRAME_BUILTIN && site->kind == LS_CFUNC;
    while (k-- && n < LS_SITES_MAX)
      if ((id = ls_sitetable_add(r->sites, &site[k])) != 0)
        out[n++] = id;
  }
  return n;
}

uint32_t ls_resolve_cut(const LsResolver *r, uint32_t cut, const uint32_t *site,
                        size_t n)
{
  while (n-- && cut == LJS_CUT_NOT) {
    const LsSite *s = ls_sitetable_get(r->sites, site[n]);
    if (s && s->flags & LS_LOST)
      cut = LJS_CUT_LOST;
  }
  return cut;
}

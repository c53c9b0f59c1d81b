/*
** What a sample was doing.
**
** It is determined by the frames inside of the innermost Lua function, from the
** outermost one of them inwards. All of the VM's allocations, steps of its
** collector, and its JIT compiler go through functions whose names begin with
** certain prefixes; the sampler names them in brackets where it knows them
** without symbols. The VM's other functions serve the line that runs. A VM's
** function without a name may be any part of it.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "part.h"
#include "walk.h"

/* What the name of a function says of a sample. */
typedef enum Tells {
  TELLS_NOTHING, /* It is a C function, or is called by one. */
  TELLS_ALLOCGC,
  TELLS_JIT,
  TELLS_VM,      /* It serves the line that runs. */
  TELLS_UNNAMED, /* There is no name. */
  TELLS_C,       /* A function that Lua called. */
  TELLS_KERNEL,
  TELLS_INTERPRETED, /* Lua, */
  TELLS_COMPILED     /* in machine code. */
} Tells;

/* Prefixes of names, the first that fits. The recorder's are those of
** allocation: it is called by the VM's allocator only.
*/
static const struct {
  const char *prefix;
  Tells tells;
} part_names[] = {
    {"lj_gc_", TELLS_ALLOCGC},
    {"lj_mem_", TELLS_ALLOCGC},
    {"lj_alloc_", TELLS_ALLOCGC},
    {"event_", TELLS_ALLOCGC},
    {"lj_memprof_", TELLS_ALLOCGC},
    {"(collector)", TELLS_ALLOCGC},
    {"(allocator)", TELLS_ALLOCGC},
    {"lj_trace_", TELLS_JIT},
    {"lj_record_", TELLS_JIT},
    {"lj_ffrecord_", TELLS_JIT},
    {"lj_crecord_", TELLS_JIT},
    {"lj_opt_", TELLS_JIT},
    {"lj_asm_", TELLS_JIT},
    {"lj_ir_", TELLS_JIT},
    {"lj_snap_", TELLS_JIT},
    {"lj_mcode_", TELLS_JIT},
    {"(JIT compiler)", TELLS_JIT},
    {"lj_cf_", TELLS_C},
    {"lj_ffh_", TELLS_C},
    {"lj_ff_", TELLS_C},
    {"lj_", TELLS_VM},
    {"(string table)", TELLS_VM},
    {"(lexer and parser)", TELLS_VM},
    {"(tables)", TELLS_VM},
    {"(formatting)", TELLS_VM},
    {"(interpreter)", TELLS_VM},
    {"(VM, other)", TELLS_VM},
};

/* What the name of a native function tells. */
static Tells part_name(LpStr name)
{
  size_t i;
  if (!name.n)
    return TELLS_UNNAMED;
  for (i = 0; i < sizeof(part_names) / sizeof(part_names[0]); i++) {
    size_t n = strlen(part_names[i].prefix);
    if (name.n >= n && memcmp(name.s, part_names[i].prefix, n) == 0)
      return part_names[i].tells;
  }
  return TELLS_NOTHING;
}

/* What a site tells. */
static Tells part_site(const LpProfile *prof, uint32_t site)
{
  const LpRow *row = &prof->row[site];
  const LpFuncInfo *fi = &prof->func[row->func];
  switch (fi->kind) {
  case LP_FUNC_LUA:
  case LP_FUNC_LUA_ADDR:
    return row->marks & LJM_SITE_TRACE ? TELLS_COMPILED : TELLS_INTERPRETED;
  case LP_FUNC_TRACE:
    return TELLS_COMPILED;
  case LP_FUNC_C:
  case LP_FUNC_C_ADDR:
    return TELLS_C;
  case LP_FUNC_KERNEL:
    return TELLS_KERNEL;
  case LP_FUNC_NATIVE:
    return part_name(lp_profile_name(prof, fi->name));
  default:
    return site == LP_SITE_CUT ? TELLS_NOTHING : TELLS_UNNAMED;
  }
}

int lp_luafirst(const LpProfile *prof)
{
  const LpCalls *calls = &prof->origins.calls;
  uint32_t i;
  if (!(prof->of & LP_OF_CPU) || prof->wanted.native)
    return 0;
  for (i = 1; i < calls->n; i++)
    if (lp_profile_lua(prof, calls->site[i]))
      return 1;
  return 0;
}

/* -- By stack -------------------------------------------------------------- */

/* The part of a stack that was OUTER, with one more frame inside. A part that
** is decided stays: a collector's includes all that it calls.
*/
static LpMetric part_inner(LpMetric outer, Tells tells)
{
  switch (tells) {
  case TELLS_INTERPRETED:
    return LP_METRIC_INTERPRETED;
  case TELLS_COMPILED:
    return LP_METRIC_COMPILED;
  case TELLS_ALLOCGC:
    return LP_METRIC_ALLOC_GC;
  case TELLS_JIT:
    return outer == LP_METRIC_ALLOC_GC ? outer : LP_METRIC_JIT;
  case TELLS_KERNEL:
    return outer == LP_METRIC_ALLOC_GC || outer == LP_METRIC_JIT
               ? outer
               : LP_METRIC_KERNEL;
  case TELLS_C:
  case TELLS_NOTHING:
    return outer == LP_METRIC_INTERPRETED || outer == LP_METRIC_COMPILED
               ? LP_METRIC_C
               : outer;
  case TELLS_UNNAMED:
    return outer == LP_METRIC_INTERPRETED || outer == LP_METRIC_COMPILED
               ? LP_METRIC_UNNAMED
               : outer;
  default:
    return outer == LP_METRIC_UNNAMED ? LP_METRIC_INTERPRETED : outer;
  }
}

/* The module of a native function, or LP_NONE. */
static uint32_t part_module(const LpProfile *prof, uint32_t site)
{
  const LpFuncInfo *fi = &prof->func[prof->row[site].func];
  return fi->kind == LP_FUNC_NATIVE && lp_profile_name(prof, fi->chunk).n
             ? fi->chunk
             : LP_NONE;
}

/* Does a name show that its module has a VM? The recorder's do not. */
static int part_ofvm(LpStr name)
{
  static const char *const prefix[] = {"lua_", "luaL_", "luaJIT_", "lj_"};
  size_t i;
  if (name.n >= 11 && memcmp(name.s, "lj_memprof_", 11) == 0)
    return 0;
  for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
    if (name.n > strlen(prefix[i]) &&
        memcmp(name.s, prefix[i], strlen(prefix[i])) == 0)
      return 1;
  return 0;
}

/* Is a module LuaJIT itself, not a program that has it inside? */
static int part_luajit(const LpProfile *prof, uint32_t module)
{
  LpStr path = lp_profile_name(prof, module);
  const char *base = memrchr(path.s, '/', path.n);
  size_t n = base ? path.n - (size_t)(base + 1 - path.s) : path.n;
  return memmem(base ? base + 1 : path.s, n, "luajit", 6) != NULL;
}

/* By number of a name: is it the path of a module that has a VM, by the names
** of its functions or its own? Returns NULL if none is known.
*/
static uint8_t *part_vms(const LpProfile *prof)
{
  uint8_t *is = lp_zalloc(prof->names.n + 1, 1);
  uint32_t i, n = 0;
  for (i = 0; i < prof->sitekeys.n; i++) {
    const LpFuncInfo *fi = &prof->func[prof->row[i].func];
    if (part_module(prof, i) == LP_NONE ||
        (!part_ofvm(lp_profile_name(prof, fi->name)) &&
         !part_luajit(prof, fi->chunk)))
      continue;
    n++;
    is[fi->chunk] = 1;
  }
  if (n)
    return is;
  free(is);
  return NULL;
}

/* What each site tells. A function without a name that is in no VM's module is
** a C function; one that says nothing, in LuaJIT itself, serves the line.
*/
static uint8_t *part_sites(const LpProfile *prof)
{
  uint8_t *tells = lp_alloc(prof->sitekeys.n), *vm = part_vms(prof);
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    uint32_t module = part_module(prof, i);
    tells[i] = (uint8_t)part_site(prof, i);
    if (module == LP_NONE)
      continue;
    if (tells[i] == TELLS_UNNAMED && vm && !vm[module])
      tells[i] = TELLS_NOTHING;
    else if (tells[i] == TELLS_NOTHING && part_luajit(prof, module))
      tells[i] = TELLS_VM;
  }
  free(vm);
  return tells;
}

uint8_t *lp_parts(const LpProfile *prof)
{
  const uint32_t *site = prof->origins.calls.site;
  const LpSampled *of = &prof->sampled;
  uint8_t *part = lp_alloc(of->n), *tells = part_sites(prof);
  LpWalk w = {0};
  uint32_t i, d;
  for (i = 0; i < of->n; i++) {
    lp_walk_to(&w, &prof->origins.calls, of->node[i]);
    w.upto[0] = LP_METRIC_C; /* Outside of Lua. */
    for (d = w.same; d < w.n; d++)
      w.upto[d + 1] =
          part_inner((LpMetric)w.upto[d], (Tells)tells[site[w.node[d]]]);
    part[i] = (uint8_t)w.upto[w.n];
  }
  lp_walk_free(&w);
  free(tells);
  return part;
}

/* The frames up to the innermost Lua function, if one of allocation or
** collection is called inside of it; else 0. A finalizer is not part of it: it
** is a Lua function itself.
*/
static uint32_t part_allocgc(const LpProfile *prof, const uint8_t *tells,
                             const LpWalk *w)
{
  const uint32_t *site = prof->origins.calls.site;
  uint32_t d = w->n;
  int is = 0;
  for (; d; d--) {
    if (lp_profile_lua(prof, site[w->node[d - 1]]))
      return is ? d : 0;
    is |= tells[site[w->node[d - 1]]] == TELLS_ALLOCGC;
  }
  return 0;
}

uint32_t *lp_allocgc(const LpProfile *prof)
{
  const LpSampled *of = &prof->sampled;
  uint32_t *upto = lp_alloc(of->n * sizeof(uint32_t)), i;
  uint8_t *tells = part_sites(prof);
  LpWalk w = {0};
  for (i = 0; i < of->n; i++) {
    lp_walk_to(&w, &prof->origins.calls, of->node[i]);
    upto[i] = part_allocgc(prof, tells, &w);
  }
  lp_walk_free(&w);
  free(tells);
  return upto;
}

/* Recordings of earlier versions do not say what was found: then code without a
** name that Lua called may be anything, unless something of a VM has one.
*/
int lp_allocgc_known(const LpProfile *prof)
{
  const LpCalls *calls = &prof->origins.calls;
  int nameless = 0;
  uint64_t blind;
  uint32_t i;
  if (lp_cpu_find(&prof->cpu, "vm_blind", &blind))
    return blind == 0;
  for (i = 1; i < calls->n; i++) {
    uint32_t site = calls->site[i], parent = lp_calls_parent(calls, i);
    Tells tells = part_site(prof, site);
    if (tells == TELLS_ALLOCGC)
      return 1;
    nameless |= tells == TELLS_UNNAMED && parent != LP_NODE_ROOT &&
                prof->func[prof->row[site].func].kind == LP_FUNC_NATIVE &&
                lp_profile_lua(prof, calls->site[parent]);
  }
  return !nameless;
}

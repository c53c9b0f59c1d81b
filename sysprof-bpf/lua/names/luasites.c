/*
** Lua's part of a stack, named.
*/

#include <stdlib.h>

#include "luanaming.h"
#include "luasites.h"
#include "luatraces.h"

#define SITES_BUILDS 8 /* Builds of LuaJIT in one process. */

/* One build of LuaJIT. */
typedef struct Build {
  LsView view;
  LsNaming naming;
  LsTraces traces;
} Build;

struct LsLua {
  LsRemote mem;
  LsPool pool;
  LsFuncs funcs;
  uint64_t met; /* Key of the stack whose functions were met last, or 0. */
  Build *build[SITES_BUILDS];
  unsigned nbuild;
};

/* Where sites are put. */
typedef struct Out {
  LsLua *l;
  Build *b;
  uint64_t g;
  const struct ljs_stack *stack;
  LsSite *site;
  unsigned n, max;
} Out;

/* -- Opening and closing -------------------------------------------------- */

LsLua *ls_lua_open(pid_t pid)
{
  LsLua *l = calloc(1, sizeof(*l));
  if (l) {
    l->mem.pid = pid;
    l->funcs.pool = &l->pool;
  }
  return l;
}

void ls_lua_close(LsLua *l)
{
  unsigned i;
  if (!l)
    return;
  for (i = 0; i < l->nbuild; i++) {
    ls_naming_free(&l->build[i]->naming);
    ls_traces_free(&l->build[i]->traces);
    free(l->build[i]);
  }
  ls_funcs_free(&l->funcs);
  ls_pool_free(&l->pool);
  free(l);
}

/* Whether two layouts are of the same build. */
static bool sites_same(const struct ljs_vm *a, const struct ljs_vm *b)
{
  return a->lo == b->lo && a->hi == b->hi && a->gc64 == b->gc64 &&
         a->jit == b->jit && a->g2disp == b->g2disp &&
         a->vmstate == b->vmstate && a->cur_l == b->cur_l &&
         a->trace == b->trace;
}

/* Name the functions that a trace may have inlined. */
static void sites_met(void *ctx, const LsTrace *T)
{
  ls_naming_hold(ctx, T);
}

/* What belongs to a build. NULL without memory, or if there are too many. */
static Build *sites_build(LsLua *l, const struct ljs_vm *vm)
{
  Build *b;
  unsigned i;
  for (i = 0; i < l->nbuild; i++)
    if (sites_same(&l->build[i]->view.vm, vm))
      return l->build[i];
  if (l->nbuild == SITES_BUILDS || !(b = calloc(1, sizeof(*b))))
    return NULL;
  ls_view_init(&b->view, &l->mem, vm);
  ls_naming_init(&b->naming, &b->view, &l->funcs);
  b->traces.funcs = &l->funcs;
  b->traces.met = sites_met;
  b->traces.ctx = &b->naming;
  return l->build[l->nbuild++] = b;
}

/* -- Sites ---------------------------------------------------------------- */

static LsSite *sites_new(Out *o, LsKind kind, unsigned flags)
{
  LsSite *s = &o->site[o->n];
  if (o->n >= o->max)
    return NULL;
  o->n++;
  *s = (LsSite){.kind = kind, .flags = flags, .chunk = "", .name = ""};
  return s;
}

/* A function that nothing is known of: a chunk of that name is no file, nor the
** text of a program.
*/
static void sites_lost(Out *o, unsigned flags)
{
  static const char chunk[] = "=(lost)";
  LsSite *s = sites_new(o, LS_LUA, flags | LS_LOST);
  if (!s)
    return;
  s->chunk = chunk;
  s->chunklen = sizeof(chunk) - 1;
}

/* A line of a Lua function. */
static void sites_line(Out *o, LsFunc *f, uint32_t pos, unsigned flags)
{
  LsSite *s = sites_new(o, LS_LUA, flags);
  if (!s)
    return;
  if (!f->lineinfo)
    s->flags |= f->first == 0 ? LS_STRIPPED | LS_BYHASH : LS_STRIPPED;
  s->chunk = f->chunk;
  s->chunklen = f->chunklen;
  s->name = ls_naming_lua(&o->b->naming, f);
  s->first = (uint64_t)(int64_t)f->first; /* As the recorder has it. */
  s->lines = f->first > 0 ? f->numline : 0;
  s->hash = f->hash;
  s->line = ls_func_line(f, pos);
}

/* A C function that Lua has called. With a name, but not one of LuaJIT's own:
** LS_CFUNC, whose address is still that in the process.
*/
static void sites_cfunction(Out *o, uint64_t addr, uint32_t ffid,
                            unsigned flags)
{
  LsSite *s = sites_new(o, LS_BUILTIN, flags);
  if (!s)
    return;
  s->addr = addr;
  s->name = ls_naming_c(&o->b->naming, addr, ffid);
  if (ffid <= LS_FFID_C && *s->name)
    s->kind = LS_CFUNC;
}

/* Read the Lua functions of a stack, from the outermost on: main chunks have
** the names of all that they define.
*/
static void sites_meet(Out *o)
{
  const struct ljs_stack *stack = o->stack;
  uint32_t i =
      stack->nframes < LJS_MAX_FRAMES ? stack->nframes : LJS_MAX_FRAMES;
  ls_remote_moment(&o->l->mem);
  if (stack->key != 0 && stack->key == o->l->met)
    return; /* For another frame of it. */
  o->l->met = stack->key;
  while (i-- > 0) {
    const struct ljs_frame *fr = &stack->frame[i];
    if (fr->kind == LJS_FRAME_LUA &&
        !ls_func_known(&o->l->funcs, fr->addr, fr->check))
      ls_func_read(&o->l->funcs, &o->b->view, fr->addr);
  }
}

/* Frame I is in the interpreter. */
static void sites_lua(Out *o, uint32_t i)
{
  const struct ljs_frame *fr = &o->stack->frame[i];
  LsFunc *f = ls_func_known(&o->l->funcs, fr->addr, fr->check);
  if (!f) {
    sites_meet(o);
    f = ls_func_known(&o->l->funcs, fr->addr, fr->check);
  }
  if (f)
    ls_naming_frame(&o->b->naming, f, i);
  if (!f)
    sites_lost(o, 0);
  else if (fr->flags & LJS_FLAG_NOPC)
    sites_line(o, f, fr->x == ~0u ? 0 : fr->x, LS_APPROX);
  else
    sites_line(o, f, fr->x, 0);
}

/* -- Traces --------------------------------------------------------------- */

/* A function that a trace has inlined, or began in. */
static void sites_place(Out *o, const LsPlace *p, unsigned flags)
{
  if (p->f)
    sites_line(o, p->f, p->pos, LS_TRACE | flags);
  else if (p->cfn)
    sites_cfunction(o, p->cfn, p->ffid, LS_TRACE | flags);
  else
    sites_lost(o, LS_TRACE | LS_UNSURE);
}

/* All of them around a position. */
static void sites_callers(Out *o, const LsTraceLine *here)
{
  uint32_t k, n = here->nvia + here->nouter;
  for (k = 0; k < n; k++)
    sites_place(o,
                k < here->nvia ? &here->via[k] : &here->outer[k - here->nvia],
                n - k <= here->shared ? 0 : LS_APPROX | LS_UNSURE);
}

/* The functions that compiled code is in, of frame I. */
static void sites_trace(Out *o, const LsTrace *T, uint32_t ofs, uint32_t i)
{
  bool called = o->stack->frame[i].flags & LJS_FLAG_RETURN;
  const unsigned guess = LS_TRACE | LS_APPROX | LS_UNSURE;
  LsTraceLine here;
  bool found;
  ls_naming_hold(&o->b->naming, T);
  found = ls_traceline_find(T, ofs, called, &here);
  if (found && !here.f && !here.outer[-1].cfn && !here.nouter)
    found = false; /* Such are the first snapshots behind a stitch. */
  if (!found)      /* Only where it begins is known. */
    here = (LsTraceLine){.f = T->start.f};
  ls_naming_trace(&o->b->naming, &here, i);
  if (!found) {
    if (T->start.f)
      sites_line(o, T->start.f, T->start.pos, guess);
    else
      sites_lost(o, LS_TRACE | LS_UNSURE);
    return;
  }
  if (here.f)
    sites_line(o, here.f, here.pos,
               LS_TRACE | (here.exact ? 0 : LS_APPROX) |
                   (here.unsure ? LS_UNSURE : 0));
  else
    sites_place(o, here.outer - 1, 0);
  sites_callers(o, &here);
}

/* Frame I is a trace, or in code that is a trace's if one has it. */
static void sites_jit(Out *o, uint32_t i)
{
  const struct ljs_frame *fr = &o->stack->frame[i];
  uint32_t back = fr->flags & LJS_FLAG_RETURN ? 1 : 0;
  const LsTrace *T;
  LsSite *s;
  sites_meet(o);
  if (fr->kind == LJS_FRAME_TRACE) {
    T = ls_trace_get(&o->b->traces, &o->b->view, o->g, fr->addr, fr->check);
    if (T)
      sites_trace(o, T, fr->x > back ? fr->x - back : 0, i);
    else
      sites_lost(o, LS_TRACE | LS_UNSURE);
    return;
  }
  T = ls_trace_ofpc(&o->b->traces, &o->b->view, o->g, fr->addr - back);
  if (T) {
    sites_trace(o, T, (uint32_t)(fr->addr - back - T->mcode), i);
  } else if ((s = sites_new(o, LS_MARK, 0)) != NULL) {
    s->name = "(JIT)";
    s->addr = fr->addr;
  }
}

unsigned ls_lua_sites(LsLua *l, const struct ljs_vm *vm,
                      const struct ljs_stack *stack, unsigned i, LsSite *out,
                      unsigned max)
{
  const struct ljs_frame *fr = &stack->frame[i];
  Out o = {.l = l,
           .b = sites_build(l, vm),
           .g = stack->g,
           .stack = stack,
           .site = out,
           .max = max};
  if (!o.b) {
    sites_lost(&o, 0);
    return o.n;
  }
  o.b->naming.stack = stack;
  switch (fr->kind) {
  case LJS_FRAME_LUA:
    sites_lua(&o, i);
    break;
  case LJS_FRAME_BUILTIN:
    sites_cfunction(&o, fr->addr, fr->x, 0);
    break;
  default:
    sites_jit(&o, i);
    break;
  }
  return o.n;
}

/*
** Lua's part of a stack, named.
*/

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "luabuiltin.h"
#include "luacall.h"
#include "luapath.h"
#include "luasites.h"
#include "luatrace.h"

#define SITES_BUILDS  8    /* Builds of LuaJIT in one process. */
#define SITES_WALK_MS 2000 /* Between two walks through a VM's tables. */
#define SITES_VMS     64   /* VMs whose walks are remembered. */
#define SITES_PLACES                                                           \
  64 /* Of a trace, looked at for functions without names.                     \
      */

/* One build of LuaJIT. */
typedef struct Build {
  LsView view;
  LsNames names;
  LsGiven given;
  LsTraces traces;
  struct {
    uint64_t g;
    uint64_t when; /* Of its last walk, in milliseconds. */
  } walk[SITES_VMS];
  unsigned nwalk;
} Build;

struct LsLua {
  LsRemote mem;
  LsPool pool;
  LsFuncs funcs;
  uint64_t met;  /* Key of the stack whose functions were met last, or 0, */
  uint64_t held; /* and of the one whose closures were. */
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
    ls_names_free(&l->build[i]->names);
    ls_given_free(&l->build[i]->given);
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
  b->names.pool = &l->pool;
  b->given.pool = &l->pool;
  b->given.funcs = &l->funcs;
  b->traces.funcs = &l->funcs;
  return l->build[l->nbuild++] = b;
}

/* -- Names by tables ------------------------------------------------------ */

static uint64_t sites_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Walk through the VM's tables, if the last time is some seconds ago. Returns
** false if there was no walk.
*/
static bool sites_walk(Out *o)
{
  Build *b = o->b;
  uint64_t now = sites_now();
  unsigned i, k;
  for (i = 0; i < b->nwalk && b->walk[i].g != o->g; i++)
    ;
  if (!o->g || i == SITES_VMS ||
      (i < b->nwalk && now - b->walk[i].when < SITES_WALK_MS))
    return false;
  if (i == b->nwalk)
    b->walk[b->nwalk++].g = o->g;
  ls_remote_moment(&o->l->mem);
  ls_names_walk(&b->names, &b->view, o->g);
  for (k = 0; k < b->names.nlua; k++)
    ls_given_closure(&b->given, b->names.lua[k]);
  b->walk[i].when = sites_now();
  return true;
}

/* The name of a function by its key, after a walk if need be; or NULL. */
static const char *sites_find(Out *o, uint64_t key)
{
  const char *name = ls_names_find(&o->b->names, key);
  if (!name && sites_walk(o))
    name = ls_names_find(&o->b->names, key);
  return name;
}

/* -- Names by closures ---------------------------------------------------- */

/* Whether the closure that ran in a frame has been looked at. */
static bool sites_looked(Out *o, const struct ljs_frame *fr)
{
  const LsFunc *f = ls_func_known(&o->l->funcs, fr->addr, fr->check);
  const LsGivenName *e;
  if (fr->kind != LJS_FRAME_LUA || !f)
    return false;
  e = ls_given_entry(&o->b->given, ls_names_protokey(f->addr, f->check));
  return e && e->fn == fr->fn;
}

/* Look at the closures of a new stack: the functions that call one have it. */
static void sites_hold(Out *o)
{
  const struct ljs_stack *s = o->stack;
  uint32_t i, n = s->nframes < LJS_MAX_FRAMES ? s->nframes : LJS_MAX_FRAMES;
  if (s->key != 0 && s->key == o->l->held)
    return;
  o->l->held = s->key;
  ls_remote_moment(&o->l->mem);
  for (i = 0; i < n; i++)
    if (s->frame[i].kind != LJS_FRAME_BUILTIN && !sites_looked(o, &s->frame[i]))
      ls_given_closure(&o->b->given, s->frame[i].fn);
  ls_given_look(&o->b->given, &o->b->view);
}

/* The name of a function of Lua's: by its definition, else by the tables in
** which it is, else by closures. It keeps the first one that was told. Main
** chunks have none.
*/
static const char *sites_name(Out *o, LsFunc *f)
{
  if (f->given)
    return f->given;
  if (*f->name || f->known || f->first == 0)
    return f->name;
  f->given = sites_find(o, ls_names_protokey(f->addr, f->check));
  ls_given_tell(&o->b->given, f);
  return f->given ? f->given : "";
}

/* Whether a function has no name yet, so that its callers may tell it. */
static bool sites_nameless(Out *o, const LsFunc *f)
{
  uint64_t key = ls_names_protokey(f->addr, f->check);
  if (*f->name || f->known || f->given || f->first <= 0 || sites_find(o, key))
    return false;
  sites_hold(o);
  return !f->known;
}

/* Have a function named by a call of it. */
static void sites_call(Out *o, const LsFunc *f, uint64_t caller, uint32_t pos,
                       bool protect)
{
  LsCalled call = {.caller = caller,
                   .pos = pos,
                   .protect = protect,
                   .pt = f->addr,
                   .check = f->check};
  if (caller)
    ls_call_name(&o->b->given, &o->b->view, &call);
}

/* Whether a C function calls its first argument. */
static bool sites_protects(Out *o, uint32_t ffid)
{
  const char *name = ffid < 256 ? o->b->names.builtin[ffid] : NULL;
  return name && (strcmp(name, "pcall") == 0 || strcmp(name, "xpcall") == 0);
}

/* The same, if the frame I of the stack has called it. */
static void sites_callframe(Out *o, const LsFunc *f, uint32_t i)
{
  const struct ljs_stack *s = o->stack;
  uint32_t n = s->nframes < LJS_MAX_FRAMES ? s->nframes : LJS_MAX_FRAMES;
  bool protect = i < n && s->frame[i].kind == LJS_FRAME_BUILTIN &&
                 sites_protects(o, s->frame[i].x);
  if (protect)
    i++;
  if (i < n && s->frame[i].kind == LJS_FRAME_LUA &&
      !(s->frame[i].flags & LJS_FLAG_NOPC))
    sites_call(o, f, s->frame[i].fn, s->frame[i].x, protect);
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

/* A function that nothing is known of. */
static void sites_lost(Out *o, unsigned flags)
{
  LsSite *s = sites_new(o, LS_LUA, flags);
  if (s)
    s->name = "(lost)";
}

/* A line of a Lua function. */
static void sites_line(Out *o, LsFunc *f, uint32_t pos, unsigned flags)
{
  LsSite *s = sites_new(o, LS_LUA, flags);
  if (!s)
    return;
  s->chunk = f->chunk;
  s->chunklen = f->chunklen;
  s->name = sites_name(o, f);
  s->first = (uint64_t)(int64_t)f->first; /* As the recorder has it. */
  s->lines = f->first > 0 ? f->numline : 0;
  s->hash = f->hash;
  s->line = ls_func_line(f, pos);
}

/* A C function that Lua has called. */
static void sites_cfunction(Out *o, uint64_t addr, uint32_t ffid,
                            unsigned flags)
{
  LsSite *s = sites_new(o, LS_BUILTIN, flags);
  const char *name;
  if (!s)
    return;
  s->addr = addr;
  if (ffid > 1 && ffid < 256) {
    if (!o->b->names.builtin[ffid])
      sites_walk(o);
    if (o->b->names.builtin[ffid])
      s->name = o->b->names.builtin[ffid];
  } else if ((name = sites_find(o, addr)) != NULL) {
    s->name = name;
  }
}

/* Meet the Lua functions of a stack, from the outermost on: main chunks tell
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
  if (f && sites_nameless(o, f))
    sites_callframe(o, f, i + 1);
  if (!f)
    sites_lost(o, 0);
  else if (fr->flags & LJS_FLAG_NOPC)
    sites_line(o, f, 0, LS_APPROX);
  else
    sites_line(o, f, fr->x, 0);
}

/* -- Traces --------------------------------------------------------------- */

/* A function that a trace has inlined, or began in. */
static void sites_place(Out *o, const LsPlace *p)
{
  if (p->f)
    sites_line(o, p->f, p->pos, LS_TRACE);
  else if (p->cfn)
    sites_cfunction(o, p->cfn, p->ffid, LS_TRACE);
  else
    sites_lost(o, LS_TRACE | LS_UNSURE);
}

/* Have a function on a trace named by the call of it at *P, in any closure of
** the caller that is known.
*/
static void sites_callplace(Out *o, const LsFunc *f, const LsPlace *p)
{
  LsGivenName *e;
  if (!p->f)
    return;
  e = ls_given_entry(&o->b->given, ls_names_protokey(p->f->addr, p->f->check));
  if (e)
    sites_call(o, f, e->fn, p->pos, false);
}

/* Look at the closures that a trace has, if it may have functions in it that
** have no name: then their calls cannot be told from others.
*/
static void sites_tracehold(Out *o, const LsTrace *T)
{
  bool any = T->start.f && sites_nameless(o, T->start.f);
  uint32_t k;
  for (k = 0; k < T->nplace && k < SITES_PLACES && !any; k++)
    any = T->place[k].f && sites_nameless(o, T->place[k].f);
  for (k = 0; k < T->nhidden && !any; k++)
    any = sites_nameless(o, T->hidden[k]);
  if (!any)
    return;
  for (k = 0; k < T->nclosure; k++)
    ls_given_closure(&o->b->given, T->closure[k]);
  ls_given_look(&o->b->given, &o->b->view);
  for (k = 0; k < T->nhidden; k++)
    ls_given_tell(&o->b->given, T->hidden[k]);
}

/* Name the functions that compiled code is in by each other. The last one was
** called by frame I.
*/
static void sites_tracenames(Out *o, const LsHere *here, uint32_t i)
{
  const LsPlace *p = here->outer;
  const LsFunc *f = here->f;
  uint32_t k;
  if (f && sites_nameless(o, f)) {
    if (here->hidden)
      sites_callplace(o, f, &here->via);
    else if (here->nouter > 0)
      sites_callplace(o, f, p);
  }
  for (k = 0; k < here->nouter; k++) {
    f = p[k].f;
    if (f && sites_nameless(o, f) && k + 1 < here->nouter)
      sites_callplace(o, f, &p[k + 1]);
  }
  if (f && sites_nameless(o, f))
    sites_callframe(o, f, i + 1);
}

/* The functions that compiled code is in, of frame I. */
static void sites_trace(Out *o, const LsTrace *T, uint32_t ofs, uint32_t i)
{
  const unsigned guess = LS_TRACE | LS_APPROX | LS_UNSURE;
  LsHere here;
  uint32_t k;
  bool told;
  sites_tracehold(o, T);
  told = ls_path_at(T, ofs, &here);
  if (told && !here.f && !here.outer[-1].cfn && !here.nouter)
    told = false; /* Such are the first snapshots behind a stitch. */
  if (!told)      /* Only where it begins is known. */
    here = (LsHere){.f = T->start.f};
  sites_tracenames(o, &here, i);
  if (!told) {
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
    sites_place(o, here.outer - 1);
  if (here.hidden)
    sites_place(o, &here.via);
  for (k = 0; k < here.nouter; k++)
    sites_place(o, &here.outer[k]);
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

/*
** Names of the functions of a stack.
*/

#include <string.h>
#include <time.h>

#include "luacall.h"
#include "luanaming.h"

#define NAMING_FIRST_MS 1     /* Between the first walks through tables; */
#define NAMING_WALK_MS  2000  /* later, if they find new names; */
#define NAMING_VAIN_MS  64000 /* at most, if they do not. */
#define NAMING_SHARE    20    /* A wait is at least so many times a walk. */
#define NAMING_PLACES   64    /* Of a trace, looked at for missing names. */

void ls_naming_init(LsNaming *nm, LsView *view, LsFuncs *funcs)
{
  nm->view = view;
  nm->names.pool = funcs->pool;
  nm->proven.pool = funcs->pool;
  nm->proven.funcs = funcs;
}

void ls_naming_free(LsNaming *nm)
{
  ls_names_free(&nm->names);
  ls_proven_free(&nm->proven);
}

/* -- Names by tables ------------------------------------------------------ */

static uint64_t naming_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Walk through the VM's tables, if the last time is long enough ago. The first
** walk may come upon a program that still loads its libraries, so the next ones
** follow as soon as such a walk is short enough: a stack that has come without
** a name keeps none. The wait doubles, beyond NAMING_WALK_MS only as long as
** nothing new is found: functions without a name must not cost more and more.
** Returns false if there was no walk.
*/
static bool naming_walk(LsNaming *nm)
{
  uint64_t now = naming_now(), soon, most;
  size_t before = nm->names.map.n;
  unsigned i, k;
  for (i = 0; i < nm->nwalk && nm->walk[i].g != nm->stack->g; i++)
    ;
  if (!nm->stack->g || i == LS_NAMING_VMS ||
      (i < nm->nwalk && now - nm->walk[i].when < nm->walk[i].wait))
    return false;
  if (i == nm->nwalk)
    nm->walk[nm->nwalk++].g = nm->stack->g;
  ls_remote_moment(nm->view->mem);
  ls_names_walk(&nm->names, nm->view, nm->stack->g);
  for (k = 0; k < nm->names.nlua; k++)
    ls_proven_closure(&nm->proven, nm->names.lua[k]);
  nm->walk[i].when = naming_now();
  soon = NAMING_SHARE * (nm->walk[i].when - now) + NAMING_FIRST_MS;
  nm->walk[i].wait *= 2;
  if (nm->walk[i].wait < soon)
    nm->walk[i].wait = soon;
  most = nm->names.map.n > before ? NAMING_WALK_MS : NAMING_VAIN_MS;
  if (nm->walk[i].wait > most)
    nm->walk[i].wait = most;
  return true;
}

/* The name of a function by its key, after a walk if need be; or NULL. */
static const char *naming_find(LsNaming *nm, uint64_t key)
{
  const char *name = ls_names_find(&nm->names, key);
  if (!name && naming_walk(nm))
    name = ls_names_find(&nm->names, key);
  return name;
}

const char *ls_naming_c(LsNaming *nm, uint64_t addr, uint32_t ffid)
{
  const char *name;
  if (ffid > 1 && ffid < 256) {
    if (!ls_names_builtin(&nm->names, ffid))
      naming_walk(nm);
    name = ls_names_builtin(&nm->names, ffid);
  } else {
    name = naming_find(nm, addr);
  }
  return name ? name : "";
}

/* -- Names by closures ---------------------------------------------------- */

/* Whether the closure that ran in a frame has been looked at. */
static bool naming_looked(LsNaming *nm, const struct ljs_frame *fr)
{
  const LsFunc *f = ls_func_known(nm->proven.funcs, fr->addr, fr->check);
  const LsProvenName *e;
  if (fr->kind != LJS_FRAME_LUA || !f)
    return false;
  e = ls_proven_entry(&nm->proven, ls_names_protokey(f->addr, f->check));
  return e && e->fn == fr->fn;
}

/* Look at the closures of a new stack: the functions that call one have it. */
static void naming_hold(LsNaming *nm)
{
  const struct ljs_stack *s = nm->stack;
  uint32_t i, n = s->nframes < LJS_MAX_FRAMES ? s->nframes : LJS_MAX_FRAMES;
  if (s->key != 0 && s->key == nm->held)
    return;
  nm->held = s->key;
  ls_remote_moment(nm->view->mem);
  for (i = 0; i < n; i++)
    if (s->frame[i].kind != LJS_FRAME_BUILTIN &&
        !naming_looked(nm, &s->frame[i]))
      ls_proven_closure(&nm->proven, s->frame[i].fn);
  ls_proven_look(&nm->proven, nm->view);
}

const char *ls_naming_lua(LsNaming *nm, LsFunc *f)
{
  if (f->found)
    return f->found;
  if (*f->name || f->known || f->first == 0)
    return f->name;
  f->found = naming_find(nm, ls_names_protokey(f->addr, f->check));
  ls_proven_finalize(&nm->proven, f);
  return f->found ? f->found : "";
}

/* Whether a function has no name yet, so that calls of it may give one. */
static bool naming_nameless(LsNaming *nm, const LsFunc *f)
{
  uint64_t key = ls_names_protokey(f->addr, f->check);
  if (*f->name || f->known || f->found || f->first <= 0 || naming_find(nm, key))
    return false;
  naming_hold(nm);
  return !f->known;
}

/* Have a function named by a call of it. */
static void naming_call(LsNaming *nm, const LsFunc *f, uint64_t caller,
                        uint32_t pos, bool protect)
{
  LsCalled call = {.caller = caller,
                   .pos = pos,
                   .protect = protect,
                   .pt = f->addr,
                   .check = f->check};
  if (caller)
    ls_call_name(&nm->proven, nm->view, &call);
}

/* Whether a C function calls its first argument. */
static bool naming_protects(LsNaming *nm, uint32_t ffid)
{
  const char *name = ffid < 256 ? ls_names_builtin(&nm->names, ffid) : NULL;
  return name && (strcmp(name, "pcall") == 0 || strcmp(name, "xpcall") == 0);
}

/* The same, if the frame I of the stack has called it. */
static void naming_callframe(LsNaming *nm, const LsFunc *f, uint32_t i)
{
  const struct ljs_stack *s = nm->stack;
  uint32_t n = s->nframes < LJS_MAX_FRAMES ? s->nframes : LJS_MAX_FRAMES;
  bool protect = i < n && s->frame[i].kind == LJS_FRAME_BUILTIN &&
                 naming_protects(nm, s->frame[i].x);
  if (protect)
    i++;
  if (i < n && s->frame[i].kind == LJS_FRAME_LUA &&
      !(s->frame[i].flags & LJS_FLAG_NOPC))
    naming_call(nm, f, s->frame[i].fn, s->frame[i].x, protect);
}

void ls_naming_frame(LsNaming *nm, const LsFunc *f, uint32_t i)
{
  if (naming_nameless(nm, f))
    naming_callframe(nm, f, i + 1);
}

/* -- Traces --------------------------------------------------------------- */

/* Have a function on a trace named by the call of it at *P, in any closure of
** the caller that is known.
*/
static void naming_callplace(LsNaming *nm, const LsFunc *f, const LsPlace *p)
{
  LsProvenName *e;
  if (!p->f)
    return;
  e = ls_proven_entry(&nm->proven, ls_names_protokey(p->f->addr, p->f->check));
  if (e)
    naming_call(nm, f, e->fn, p->pos, false);
}

void ls_naming_hold(LsNaming *nm, const LsTrace *T)
{
  bool any = T->start.f && naming_nameless(nm, T->start.f);
  uint32_t k;
  for (k = 0; k < T->nplace && k < NAMING_PLACES && !any; k++)
    any = T->place[k].f && naming_nameless(nm, T->place[k].f);
  for (k = 0; k < T->ncallee && !any; k++)
    any = naming_nameless(nm, T->callee[k]);
  if (!any)
    return;
  for (k = 0; k < T->nclosure; k++)
    ls_proven_closure(&nm->proven, T->closure[k]);
  ls_proven_look(&nm->proven, nm->view);
  for (k = 0; k < T->ncallee; k++)
    ls_proven_finalize(&nm->proven, T->callee[k]);
}

void ls_naming_trace(LsNaming *nm, const LsTraceLine *here, uint32_t i)
{
  const LsPlace *p = here->outer;
  const LsFunc *f = here->f;
  uint32_t k;
  if (f && naming_nameless(nm, f)) {
    if (here->nvia > 0)
      naming_callplace(nm, f, &here->via[0]);
    else if (here->nouter > 0)
      naming_callplace(nm, f, p);
  }
  for (k = 0; k < here->nouter; k++) {
    f = p[k].f;
    if (f && naming_nameless(nm, f) && k + 1 < here->nouter)
      naming_callplace(nm, f, &p[k + 1]);
  }
  if (f)
    ls_naming_frame(nm, f, i);
}

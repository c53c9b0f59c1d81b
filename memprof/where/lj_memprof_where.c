/*
** Who is allocating: the function and line behind a call of the allocator.
**
** The VM shows it by three things: its state (garbage collector, interpreter,
** number of a trace), the frame below L->base of the running coroutine, and
** the PC that every allocating instruction stores in the C frame. None of
** them is trusted: slots are type checked and links bounds checked, because
** some VM functions allocate while they overwrite their own frame.
*/

#define lj_memprof_where_c
#define LUA_CORE

#include "lj_memprof.h"

#ifndef LUAJIT_DISABLE_MEMPROF

#include <string.h>

#include "lj_debug.h"
#include "lj_memprof_cache.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_lines.h"
#include "lj_memprof_snap.h"
#include "lj_memprof_state.h"
#include "lj_memprof_where.h"
#include "lj_state.h"
#include "lj_symtab.h"

/* What was found, before it has the number of a site. */
typedef struct MPPlace {
  GCproto *pt;      /* The Lua function, or NULL. */
  GCfunc *cfn;      /* Else the C function. */
  ptrdiff_t pos;    /* Position in the bytecode of pt, or -1. */
  uint32_t flags;   /* LJM_SITE_*. */
  uint32_t inlined; /* Callers that a trace has inlined, or 0. */
} MPPlace;

/* -- Cache of places ------------------------------------------------------ */

/* Turns a place into a site and remembers it. */
static LJ_NOINLINE uint32_t where_define(MPState *mp, const MPPlace *place,
                                         const void *key, const void *owner)
{
  MPCache *c = mpwhere_cache(mp, key);
  MPFunc *func;
  BCLine line = 0;
  uint32_t flags = place->flags, site;
  if (place->pt) {
    func = lj_symtab_proto(mp, place->pt);
    line = lj_symtab_line(place->pt, place->pos);
    if (place->pos < 0)
      flags |= LJM_SITE_APPROX;
  } else {
    func = lj_symtab_cfunc(mp, place->cfn);
  }
  site = func ? lj_symtab_site(mp, func, line, flags) : LJM_SITE_UNKNOWN;
  /* A PC in the cache is a position in what owns it. */
  if (site != LJM_SITE_UNKNOWN && (place->pt == NULL || place->pos >= 0)) {
    c->key = key;
    c->owner = owner;
    c->site = site;
    c->inlined = place->inlined;
  }
  return site;
}

/* Forgets what the cache holds of an owner that goes away. */
static void where_purge(MPState *mp, const void *owner)
{
  MPCache *c;
  for (c = mp->cache; c < mp->cache + MP_CACHESIZE; c++)
    if (c->owner == owner)
      c->key = c->owner = NULL;
}

#if LJ_HASJIT
int lj_memprof_istrace(const void *p, size_t size)
{
  const GCtrace *T = (const GCtrace *)p;
  return size > sizeof(GCtrace) && T->gct == ~LJ_TTRACE &&
         size == ((sizeof(GCtrace) + 7) & ~(size_t)7) +
                     (size_t)(T->nins - T->nk) * sizeof(IRIns) +
                     (size_t)T->nsnap * sizeof(SnapShot) +
                     (size_t)T->nsnapmap * sizeof(SnapEntry);
}
#endif

void lj_memprof_forget(MPState *mp, const void *p, size_t size)
{
  const GChead *o = (const GChead *)p;
  if (size <= sizeof(GChead))
    return;
  if (o->gct == ~LJ_TPROTO && size > sizeof(GCproto) &&
      ((const GCproto *)p)->sizept == size) {
    where_purge(mp, mpwhere_owner((const GCproto *)p));
    lj_symtab_drop(mp, p);
    mpsame_gone(mp);
  }
#if LJ_HASJIT
  else if (lj_memprof_istrace(p, size)) {
    /* Links may lead behind its copy of its first instruction: where_pos(). */
    const BCIns *pc = &((const GCtrace *)p)->startins + 1;
    MPCache *c = mpwhere_cache(mp, pc);
    if (c->key == (const void *)pc)
      c->key = c->owner = NULL;
    where_purge(mp, p);
    lj_symtab_drop(mp, p);
    mpsame_gone(mp);
    lj_memprof_linesforget(mp, (const GCtrace *)p);
  }
#endif
}

/* -- Interpreter ---------------------------------------------------------- */

/* True if a frame was entered through a C frame of its own. */
static int where_hascframe(cTValue *frame)
{
  return frame_isc(frame) || (frame_iscont(frame) && frame_iscont_fficb(frame));
}

/* True if a thread is in compiled code. */
static int where_isentered(const lua_State *L)
{
  return tvref(G(L)->jit_base) != NULL && gcref(G(L)->cur_L) == obj2gco(L);
}

GCtrace *lj_memprof_entered(const lua_State *L)
{
#if LJ_HASJIT
  const MCode *ret;
  if (where_isentered(L))
    return mpret_trace(NULL, G(L), &ret);
#else
  UNUSED(L);
#endif
  return NULL;
}

cTValue *lj_memprof_topframe(const lua_State *L)
{
  return (where_isentered(L) ? tvref(G(L)->jit_base) : L->base) - 1;
}

/* The PC where the Lua function below a frame entered from C has stopped. */
static const BCIns *where_cframepc(lua_State *L, cTValue *next)
{
  void *cf = cframe_raw(L->cframe);
  cTValue *f = lj_memprof_topframe(L), *bot = mpframe_bottom(L);
  while (cf != NULL) {
    int32_t nres = cframe_nres(cf);
    if (nres < 0 && f < restorestack(L, -nres)) {
      cf = cframe_raw(cframe_prev(cf)); /* A protected call, passed by. */
    } else if (f == NULL || f < next) {
      return cframe_pc(cf);
    } else {
      if (where_hascframe(f))
        cf = cframe_raw(cframe_prev(cf));
      f = mpframe_prev(f, bot);
      if (f == NULL)
        break;
    }
  }
  return NULL;
}

/* The PC of a Lua function that called what lies in the next frame. */
static const BCIns *where_callpc(lua_State *L, cTValue *next)
{
  if (frame_islua(next))
    return frame_pc(next);
  if (mpframe_hascontpc(next))
    return frame_contpc(next);
  return where_cframepc(L, next);
}

/* The position of a PC in a proto, or -1. The PC is one instruction ahead. */
static ptrdiff_t where_pos(global_State *g, GCproto *pt, const BCIns *pc)
{
  uintptr_t ofs = (uintptr_t)(pc - 1) - (uintptr_t)proto_bc(pt);
  if (ofs < pt->sizebc * sizeof(BCIns))
    return (ptrdiff_t)(ofs / sizeof(BCIns));
#if LJ_HASJIT
  {
    /* A trace that began with a return left a pointer to its copy of it. */
    jit_State *J = G2J(g);
    TraceNo no = pt->trace;
    while (no != 0 && no < J->sizetrace && gcref(J->trace[no]) != NULL) {
      GCtrace *T = gco2trace(gcref(J->trace[no]));
      if (pc - 1 == &T->startins)
        return mref(T->startpc, const BCIns) - proto_bc(pt);
      no = T->nextroot;
    }
  }
#else
  UNUSED(g);
#endif
  return -1;
}

/* The PC of the function on top, or NULL. */
static const BCIns *where_stoppedpc(lua_State *L)
{
#if LJ_HASJIT
  global_State *g = G(L);
  if (where_isentered(L)) {
    const MCode *ret;
    GCtrace *T = mpret_trace(NULL, g, &ret);
    SnapShot *snap =
        T != NULL && ret != NULL ? lj_memprof_snapshot(T, ret) : NULL;
    return snap != NULL ? lj_memprof_basepc(T, snap) : NULL;
  }
#endif
  return mpwhere_toppc(L);
}

ptrdiff_t lj_memprof_stopped(lua_State *L, GCproto *pt, cTValue *next)
{
  const BCIns *pc = next != NULL ? where_callpc(L, next) : where_stoppedpc(L);
  return pc != NULL ? where_pos(G(L), pt, pc) : -1;
}

/* The site of a Lua function that has stopped at a PC. */
static LJ_AINLINE uint32_t where_lua(MPState *mp, GCproto *pt, const BCIns *pc)
{
  MPPlace place;
  MPCache *c = mpwhere_cache(mp, pc);
  if (LJ_LIKELY(c->key == (const void *)pc && c->owner == mpwhere_owner(pt)))
    return c->site;
  place.pt = pt;
  place.cfn = NULL;
  place.pos = where_pos(mp->g, pt, pc);
  place.flags = place.inlined = 0;
  return where_define(mp, &place, pc, mpwhere_owner(pt));
}

/* The site of a C function. */
static LJ_AINLINE uint32_t where_c(MPState *mp, GCfunc *fn)
{
  MPPlace place;
  const void *key = lj_symtab_ckey(fn);
  MPCache *c = mpwhere_cache(mp, key);
  if (LJ_LIKELY(c->key == key && c->owner == NULL))
    return c->site;
  place.pt = NULL;
  place.cfn = fn;
  place.pos = -1;
  place.flags = place.inlined = 0;
  return where_define(mp, &place, key, NULL);
}

/*
** The frame that called a builtin whose frame link is gone. Without FR2,
** coroutine.resume() of a dead coroutine stores its result over the link and
** then allocates the message; the C frame still has a copy of the link.
*/
static cTValue *where_lostlink(lua_State *L, cTValue *frame, cTValue *bot,
                               const BCIns **pcp)
{
#if LJ_FR2
  UNUSED(L);
  UNUSED(frame);
  UNUSED(bot);
  UNUSED(pcp);
#else
  if (itype(frame) == LJ_TFALSE) {
    const BCIns *pc = mpwhere_toppc(L);
    ptrdiff_t size = (ptrdiff_t)pc;
    if (pc == NULL || (const void *)pc == (const void *)L)
      return NULL;
    if ((size & FRAME_TYPE) == FRAME_LUA) { /* Called by an instruction. */
      *pcp = pc;
      size = (ptrdiff_t)(1 + bc_a(pc[-1])) * (ptrdiff_t)sizeof(TValue);
    }
    size &= ~(ptrdiff_t)FRAME_TYPEP;
    if (size > 0 && size < (char *)frame - (char *)bot)
      return (cTValue *)((char *)frame - size);
  }
#endif
  return NULL;
}

/*
** A builtin is on top: the site of the first function below it that is not a
** builtin, because "string.rep" says less than the line that called it.
*/
static uint32_t where_builtin(MPState *mp, lua_State *L, GCfunc *top)
{
  cTValue *bot = mpframe_bottom(L);
  cTValue *next = L->base - 1;
  const BCIns *pc = NULL;
  cTValue *frame = mpframe_prev(next, bot);
  if (frame == NULL)
    frame = where_lostlink(L, next, bot, &pc);
  while (frame != NULL && frame > bot) {
    GCfunc *fn = mpframe_func(frame);
    if (fn == NULL)
      break;
    mp->top.frame = frame;
    if (isluafunc(fn))
      return where_lua(mp, funcproto(fn), pc ? pc : where_callpc(L, next));
    if (iscfunc(fn))
      return where_c(mp, fn);
    next = frame;
    pc = NULL;
    frame = mpframe_prev(frame, bot);
  }
  mp->top.frame = L->base - 1;
  return top ? where_c(mp, top) : LJM_SITE_UNKNOWN;
}

/* The site when no Lua function is on top. */
static LJ_NOINLINE uint32_t where_notlua(MPState *mp, lua_State *L, GCfunc *fn)
{
  /* Nothing runs: the host itself is at work, outside of any call. */
  if (L->cframe == NULL || L->base - 1 <= mpframe_bottom(L))
    return LJM_SITE_UNKNOWN;
  if (fn != NULL && iscfunc(fn))
    return where_c(mp, fn);
  return where_builtin(mp, L, fn);
}

/* The site of an allocation by the interpreter, or by a C function. */
static LJ_AINLINE uint32_t where_interp(MPState *mp, global_State *g)
{
  GCobj *o = gcref(g->cur_L);
  lua_State *L;
  GCfunc *fn;
  const BCIns *pc;
  if (LJ_UNLIKELY(o == NULL))
    return LJM_SITE_UNKNOWN;
  L = &o->th;
  mp->top.L = L;
  mp->top.frame = L->base - 1;
  mp->top.inlined = 0;
  fn = mpframe_func(L->base - 1);
  if (LJ_UNLIKELY(fn == NULL || !isluafunc(fn)))
    return where_notlua(mp, L, fn);
  pc = mpwhere_toppc(L);
  /* Without a PC it is a coroutine that has yielded to the host. */
  return LJ_LIKELY(pc != NULL) ? where_lua(mp, funcproto(fn), pc)
                               : LJM_SITE_UNKNOWN;
}

/*
** The site of the function in a frame, where it called what lies in the next
** frame. *soft is set if the frames do not show it: then the answer may be
** another one while they stay the same. INTERNAL if there is no function.
*/
uint32_t lj_memprof_caller(MPState *mp, lua_State *L, cTValue *frame,
                           cTValue *next, int *soft)
{
  GCfunc *fn = mpframe_func(frame);
  const BCIns *pc;
  if (fn == NULL || (next != NULL && frame_isvarg(next)))
    return LJM_SITE_INTERNAL; /* A dummy, or a function's lower half. */
  if (!isluafunc(fn))
    return where_c(mp, fn);
  if (next == NULL || !(frame_islua(next) || mpframe_hascontpc(next)))
    *soft = 1;
  pc = next != NULL ? where_callpc(L, next) : mpwhere_toppc(L);
  return pc != NULL ? where_lua(mp, funcproto(fn), pc) : LJM_SITE_UNKNOWN;
}

/* -- Traces --------------------------------------------------------------- */

#if LJ_HASJIT

/* Finds the line of a return address by the trace's own snapshots. */
static LJ_NOINLINE uint32_t where_traceline(MPState *mp, GCtrace *T,
                                            const MCode *ret)
{
  SnapShot *snap = lj_memprof_snapshot(T, ret);
  if (snap != NULL) {
    const BCIns *pc = snap_pc(&T->snapmap[snap->mapofs + snap->nent]);
    MPPlace place;
    place.cfn = NULL;
    place.pt = lj_memprof_traceproto(mp, T, pc);
    if (place.pt != NULL) {
      place.pos = pc - proto_bc(place.pt);
      place.flags = LJM_SITE_TRACE;
      if (!lj_memprof_isexact(mp, T->traceno))
        place.flags |= LJM_SITE_APPROX;
      place.inlined = mp->depth > 1 ? lj_memprof_inlined(mp, T, snap) : 0;
      mp->top.inlined = place.inlined;
      return where_define(mp, &place, ret, T);
    }
  }
  return lj_symtab_tracesite(mp, T);
}

/* The site of an allocation on a trace. */
static LJ_AINLINE uint32_t where_trace(MPState *mp, global_State *g)
{
  const MCode *ret;
  GCtrace *T = mpret_trace(mp, g, &ret);
  if (LJ_UNLIKELY(T == NULL))
    return LJM_SITE_UNKNOWN;
  mp->top.L = &gcref(g->cur_L)->th;
  mp->top.frame = tvref(g->jit_base) - 1;
  mp->top.inlined = 0;
  /* Tarantool's format knows a trace only by its start. */
  if (LJ_LIKELY(ret != NULL && mp->format != LUAM_PROF_TARANTOOL)) {
    MPCache *c = mpwhere_cache(mp, ret);
    if (LJ_LIKELY(c->key == (const void *)ret && c->owner == (const void *)T)) {
      mp->top.inlined = c->inlined;
      return c->site;
    }
    return where_traceline(mp, T, ret);
  }
  return lj_symtab_tracesite(mp, T);
}

#endif

/* -- Entry ---------------------------------------------------------------- */

#if LJ_HASJIT
/*
** True if the compiler itself is at work. Its state stays behind while the
** interpreter runs the instructions that are being recorded, and after the
** end of that; but only the compiler has a protected C call on top.
*/
static int where_compiling(global_State *g)
{
  GCobj *o = gcref(g->cur_L);
  void *cf = o != NULL ? cframe_raw(o->th.cframe) : NULL;
  return cf == NULL || cframe_nres(cf) < 0;
}
#endif

uint32_t lj_memprof_where(MPState *mp)
{
  global_State *g = mp->g;
  int32_t st = g->vmstate;
#if LJ_HASJIT
  if (mpret_ontrace(g))
    return where_trace(mp, g);
#endif
  /* A state of 0 is a VM that has not run anything yet. */
  if (st == 0 || st == ~LJ_VMST_INTERP || st == ~LJ_VMST_C)
    return where_interp(mp, g);
#if LJ_HASJIT
  if (st != ~LJ_VMST_GC && st != ~LJ_VMST_EXIT && !where_compiling(g))
    return where_interp(mp, g);
#endif
  return LJM_SITE_INTERNAL;
}

#endif

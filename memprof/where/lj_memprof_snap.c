/*
** What a trace itself says about its code: the snapshot that lies before a
** return address, and the prototype that an instruction belongs to.
*/

#define lj_memprof_snap_c
#define LUA_CORE

#include "lj_memprof.h"

#if LJ_HASJIT && !defined(LUAJIT_DISABLE_MEMPROF)

#include "lj_dispatch.h"
#include "lj_frame.h"
#include "lj_memprof_frame.h"
#include "lj_memprof_snap.h"
#include "lj_memprof_state.h"

/* True if an instruction is part of a proto. */
static int snap_isin(const GCproto *pt, const BCIns *pc)
{
  return (uintptr_t)pc - (uintptr_t)proto_bc(pt) < pt->sizebc * sizeof(BCIns);
}

/* Looks for the proto of an instruction among the constants of a trace. */
static GCproto *snap_kproto(GCtrace *T, const BCIns *pc)
{
  IRRef ref;
  for (ref = T->nk; ref < REF_TRUE; ref++) {
    IRIns *ir = &T->ir[ref];
    if (ir->o == IR_KGC) {
      GCobj *o = ir_kgc(ir);
      GCproto *pt = NULL;
      if (o->gch.gct == ~LJ_TFUNC && isluafunc(&o->fn))
        pt = funcproto(&o->fn);
      else if (o->gch.gct == ~LJ_TPROTO)
        pt = gco2pt(o);
      if (pt != NULL && snap_isin(pt, pc))
        return pt;
    }
    /* Most constants of 64 bits take two slots: see the collector's walk. */
    if (irt_is64(ir->t) && ir->o != IR_KNULL)
      ref++;
  }
  return NULL;
}

GCproto *lj_memprof_traceproto(MPState *mp, GCtrace *T, const BCIns *pc)
{
  global_State *g = mp->g;
  GCproto *pt = gco2pt(gcref(T->startpt));
  cTValue *base = tvref(g->jit_base);
  lua_State *L = &gcref(g->cur_L)->th;
  if (snap_isin(pt, pc))
    return pt;
  pt = snap_kproto(T, pc);
  if (pt != NULL)
    return pt;
  if (T->root != 0 && T->root < G2J(g)->sizetrace &&
      gcref(G2J(g)->trace[T->root]) != NULL) {
    GCtrace *R = gco2trace(gcref(G2J(g)->trace[T->root]));
    pt = gco2pt(gcref(R->startpt));
    if (snap_isin(pt, pc))
      return pt;
    pt = snap_kproto(R, pc);
    if (pt != NULL)
      return pt;
  }
  /* Last, the function whose frame the trace was entered with. */
  if (base > tvref(L->stack) + 1 + LJ_FR2 && base < tvref(L->maxstack)) {
    GCfunc *fn = mpframe_func(base - 1);
    if (fn != NULL && isluafunc(fn) && snap_isin(funcproto(fn), pc))
      return funcproto(fn);
  }
  return NULL;
}

SnapShot *lj_memprof_snapshot(GCtrace *T, const MCode *ret)
{
  size_t ofs = (size_t)(ret - T->mcode) - 1;
  MSize lo = 0, hi = T->nsnap;
  while (lo < hi) {
    MSize mid = (lo + hi) / 2;
    if (T->snap[mid].mcofs <= ofs)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo > 0 ? &T->snap[lo - 1] : NULL;
}

#endif

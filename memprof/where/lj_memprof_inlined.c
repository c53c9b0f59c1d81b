/*
** The functions that a trace has inlined: they have no frames in memory while
** it runs, but its snapshots have what makes them.
*/

#define lj_memprof_inlined_c
#define LUA_CORE

#include "lj_memprof.h"

#if LJ_HASJIT && !defined(LUAJIT_DISABLE_MEMPROF)

#include <stdlib.h>

#include "lj_frame.h"
#include "lj_memprof_inlined.h"
#include "lj_memprof_map.h"
#include "lj_memprof_snap.h"
#include "lj_memprof_state.h"
#include "lj_symtab.h"

/* No trace inlines as many: slots are numbered by a byte. */
#define INLINED_MAX 128

/* -- Lists ---------------------------------------------------------------- */

/* The list that is another one and a site. Returns 0 without memory. */
static uint32_t inlined_add(MPState *mp, uint32_t parent, uint32_t site)
{
  uint64_t key = ((uint64_t)parent << 32) | site;
  uint32_t n = (uint32_t)lj_memprof_mapget(&mp->inlined.map, key);
  if (n != 0)
    return n;
  n = mp->inlined.n ? mp->inlined.n : 1;
  if (n >= mp->inlined.size) {
    uint32_t size = mp->inlined.size ? 2 * mp->inlined.size : 64;
    MPInlined *p = (MPInlined *)realloc(mp->inlined.list, size * sizeof(*p));
    if (p == NULL)
      return 0;
    mp->inlined.list = p;
    mp->inlined.size = size;
  }
  if (!lj_memprof_mapput(&mp->inlined.map, key, n))
    return 0;
  mp->inlined.list[n].parent = parent;
  mp->inlined.list[n].site = site;
  mp->inlined.list[n].depth = parent ? mp->inlined.list[parent].depth + 1 : 1;
  mp->inlined.n = n + 1;
  return n;
}

void lj_memprof_freeinlined(MPState *mp)
{
  free(mp->inlined.list);
  lj_memprof_mapfree(&mp->inlined.map);
}

/* -- Snapshots ------------------------------------------------------------ */

/* The constant that a snapshot has in a slot, or NULL. */
static IRIns *inlined_constant(GCtrace *T, const SnapShot *snap, BCReg slot)
{
  const SnapEntry *map = &T->snapmap[snap->mapofs];
  MSize n;
  for (n = 0; n < snap->nent; n++)
    if (snap_slot(map[n]) == slot) {
      IRRef ref = snap_ref(map[n]);
      return ref < REF_BIAS && ref >= T->nk ? &T->ir[ref] : NULL;
    }
  return NULL;
}

/* The site of an inlined Lua function that has stopped before a PC. */
static uint32_t inlined_luasite(MPState *mp, GCtrace *T, const BCIns *pc)
{
  GCproto *pt = pc != NULL ? lj_memprof_traceproto(mp, T, pc - 1) : NULL;
  MPFunc *func = pt != NULL ? lj_symtab_proto(mp, pt) : NULL;
  BCLine line;
  if (func == NULL)
    return LJM_SITE_UNKNOWN;
  line = lj_symtab_line(pt, pc - 1 - proto_bc(pt));
  return lj_symtab_site(mp, func, line, LJM_SITE_TRACE);
}

/* The site of an inlined builtin, by the slot of its function. */
static uint32_t inlined_csite(MPState *mp, GCtrace *T, const SnapShot *snap,
                              BCReg slot)
{
  IRIns *ir = inlined_constant(T, snap, slot);
  MPFunc *func = NULL;
  if (ir != NULL && ir->o == IR_KGC) {
    GCobj *o = ir_kgc(ir);
    if (o->gch.gct == ~LJ_TFUNC && !isluafunc(&o->fn))
      func = lj_symtab_cfunc(mp, &o->fn);
  }
  return func ? lj_symtab_site(mp, func, 0, 0) : LJM_SITE_UNKNOWN;
}

/* -- Frames --------------------------------------------------------------- */

/* Walks down the frames above a trace's base, without touching memory. */
typedef struct MPWalk {
  GCtrace *T;
  SnapShot *snap;
  BCReg slot;          /* Slot of the function in the current frame. */
  ptrdiff_t link;      /* Link of the current frame. */
  const BCIns *contpc; /* Of a continuation frame. */
#if !LJ_FR2
  const SnapEntry *flink; /* Next frame link, and the end of them. */
  const SnapEntry *flend;
#endif
} MPWalk;

#if LJ_FR2

static void inlined_begin(MPWalk *w)
{
  const SnapEntry *map = &w->T->snapmap[w->snap->mapofs];
  w->slot = map[w->snap->nent + LJ_BE] & 0xff;
}

/* Reads the current frame's link. Returns 0 if the snapshot has none. */
static int inlined_link(MPWalk *w)
{
  IRIns *ir = inlined_constant(w->T, w->snap, w->slot + 1);
  if (ir == NULL || ir->o != IR_KNUM)
    return 0;
  w->link = (ptrdiff_t)ir_knum(ir)->u64;
  if ((w->link & FRAME_TYPEP) == FRAME_CONT) {
    ir = w->slot > 1 ? inlined_constant(w->T, w->snap, w->slot - 1) : NULL;
    if (ir == NULL || ir->o != IR_KNUM)
      return 0;
    w->contpc = (const BCIns *)(uintptr_t)ir_knum(ir)->u64;
  }
  return 1;
}

#else

static void inlined_begin(MPWalk *w)
{
  const SnapEntry *map = &w->T->snapmap[w->snap->mapofs];
  MSize n;
  w->slot = 0;
  for (n = 0; n < w->snap->nent; n++)
    if ((map[n] & SNAP_FRAME) && snap_slot(map[n]) > w->slot)
      w->slot = snap_slot(map[n]);
  w->flink = &map[w->snap->nent + 1];
  w->flend = &w->T->snapmap[snap_nextofs(w->T, w->snap)];
}

static int inlined_link(MPWalk *w)
{
  if (w->flink >= w->flend)
    return 0;
  w->link = (ptrdiff_t)*w->flink++;
  if ((w->link & FRAME_TYPEP) == FRAME_CONT) {
    if (w->flink >= w->flend)
      return 0;
    w->contpc = snap_pc((SnapEntry *)w->flink++);
  }
  return 1;
}

#endif

/*
** Goes to the frame below. *pc is where its function called the current one, or
** NULL: it is a builtin. Returns 0 if the link leads nowhere.
*/
static int inlined_down(MPWalk *w, const BCIns **pc)
{
  ptrdiff_t size =
      (w->link & ~(ptrdiff_t)FRAME_TYPEP) / (ptrdiff_t)sizeof(TValue);
  *pc = NULL;
  if ((w->link & FRAME_TYPE) == FRAME_LUA) {
    *pc = (const BCIns *)w->link;
    size = 1 + LJ_FR2 + bc_a((*pc)[-1]);
  } else if ((w->link & FRAME_TYPEP) == FRAME_CONT) {
    *pc = w->contpc;
  }
  if (size <= 0 || size > (ptrdiff_t)w->slot)
    return 0;
  w->slot -= (BCReg)size;
  return 1;
}

/*
** Goes to the frame below. Returns the site where its function called the
** current one; INTERNAL if that is the same function's upper half.
*/
static uint32_t inlined_site(MPState *mp, MPWalk *w)
{
  const BCIns *pc;
  if (!inlined_down(w, &pc)) {
    w->slot = 0;
    return LJM_SITE_UNKNOWN;
  }
  if ((w->link & FRAME_TYPEP) == FRAME_VARG)
    return LJM_SITE_INTERNAL;
  if (pc == NULL)
    return inlined_csite(mp, w->T, w->snap, w->slot);
  return inlined_luasite(mp, w->T, pc);
}

const BCIns *lj_memprof_basepc(GCtrace *T, SnapShot *snap)
{
  const BCIns *pc = snap_pc(&T->snapmap[snap->mapofs + snap->nent]) + 1;
  MPWalk w;
  w.T = T;
  w.snap = snap;
  inlined_begin(&w);
  while (w.slot > 0)
    if (!inlined_link(&w) || !inlined_down(&w, &pc))
      return NULL;
  return pc;
}

/*
** The list of functions that a trace has inlined where a snapshot was taken:
** those above its base frame, and the one that it began with. Returns 0 if
** there are none, or without memory.
*/
uint32_t lj_memprof_inlined(MPState *mp, GCtrace *T, SnapShot *snap)
{
  uint32_t sites[INLINED_MAX], n = 0, list = 0;
  MPWalk w;
  w.T = T;
  w.snap = snap;
  inlined_begin(&w);
  while (w.slot > 0 && n < INLINED_MAX) {
    uint32_t site;
    if (!inlined_link(&w)) {
      sites[n++] = LJM_SITE_UNKNOWN;
      break;
    }
    site = inlined_site(mp, &w);
    if (site != LJM_SITE_INTERNAL)
      sites[n++] = site;
  }
  while (n > 0) {
    list = inlined_add(mp, list, sites[--n]);
    if (list == 0)
      break;
  }
  return list;
}

#endif

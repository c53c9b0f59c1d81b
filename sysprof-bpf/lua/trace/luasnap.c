/*
** Snapshots of a trace. Inlined functions have no frames in memory while it
** runs; but a snapshot has all that is needed to make them, since the
** interpreter must be able to go on from there.
*/

#include <stdlib.h>
#include <string.h>

#include "luamcofs.h"
#include "luasnap.h"
#include "luasnapform.h"
#include "traceflow.h"
#include "traceloads.h"
#include "tracestart.h"

#define SNAP_PLACES 128       /* Frames of one: slots are numbered by a byte. */
#define SNAP_TOTAL  (1 << 18) /* Places of all. */
#define SNAP_FRAME  0x10000   /* A slot that has a function. */

/* Frame links: kinds, in the low bits. */
enum { FRAME_LUA, FRAME_C, FRAME_CONT, FRAME_VARG };
#define FRAME_TYPE  3
#define FRAME_TYPEP 7

/* -- Constants ------------------------------------------------------------ */

/* Whether a function makes tail calls. */
static bool snap_tails(const LsFunc *f)
{
  uint32_t pos;
  for (pos = 1; pos < f->sizebc; pos++) {
    uint32_t op = LS_BC_OP(f->bc[pos]);
    if (op == LS_BC_CALLMT || op == LS_BC_CALLT)
      return true;
  }
  return false;
}

/* A function that the trace may have inlined. */
static void snap_callee(LsTrace *T, LsFunc *f)
{
  uint32_t i;
  for (i = 0; i < T->ncallee; i++)
    if (T->callee[i] == f)
      return;
  if (!f || T->ncallee == LS_CALLEES) {
    T->more = true;
    return;
  }
  T->tails = T->tails || snap_tails(f);
  T->callee[T->ncallee++] = f;
}

/* An object among the constants. */
static void snap_meetobject(LsFuncs *fs, const LsIr *t, uint64_t obj,
                            LsTrace *T)
{
  LsView *v = t->v;
  uint8_t type = ls_view_type(v, obj);
  if (type == LS_GCT_FUNC) {
    if (ls_remote_uint(v->mem, obj + v->vm.fn_ffid, 1) != 0)
      return;
    if (T->nclosure < LS_CLOSURES)
      T->closure[T->nclosure++] = obj;
    obj = ls_view_ref(v, obj + v->vm.fn_pc) - v->vm.pt_size;
    snap_callee(T, ls_func_read(fs, v, obj));
  } else if (type == LS_GCT_PROTO) {
    ls_func_read(fs, v, obj);
  } else if (type == LS_GCT_CDATA) {
    T->cdata = true;
  }
}

/* Read all functions that are constants of the trace. */
static void snap_meet(LsFuncs *fs, const LsIr *t, LsTrace *T)
{
  LsView *v = t->v;
  uint32_t ref;
  for (ref = t->nk; ref < LS_REF_BIAS; ref++) {
    uint64_t value, check;
    int op = ls_ir_constant(t, ref, &value);
    if (op == LS_IR_KGC) {
      snap_meetobject(fs, t, value, T);
    } else if (op == LS_IR_KPTR || op == LS_IR_KKPTR) {
      /* It may be a function's bytecode. */
      if (ls_proto_check(v, value - v->vm.pt_size, &check))
        snap_callee(T, ls_func_read(fs, v, value - v->vm.pt_size));
    }
    if (ls_ir_wide(t, op))
      ref++;
  }
}

/* -- Frames --------------------------------------------------------------- */

/* A walk down the frames of one snapshot. */
typedef struct Walk {
  const LsIr *t;
  LsFuncs *fs;
  uint32_t map, nent; /* Its entries. */
  uint32_t slot;      /* Of the function in the current frame. */
  int64_t link;       /* Of the current frame. */
  uint64_t contpc;    /* Of a continuation frame. */
  uint32_t flink;     /* Without GC64: next frame link, and behind the last. */
  uint32_t flend;
} Walk;

/* The constant that the snapshot has in a slot: its operation, or -1. */
static int walk_constant(const Walk *w, uint32_t slot, uint64_t *value)
{
  uint32_t n;
  for (n = 0; n < w->nent; n++) {
    uint32_t entry = w->t->map[w->map + n];
    if (entry >> 24 == slot)
      return ls_ir_constant(w->t, entry & 0xffff, value);
  }
  return -1;
}

/* Begin at the innermost frame. Returns the PC where the interpreter would go
** on, or 0 if the snapshot makes no sense.
*/
static uint64_t walk_begin(Walk *w, uint32_t next)
{
  const uint32_t *map = w->t->map;
  uint32_t at = w->map + w->nent, n;
  if (w->t->v->vm.gc64) {
    uint64_t pcbase;
    if (at + 2 > w->t->nsnapmap)
      return 0;
    memcpy(&pcbase, map + at, 8);
    w->slot = pcbase & 0xff;
    return pcbase >> 8;
  }
  if (at + 1 > w->t->nsnapmap)
    return 0;
  w->flink = at + 1;
  w->flend = next;
  for (n = w->map; n < at; n++)
    if ((map[n] & SNAP_FRAME) && map[n] >> 24 > w->slot)
      w->slot = map[n] >> 24;
  return map[at];
}

/* Read the current frame's link. Returns false if the snapshot has none. */
static bool walk_link(Walk *w)
{
  uint64_t link;
  if (w->t->v->vm.gc64) {
    if (walk_constant(w, w->slot + 1, &link) != LS_IR_KNUM)
      return false;
    w->link = (int64_t)link;
    return (link & FRAME_TYPEP) != FRAME_CONT ||
           (w->slot > 1 &&
            walk_constant(w, w->slot - 1, &w->contpc) == LS_IR_KNUM);
  }
  if (w->flink >= w->flend)
    return false;
  w->link = (int32_t)w->t->map[w->flink++];
  if ((w->link & FRAME_TYPEP) == FRAME_CONT) {
    if (w->flink >= w->flend)
      return false;
    w->contpc = w->t->map[w->flink++];
  }
  return true;
}

/* The place of a PC. */
static LsPlace walk_place(const Walk *w, uint64_t pc)
{
  LsPlace p = {.f = ls_func_ofpc(w->fs, w->t->v, pc)};
  if (p.f)
    p.pos = (uint32_t)(pc - p.f->code) / 4;
  return p;
}

/* The C function in the current frame. */
static LsPlace walk_cplace(const Walk *w)
{
  LsView *v = w->t->v;
  LsPlace p = {0};
  uint64_t fn;
  if (walk_constant(w, w->slot, &fn) == LS_IR_KGC &&
      ls_view_type(v, fn) == LS_GCT_FUNC) {
    p.ffid = (uint8_t)ls_remote_uint(v->mem, fn + v->vm.fn_ffid, 1);
    if (p.ffid != 0)
      p.cfn = ls_remote_uint(v->mem, fn + v->vm.fn_f, 8);
  }
  return p;
}

/* Go to the frame below. Returns 1 if *P is where its function made the call, 0
** if it is the same function's, -1 if the size of frames is unknown.
*/
static int walk_down(Walk *w, LsPlace *p)
{
  uint64_t pc = 0, size = ((uint64_t)w->link & ~7ull) / 8;
  if ((w->link & FRAME_TYPE) == FRAME_LUA) {
    pc = w->t->v->vm.gc64 ? (uint64_t)w->link : (uint32_t)w->link;
    *p = walk_place(w, pc - 4);
    if (!p->f)
      return -1;
    size = 1 + w->t->v->vm.gc64 + LS_BC_A(p->f->bc[p->pos]);
  } else if ((w->link & FRAME_TYPEP) == FRAME_CONT) {
    pc = w->contpc;
  }
  if (size == 0 || size > w->slot)
    return -1;
  w->slot -= (uint32_t)size;
  if ((w->link & FRAME_TYPEP) == FRAME_VARG)
    return 0;
  if (pc == 0)
    *p = walk_cplace(w);
  else if ((w->link & FRAME_TYPE) != FRAME_LUA)
    *p = walk_place(w, pc - 4);
  return 1;
}

/* All places of one snapshot, innermost first. Returns their number. */
static uint32_t walk_places(Walk *w, uint32_t next, LsPlace place[SNAP_PLACES])
{
  uint64_t pc = walk_begin(w, next);
  uint32_t n = 0;
  if (pc == 0)
    return 0;
  place[n] = walk_place(w, pc);
  if (!place[n].f) /* It ends in the call of a C function. */
    place[n] = walk_cplace(w);
  n++;
  while (w->slot > 0 && n < SNAP_PLACES) {
    LsPlace p;
    int r = walk_link(w) ? walk_down(w, &p) : -1;
    if (r < 0) {
      place[n++] = (LsPlace){0};
      break;
    }
    if (r > 0)
      place[n++] = p;
  }
  return n;
}

/* -- All snapshots -------------------------------------------------------- */

/* Append places. Returns false without memory. */
static bool snap_append(LsTrace *T, const LsPlace *place, uint32_t n)
{
  LsPlace *p = T->place;
  if (T->nplace + n > SNAP_TOTAL)
    return false;
  if (T->nplace + n > T->sizeplace) {
    T->sizeplace = 2 * (T->nplace + n);
    p = realloc(p, T->sizeplace * sizeof(*p));
    if (!p)
      return false;
    T->place = p;
  }
  if (n > 0)
    memcpy(p + T->nplace, place, n * sizeof(*p));
  T->nplace += n;
  return true;
}

/* Add the places of a snapshot. Returns false without memory. */
static bool snap_add(LsTrace *T, LsSnap *s, const LsPlace *place, uint32_t n)
{
  s->place = T->nplace;
  s->nplace = n;
  return snap_append(T, place, n);
}

/* Where the code of snapshots begins. */
static bool snap_begin(const LsIr *t, const LsCode *c, const LsRawSnap *raw,
                       bool offsets, LsSnap *snap)
{
  LsBegin *b = NULL;
  uint32_t i;
  if (offsets)
    b = ls_mcofs_read(t, c->n > 0 ? c : NULL, raw);
  else if (c->n > 0)
    b = ls_exits_read(t, c, raw);
  for (i = 0; b && i < t->nsnap; i++) {
    snap[i].mcofs = (uint16_t)b[i].likely;
    snap[i].early = (uint16_t)b[i].early;
    snap[i].late = (uint16_t)b[i].late;
  }
  free(b);
  return b;
}

/* Where the code from REF up to END returns to. Returns how many places. */
static uint32_t walk_back(const Walk *w, uint32_t ref, uint32_t end,
                          LsPlace place[SNAP_PLACES])
{
  uint32_t n = 0;
  for (; ref < end && ref < w->t->nins && n < SNAP_PLACES; ref++) {
    const LsIns *ins = &w->t->ins[ref - LS_REF_BIAS];
    uint64_t pc;
    if (ins->op != LS_IR_RETF)
      continue;
    if (ls_ir_constant(w->t, ins->op2, &pc) < 0)
      pc = 0;
    place[n++] = walk_place(w, pc);
  }
  return n;
}

/* Read all snapshots. */
static void snap_parse(LsFuncs *fs, const LsIr *t, const LsRawSnap *raw,
                       LsTrace *T)
{
  LsPlace place[SNAP_PLACES];
  uint32_t i;
  for (i = 0; i < t->nsnap; i++) {
    Walk w = {.t = t, .fs = fs, .map = raw[i].map, .nent = raw[i].nent};
    uint32_t n = walk_places(&w, raw[i].end, place);
    uint32_t end = i + 1 < t->nsnap ? raw[i + 1].ref : t->nins;
    if (!snap_add(T, &T->snap[i], place, n))
      break;
    T->snap[i].nback = walk_back(&w, raw[i].ref, end, place);
    T->returns = T->returns || T->snap[i].nback > 0;
    if (!snap_append(T, place, T->snap[i].nback))
      break;
    T->nsnap = i + 1;
  }
  for (i = 0; i < T->nplace; i++)
    if (T->place[i].f && (i == 0 || T->place[i].f != T->place[i - 1].f))
      ls_start_restore(t->v, t->g, T->place[i].f);
}

/* Copy the map of snapshots. Returns false without memory. */
static bool snap_map(LsIr *t)
{
  size_t size = t->nsnapmap * 4ul;
  t->map = malloc(size);
  return t->map && ls_remote_get(t->v->mem, t->snapmap, t->map, size);
}

void ls_snaps_read(LsFuncs *fs, LsIr *t, const LsCode *c, LsTrace *T)
{
  bool offsets = false;
  t->raw = ls_snapform_read(t, &offsets);
  snap_meet(fs, t, T);
  if (!t->raw)
    return;
  T->snap = calloc(t->nsnap, sizeof(*T->snap));
  if (T->snap && snap_map(t) && snap_begin(t, c, t->raw, offsets, T->snap)) {
    snap_parse(fs, t, t->raw, T);
    ls_flow_read(t, t->raw, T);
    ls_loads_read(fs, t, T);
  }
}

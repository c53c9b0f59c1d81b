/*
** Paths of a trace, from one snapshot to the next.
**
** A snapshot has the instruction where the interpreter would go on. The code
** between two snapshots is that of all instructions from the one to the other,
** in order: of one function, or of a caller and of what it has called, or of a
** function and of the one that it returns to.
*/

#include <string.h>

#include "traceflow.h"
#include "traceloads.h"
#include "tracepath.h"

#define PATH_INS   4000       /* Instructions of one leg that are looked at. */
#define PATH_LEAVE UINT32_MAX /* Until the function is left. */

static bool path_returns(uint32_t op)
{
  return (op >= LS_BC_RETM && op <= LS_BC_RET1) || op == LS_BC_CALLMT ||
         op == LS_BC_CALLT;
}

/* Where a function's end is, from an instruction on. */
static uint32_t path_end(const LsFunc *f, uint32_t pos)
{
  while (pos < f->sizebc && !path_returns(LS_BC_OP(f->bc[pos])))
    pos++;
  return pos < f->sizebc ? pos + 1 : pos;
}

/* Add a leg, if there is anything in it. */
static void path_leg(LsPath *p, const LsPlace *place, uint32_t nouter,
                     uint32_t pos, uint32_t end, bool calls)
{
  if (pos >= end)
    return;
  if (p->n == LS_PATH_MAX || end > pos + PATH_INS) {
    p->vague = true;
    end = pos + PATH_INS < end ? pos + PATH_INS : end;
  }
  if (p->n < LS_PATH_MAX)
    p->leg[p->n++] = (LsLeg){.f = place->f,
                             .outer = place + 1,
                             .nouter = nouter,
                             .pos = pos,
                             .end = end,
                             .calls = calls};
}

/* The level, counted from the outermost, at which two snapshots part: below,
** the same function has made the same call. -1 if they have nothing in common.
*/
static int path_part(const LsPlace *a, uint32_t na, const LsPlace *b,
                     uint32_t nb)
{
  uint32_t level;
  for (level = 0; level < na && level < nb; level++) {
    const LsPlace *p = &a[na - 1 - level], *q = &b[nb - 1 - level];
    if (!p->f && !q->f && p->cfn && p->cfn == q->cfn)
      continue; /* A C function. */
    if (!p->f || p->f != q->f)
      return (int)level - 1;
    if (p->pos != q->pos || level + 1 == na || level + 1 == nb)
      return (int)level;
  }
  return (int)level - 1;
}

/* A way through one function. */
typedef struct Way {
  uint32_t start; /* Of its current leg. */
  uint32_t pos;   /* Here it is. */
  uint32_t end;   /* It ends in front of this one, */
  bool again;     /* when a loop has begun again. */
  uint32_t reach; /* Jumps that may have been taken lead up to there. */
} Way;

/* Follow the jump at w->pos, if it has to be taken: code is left out, or comes
** once more. Other code between may be on the way.
*/
static void path_jump(LsPath *p, Way *w, const LsPlace *place, uint32_t nouter)
{
  const LsFunc *f = place->f;
  uint32_t to = ls_flow_target(f, w->pos);
  bool may = ls_flow_mayjump(f, w->pos);
  int jumps = may ? ls_loads_jumps(p->T, f, w->pos, nouter == 0) : 1;
  if (jumps == 0)
    return;
  if (to > w->pos && jumps < 0) {
    if (to > w->reach)
      w->reach = to;
    return;
  }
  if (to > w->pos && (w->reach > w->pos || (w->end > w->pos && w->end < to)))
    return;
  if (to <= w->pos && (!w->again || to > w->end || to == w->pos))
    return;
  w->again = w->again && to > w->pos;
  path_leg(p, place, nouter, w->start, w->pos + 1, false);
  w->start = to;
  w->pos = to - 1;
}

/* Add the instructions from POS on up to END, or to a return. If END is not
** behind POS, a loop has to begin again.
*/
static void path_walk(LsPath *p, const LsPlace *place, uint32_t nouter,
                      uint32_t pos, uint32_t end, bool calls)
{
  const LsFunc *f = place->f;
  Way w = {.start = pos, .pos = pos, .end = end, .again = end <= pos};
  for (; w.pos < f->sizebc && (w.again || w.pos != end); w.pos++) {
    if (path_returns(LS_BC_OP(f->bc[w.pos])) && w.reach <= w.pos &&
        end == PATH_LEAVE) {
      path_leg(p, place, nouter, w.start, w.pos + 1, false);
      return;
    }
    if (ls_flow_jumps(f, w.pos))
      path_jump(p, &w, place, nouter);
  }
  path_leg(p, place, nouter, w.start, w.pos, calls);
  p->vague = p->vague || w.pos != end;
}

/* Where a snapshot's own instruction ends the path in front of it. */
static uint32_t path_before(const LsSnap *s, const LsPlace *place)
{
  return s->branches ? s->branch + 1 : place->pos;
}

/* Where the path goes on behind a snapshot; its branch is added. */
static uint32_t path_behind(LsPath *p, const LsSnap *s, const LsPlace *place)
{
  if (!s->branches)
    return place->pos;
  path_leg(p, place, s->nplace - 1, s->branch, s->branch + 1, false);
  return s->go;
}

/* A snapshot's places, in a path: the innermost is at `at`. */
typedef struct End {
  const LsSnap *snap;
  const LsPlace *at;
  uint32_t n;
} End;

/* Add what is left of A's functions until N of them have returned. */
static void path_leave(LsPath *p, const End *a, uint32_t n)
{
  uint32_t k, pos;
  for (k = 0; k < n; k++) {
    if (!a->at[k].f)
      continue;
    pos = k > 0 ? a->at[k].pos + 1 : path_behind(p, a->snap, a->at);
    path_walk(p, a->at + k, a->n - 1 - k, pos, PATH_LEAVE, false);
  }
}

/* Add the functions that B is in from their beginnings: the N innermost. */
static void path_enter(LsPath *p, const End *b, uint32_t n)
{
  uint32_t k;
  for (k = n; k-- > 0;) {
    uint32_t end = k > 0 ? b->at[k].pos + 1 : path_before(b->snap, b->at);
    if (b->at[k].f && end > 0)
      path_walk(p, b->at + k, b->n - 1 - k, 0, end, k > 0);
  }
}

/* Add the way in the function that A, in the UP-th of its functions, and B, in
** the DOWN-th, have in common.
*/
static void path_stay(LsPath *p, const End *a, uint32_t up, const End *b,
                      uint32_t down)
{
  const LsPlace *at = a->at + up;
  uint32_t end = down > 0 ? b->at[down].pos + 1 : path_before(b->snap, b->at);
  uint32_t pos = up > 0 ? at->pos + 1 : path_behind(p, a->snap, a->at);
  bool there = pos == end && p->n > 0;
  if (!there)
    path_walk(p, at, a->n - 1 - up, pos, end, down > 0);
}

/* The path from A to B: out of the functions that A is in, on in the one that
** both have in common, and into those that B is in. Without legs, it is
** unknown.
*/
static void path_make(LsPath *p, const End *a, const End *b)
{
  int level = path_part(a->at, a->n, b->at, b->n);
  uint32_t up, down;
  if (level < 0) {
    p->vague = true;
    return;
  }
  up = a->n - 1 - (uint32_t)level;
  down = b->n - 1 - (uint32_t)level;
  path_leave(p, a, up);
  if (a->at[up].f)
    path_stay(p, a, up, b, down);
  path_enter(p, b, down);
}

unsigned ls_path_called(const LsTrace *T, const LsLeg *g, uint32_t pos,
                        LsCallee called[LS_CALLED])
{
  return ls_loads_called(T, g->f, pos, g->nouter == 0 && !g->hidden, called);
}

bool ls_path_some(const LsTrace *T)
{
  return T->ncallee > 0 || T->more;
}

/* Functions of libraries that a leg was entered through, by the call at the end
** of another leg.
*/
static uint32_t path_through(const LsLeg *g, const LsLeg *next)
{
  return next->nouter > g->nouter ? next->nouter - g->nouter - 1 : 0;
}

/* Whether the call at the end of a leg may be of another function than that of
** the NEXT leg, which that has called by a tail call: it is on no stack then.
*/
static bool path_detour(const LsTrace *T, const LsLeg *g, const LsLeg *next)
{
  LsCallee c[LS_CALLED];
  unsigned n = ls_path_called(T, g, g->end - 1, c);
  bool known = n > 0 && !c[n - 1].enters && (c[n - 1].f || c[n - 1].ffid);
  if (!known)
    return T->tails || T->more;
  return next ? c[n - 1].f != next->f || path_through(g, next) != n - 1
              : c[n - 1].f != NULL;
}

bool ls_path_mayinline(const LsTrace *T, const char *name)
{
  return ls_path_some(T) && ls_loads_islua(T, name) != 0;
}

/* Functions that a call enters, one from the other. */
typedef struct Called {
  LsCallee at[LS_CALLED];
  unsigned n;
  LsFunc *f; /* The last one, if it has to be put in; or NULL. */
} Called;

/* The callers that a leg has besides, if it is of what an instruction calls: a
** tail call leaves its caller.
*/
static unsigned reveal_callers(const Called *c, uint32_t op)
{
  return c->n - path_returns(op);
}

/* The first call in a leg of a function of Lua that has to be put in; the end
** of the leg if there is none. *ALL is cleared if calls may be of others.
*/
static uint32_t reveal_next(const LsTrace *T, const LsLeg *g, Called *c,
                            bool *all)
{
  uint32_t pos, end = g->end - (g->calls ? 1 : 0);
  for (pos = g->pos; pos < end; pos++) {
    uint32_t op = LS_BC_OP(g->f->bc[pos]);
    if (op < LS_BC_CALLM || op > LS_BC_ITERC)
      continue;
    c->n = ls_path_called(T, g, pos, c->at);
    if (c->n == 0 || c->at[c->n - 1].enters) {
      *all = *all && !ls_path_some(T);
    } else if (c->at[c->n - 1].f) {
      if (g->nvia + reveal_callers(c, op) <= LS_VIA) {
        c->f = c->at[c->n - 1].f;
        return pos;
      }
      *all = false;
    }
  }
  return g->end;
}

/* The leg of a function of Lua that is entered by instruction POS of a leg. */
static LsLeg reveal_leg(const LsLeg *g, uint32_t pos, const Called *called)
{
  LsLeg c = *g;
  unsigned i, n = reveal_callers(called, LS_BC_OP(g->f->bc[pos]));
  c.f = called->f;
  c.pos = 1;
  c.end = path_end(c.f, 1);
  c.calls = c.detour = false;
  c.hidden = true;
  memmove(c.via + n, c.via, (LS_VIA - n) * sizeof(*c.via));
  for (i = 0; i < n; i++) {
    const LsCallee *by =
        i + 1 < called->n ? &called->at[called->n - 2 - i] : NULL;
    c.via[i] = by ? (LsPlace){.cfn = by->cfn, .ffid = (uint8_t)by->ffid}
                  : (LsPlace){.f = g->f, .pos = pos};
  }
  c.nvia += (uint8_t)n;
  return c;
}

/* Move all legs to *REST, the first one last. Returns false if some of their
** calls may have gone through others.
*/
static bool reveal_begin(LsPath *p, const LsTrace *T, LsPath *rest)
{
  bool all = !T->methods || !ls_path_some(T);
  unsigned i;
  rest->n = 0;
  for (i = p->n; i-- > 0;) {
    LsLeg *g = &p->leg[i];
    g->detour = g->calls && path_detour(T, g, i + 1 < p->n ? g + 1 : NULL);
    all = all && !g->detour;
    rest->leg[rest->n++] = *g;
  }
  p->n = 0;
  return all;
}

bool ls_path_reveal(LsPath *p, const LsTrace *T)
{
  LsPath rest;
  bool all = reveal_begin(p, T, &rest);
  while (rest.n > 0) {
    LsLeg *g = &rest.leg[rest.n - 1];
    LsLeg *to = &p->leg[p->n++];
    bool room = p->n + rest.n + 1 < LS_PATH_MAX;
    Called called = {.n = 0};
    uint32_t pos = reveal_next(T, g, &called, &all);
    *to = *g;
    if (!called.f || !room) {
      all = all && pos == g->end;
      rest.n--;
      continue;
    }
    to->end = pos + 1;
    to->calls = true;
    to->detour = false;
    g->pos = pos + 1;
    rest.n -= g->pos == g->end;
    rest.leg[rest.n++] = reveal_leg(to, pos, &called);
  }
  return all;
}

/* Add what sets up a loop that a trace begins with. */
static void path_begin(LsPath *p, const End *a)
{
  uint32_t op, pos = a->n > 0 && a->at->f ? a->at->pos : 0;
  if (pos == 0)
    return;
  op = LS_BC_OP(a->at->f->bc[pos - 1]);
  if (op == LS_BC_FORI || op == LS_BC_JFORI)
    path_leg(p, a->at, a->n - 1, pos - 1, pos, false);
}

/* The next snapshot behind number I, or I. */
static uint32_t path_next(const LsTrace *T, uint32_t i)
{
  uint32_t next = i + 1;
  if (next == T->nsnap && T->loops) /* The loop begins again. */
    for (next = 0; next < T->nsnap && T->snap[next].mcofs < T->mcloop; next++)
      ;
  return next < T->nsnap ? next : i;
}

/* Of a place without a branch. */
static const LsSnap path_plain = {.nplace = 1};

static End path_snap(const LsTrace *T, uint32_t i)
{
  const LsSnap *s = &T->snap[i];
  return (End){s, T->place + s->place, s->nplace};
}

/* Whether a loop over an iterator may have begun again on the way, any number
** of times, as that leaves no snapshot. A trace's own loop ends it.
*/
static bool path_repeats(const LsPath *p, const LsTrace *T)
{
  unsigned i;
  uint32_t pos;
  for (i = 0; i < p->n; i++)
    for (pos = p->leg[i].pos; pos < p->leg[i].end; pos++) {
      uint32_t op = LS_BC_OP(p->leg[i].f->bc[pos]), own = T->start.pos;
      if (op >= LS_BC_ITERL && op <= LS_BC_JITERL &&
          (p->leg[i].f != T->start.f || (pos != own && pos != own + 1)))
        return true;
    }
  return false;
}

uint32_t ls_path_from(LsPath *p, const LsTrace *T, uint32_t i)
{
  uint32_t next = path_next(T, i);
  End a = path_snap(T, i), b = path_snap(T, next);
  const LsPlace *back = a.at + a.n;
  uint32_t k;
  p->T = T;
  p->n = 0;
  p->vague = false;
  if (i == 0)
    path_begin(p, &a);
  if (next != i || T->loops) {
    for (k = 0; k < T->snap[i].nback; k++) {
      path_leave(p, &a, a.n);
      a = (End){&path_plain, back + k, 1};
    }
    path_make(p, &a, &b);
    p->vague =
        p->vague || T->snap[i].vague || b.snap->vague || path_repeats(p, T);
    return next;
  }
  p->vague = true; /* The end: the next trace's place is all that is known. */
  if (a.n > 0 && a.at->f)
    path_leg(p, a.at, a.n - 1, a.at->pos, a.at->pos + 1, false);
  return i;
}

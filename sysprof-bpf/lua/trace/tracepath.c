/*
** Paths of a trace, from one snapshot to the next.
**
** A snapshot has the instruction where the interpreter would go on. The code
** between two snapshots is that of all instructions from the one to the other,
** in order: of one function, or of a caller and of what it has called, or of a
** function and of the one that it returns to.
*/

#include <string.h>

#include "tracepath.h"

#define PATH_INS 400 /* Instructions of one leg that are looked at. */

/* Where a loop's or a function's end is, from an instruction on. */
static uint32_t path_end(const LsFunc *f, uint32_t pos)
{
  for (; pos < f->sizebc; pos++) {
    uint32_t op = LS_BC_OP(f->bc[pos]);
    if ((op >= LS_BC_FORL && op <= LS_BC_JITERL) ||
        (op >= LS_BC_RETM && op <= LS_BC_RET1) || op == LS_BC_CALLMT ||
        op == LS_BC_CALLT ||
        (op == LS_BC_JMP && LS_BC_D(f->bc[pos]) < 0x8000)) /* Backwards. */
      return pos + 1;
  }
  return pos;
}

/* Where the loop begins that ends in front of END, or END if that is unknown: a
** compiled loop has no jump.
*/
static uint32_t path_loop(const LsFunc *f, uint32_t end)
{
  uint32_t ins = end > 0 && end <= f->sizebc ? f->bc[end - 1] : 0;
  uint32_t op = LS_BC_OP(ins), back = 0x8000 - LS_BC_D(ins);
  bool jumps = op == LS_BC_JMP ||
               (op >= LS_BC_FORL && op < LS_BC_JITERL && op != LS_BC_JFORL);
  return jumps && LS_BC_D(ins) < 0x8000 && back < end ? end - back : end;
}

/* Add a leg, if there is anything in it. */
static void path_leg(LsPath *p, const LsPlace *place, uint32_t nouter,
                     uint32_t pos, uint32_t end, bool calls)
{
  if (p->n == LS_PATH_MAX || !place->f)
    return;
  if (end > place->f->sizebc)
    end = place->f->sizebc;
  if (end > pos + PATH_INS)
    end = pos + PATH_INS;
  if (pos < end)
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

/* Whether a snapshot is for those who leave the trace's loop at its end: it is
** of the instruction that ends the loop, and has the one behind.
*/
static bool path_leaves(const LsTrace *T, const LsPlace *p)
{
  uint32_t op;
  if (!T->loops || !p->f || p->f != T->start.f || p->pos != T->start.pos + 1)
    return false;
  op = LS_BC_OP(p->f->bc[T->start.pos]);
  return op >= LS_BC_FORL && op <= LS_BC_JITERL;
}

/* The path from snapshot A to B: out of the functions that A is in, on in the
** one that both have in common, and into those that B is in. With WRAP, A is
** the last one, and a loop begins again. Without legs, it is unknown.
*/
static void path_make(LsPath *p, const LsTrace *T, const LsSnap *sa,
                      const LsSnap *sb, bool wrap)
{
  const LsPlace *a = T->place + sa->place, *b = T->place + sb->place;
  uint32_t na = sa->nplace, nb = sb->nplace, up, down, k, pos, end;
  int level = path_part(a, na, b, nb);
  p->n = 0;
  if (level < 0)
    return;
  up = na - 1 - (uint32_t)level;
  down = nb - 1 - (uint32_t)level;
  if (up == 0 && down == 0 && path_leaves(T, a)) {
    path_leg(p, a, (uint32_t)level, a->pos - 1, a->pos, false);
    return;
  }
  for (k = 0; k < up; k++) {
    pos = a[k].pos + (k > 0);
    if (a[k].f)
      path_leg(p, a + k, na - 1 - k, pos, path_end(a[k].f, pos), false);
  }
  pos = a[up].pos + (up > 0);
  end = b[down].pos + (down > 0);
  if (a[up].f && down == 0 && (wrap || pos >= end)) {
    end = path_end(a[up].f, pos);
  } else if (a[up].f && pos > end) { /* A call after the loop began again. */
    uint32_t last = path_end(a[up].f, pos), first = path_loop(a[up].f, last);
    if (first < end) {
      path_leg(p, a + up, (uint32_t)level, pos, last, false);
      pos = first;
    }
  }
  path_leg(p, a + up, (uint32_t)level, pos, end, down > 0);
  for (k = down; k-- > 0;)
    path_leg(p, b + k, nb - 1 - k, 1, b[k].pos + (k > 0), k > 0);
}

/* The number of functions without a snapshot that a call may be of, by its name
** in the code of the caller; all, if the call has no name. *F is one of them.
*/
static unsigned path_callee(const LsTrace *T, const char *name, LsFunc **f)
{
  unsigned n = 0;
  uint32_t i;
  for (i = 0; i < T->nhidden; i++) {
    const LsFunc *h = T->hidden[i];
    const char *own = !*h->name && h->proven ? h->proven : h->name;
    const char *dot = strrchr(own, '.');
    if (*name && strcmp(own, name) != 0 && (!dot || strcmp(dot + 1, name) != 0))
      continue;
    *f = T->hidden[i];
    n++;
  }
  return n;
}

/* Put the function that was called at an instruction of a leg behind it. */
static void path_reveal(LsPath *p, unsigned i, uint32_t at, LsFunc *f)
{
  LsLeg *g = &p->leg[i];
  unsigned k;
  if (p->n + 2 > LS_PATH_MAX)
    return;
  for (k = p->n; k-- > i;)
    p->leg[k + 2] = p->leg[k];
  g[0].end = at + 1;
  g[0].calls = true;
  g[1] = g[0];
  g[1].f = f;
  g[1].pos = 1;
  g[1].end = path_end(f, 1);
  g[1].calls = false;
  g[1].hidden = true;
  g[1].via = at;
  g[2].pos = at + 1;
  p->n += 2;
  if (g[2].pos >= g[2].end) { /* Nothing is left. */
    for (k = i + 2; k + 1 < p->n; k++)
      p->leg[k] = p->leg[k + 1];
    p->n--;
  }
}

bool ls_path_reveal(LsPath *p, const LsTrace *T)
{
  bool all = true;
  unsigned i;
  for (i = 0; i < p->n; i++) {
    const LsLeg *g = &p->leg[i];
    uint32_t pos = g->pos, end = g->end - (g->calls ? 1 : 0);
    for (; pos < end; pos++) {
      uint32_t op = LS_BC_OP(g->f->bc[pos]);
      LsFunc *f;
      unsigned n;
      if (op < LS_BC_CALLM || op > LS_BC_ITERC)
        continue;
      n = path_callee(T, ls_func_callee(g->f, pos), &f);
      if (n == 1 && !g->hidden) {
        path_reveal(p, i, pos, f);
        break; /* The rest is a leg of its own. */
      }
      all = all && n == 0;
    }
  }
  return all;
}

uint32_t ls_path_from(LsPath *p, const LsTrace *T, uint32_t i)
{
  uint32_t next = i + 1;
  bool wrap = next == T->nsnap;
  if (wrap && T->loops) /* The loop begins again. */
    for (next = 0; next < T->nsnap && T->snap[next].mcofs < T->mcloop; next++)
      ;
  if (next >= T->nsnap)
    next = i;
  path_make(p, T, &T->snap[i], &T->snap[next], wrap);
  return next;
}

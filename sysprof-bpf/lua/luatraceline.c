/*
** Mapping of a trace's machine code to bytecode instructions.
**
** A snapshot has the instruction where the interpreter would go on. The code
** between two snapshots is that of all instructions from the one to the other,
** in order: of one function, or of a caller and of what it has called, or of a
** function and of the one that it returns to. Between two snapshots the
** instruction is interpolated from the code offset: each is assumed to have as
** much code as its kind usually has.
*/

#include <string.h>

#include "luatraceline.h"

#define PATH_MAX   64  /* Functions on the way from one snapshot to the next. */
#define PATH_INS   400 /* Instructions of one that are looked at. */
#define PATH_SNAPS 16  /* Snapshots that one offset may be of. */

/* Instructions from `pos` up to `end` of a function. */
typedef struct Leg {
  LsFunc *f;
  const LsPlace *outer; /* Its callers. */
  uint32_t nouter;
  uint32_t pos, end;
  bool calls;   /* The last instruction is the call that the next leg is of. */
  bool hidden;  /* The leg is in no snapshot; outer[-1] called it. */
  uint32_t via; /* If hidden: the instruction of that call. */
} Leg;

typedef struct Path {
  Leg leg[PATH_MAX];
  unsigned n;
} Path;

/* About how much machine code an instruction becomes, in some unit. Constants,
** moves and jumps become none.
*/
static unsigned path_weight(uint32_t op)
{
  static const uint8_t weight[LS_BC_JMP + 1] = {
      2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, /* ISLT, ... */
      0, 1, 1, 3,                                           /* MOV, ... */
      1, 1, 1, 2, 6, 1, 1, 1, 2, 6, 1, 1, 1, 2, 6, 6, 8,    /* ADDVN, ... */
      0, 0, 0, 0, 0, 0,                                     /* KSTR, ... */
      0, 4, 4, 4, 4, 2, 8, 8, 8, 0, 6,                      /* UGET, ... */
      5, 5, 5, 5, 6, 6, 6, 6, 6,                            /* TGETV, ... */
      2, 2, 2, 2, 3, 3, 2, 1, 0, 0, 0, 0,                   /* CALLM, ... */
      2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0,                   /* FORI, ... */
  };
  return op <= LS_BC_JMP ? weight[op] : 0;
}

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
static void path_leg(Path *p, const LsPlace *place, uint32_t nouter,
                     uint32_t pos, uint32_t end, bool calls)
{
  if (p->n == PATH_MAX || !place->f)
    return;
  if (end > place->f->sizebc)
    end = place->f->sizebc;
  if (end > pos + PATH_INS)
    end = pos + PATH_INS;
  if (pos < end)
    p->leg[p->n++] = (Leg){.f = place->f,
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
static void path_make(Path *p, const LsTrace *T, const LsSnap *sa,
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
static void path_reveal(Path *p, unsigned i, uint32_t at, LsFunc *f)
{
  Leg *g = &p->leg[i];
  unsigned k;
  if (p->n + 2 > PATH_MAX)
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

/* Put in the functions without snapshots that are called on the way. Returns
** false if there may be others.
*/
static bool path_revealall(Path *p, const LsTrace *T)
{
  bool all = true;
  unsigned i;
  for (i = 0; i < p->n; i++) {
    const Leg *g = &p->leg[i];
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

/* The weight of an instruction of a leg. An inlined call has no machine code,
** and upvalues and globals that have not changed mostly have none. Strings are
** put into a buffer one by one.
*/
static unsigned path_legweight(const Leg *g, uint32_t pos)
{
  uint32_t ins = g->f->bc[pos];
  if (g->calls && pos + 1 == g->end)
    return 0;
  if (LS_BC_OP(ins) == LS_BC_CAT && LS_BC_C(ins) > LS_BC_B(ins))
    return 4 + 2 * (LS_BC_C(ins) - LS_BC_B(ins) + 1);
  return path_weight(LS_BC_OP(ins));
}

/* Whether an instruction's machine code may call a function of the VM or of a
** library. Calls that were inlined do not.
*/
static bool path_maycall(const Leg *g, uint32_t pos)
{
  uint32_t op = LS_BC_OP(g->f->bc[pos]);
  if (g->calls && pos + 1 == g->end)
    return false;
  return op == LS_BC_POW || op == LS_BC_CAT || op == LS_BC_USETS ||
         (op >= LS_BC_UCLO && op <= LS_BC_TDUP) || op == LS_BC_GSET ||
         (op >= LS_BC_TSETV && op <= LS_BC_ITERN);
}

/* How much machine code a path is taken to have. */
static unsigned path_sum(const Path *p)
{
  unsigned i, sum = 0;
  uint32_t pos;
  for (i = 0; i < p->n; i++)
    for (pos = p->leg[i].pos; pos < p->leg[i].end; pos++)
      sum += path_legweight(&p->leg[i], pos);
  return sum;
}

/* The leg and the instruction at SHARE / WHOLE of the path; if a function was
** CALLED there, the nearest one that may have called it.
*/
static const Leg *path_find(const Path *p, uint64_t share, uint64_t whole,
                            bool called, uint32_t *at)
{
  uint64_t sum = path_sum(p), want = share * sum / whole, done = 0;
  uint64_t best = UINT64_MAX;
  const Leg *found = &p->leg[p->n - 1];
  unsigned i;
  *at = found->end - 1;
  for (i = 0; i < p->n && sum > 0; i++) {
    const Leg *g = &p->leg[i];
    uint32_t pos;
    for (pos = g->pos; pos < g->end; pos++) {
      uint64_t end = done + path_legweight(g, pos), far = 0;
      if (want < done)
        far = done - want;
      else if (want >= end)
        far = want - end + 1;
      if (called && !path_maycall(g, pos))
        far += sum; /* Only if there is no other. */
      done = end;
      if (far >= best)
        continue;
      best = far;
      found = g;
      *at = pos;
    }
  }
  return found;
}

/* Whether the path is all on one line. */
static bool path_oneline(const Path *p)
{
  const Leg *g = &p->leg[0];
  uint32_t pos = g->pos, line = ls_func_line(g->f, pos);
  while (++pos < g->end)
    if (ls_func_line(g->f, pos) != line)
      return false;
  return p->n == 1;
}

/* The last snapshot at or before an offset. */
static uint32_t path_before(const LsTrace *T, uint32_t ofs)
{
  uint32_t lo = 0, hi = T->nsnap;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (T->snap[mid].mcofs <= ofs)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo > 0 ? lo - 1 : 0;
}

/* The snapshots whose code an offset may be in are from *FIRST to *LAST; I is
** the likely one. If they are too many, the last ones are left out.
*/
static void path_range(const LsTrace *T, uint32_t ofs, uint32_t i,
                       uint32_t *first, uint32_t *last)
{
  uint32_t n = 0;
  for (*first = i; *first > 0 && T->snap[*first].late > ofs && n < PATH_SNAPS;
       --*first)
    n++;
  for (*last = i; *last + 1 < T->nsnap && T->snap[*last + 1].early <= ofs &&
                  n < PATH_SNAPS;
       ++*last)
    n++;
}

/* Whether code that may be of snapshots FIRST to LAST may be of more than one
** function.
*/
static bool path_mayleave(const LsTrace *T, uint32_t first, uint32_t last)
{
  uint32_t i, end = last + 1 < T->nsnap ? last + 1 : last;
  const LsPlace *a = T->place + T->snap[first].place;
  if (last - first >= PATH_SNAPS)
    return true;
  for (i = first + 1; i <= end && first != last; i++) {
    const LsPlace *b = T->place + T->snap[i].place;
    if (T->snap[i].nplace != T->snap[first].nplace || a->f != b->f ||
        a->cfn != b->cfn)
      return true;
  }
  return false;
}

/* Where a snapshot was taken: in the caller, of a function that is unknown. */
static void path_there(const LsTrace *T, const LsSnap *s, LsTraceLine *here)
{
  const LsPlace *p = T->place + s->place;
  uint32_t n = s->nplace - 1;
  for (; !p->f && !p->cfn && n > 0; n--)
    p++;
  *here = (LsTraceLine){.f = p->f, .pos = p->pos, .outer = p + 1, .nouter = n};
}

/* The path from snapshot I to the next one, whose number is returned. */
static uint32_t path_from(Path *p, const LsTrace *T, uint32_t i)
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

/* Whether a path that is of one leg is all on one line. Functions without
** snapshots are put in; *UNSURE is set if there may be others.
*/
static bool path_isline(Path *p, const LsTrace *T, bool wrap, bool *unsure)
{
  unsigned n = p->n;
  bool line = path_oneline(p), all = true;
  if (T->nhidden > 0)
    all = path_revealall(p, T) && (!wrap || T->loops);
  *unsure = *unsure || !all;
  return line && all && p->n == n;
}

/* Whether the paths from snapshots FIRST to LAST are all on the line that P is
** on, which is that from I.
*/
static bool path_agree(const Path *p, const LsTrace *T, uint32_t first,
                       uint32_t last, uint32_t i)
{
  const Leg *g = &p->leg[0], *h;
  uint32_t k;
  bool unsure = false;
  for (k = first; k <= last; k++) {
    Path q;
    if (k == i)
      continue;
    path_from(&q, T, k);
    h = &q.leg[0];
    if (q.n == 0 || !path_isline(&q, T, k + 1 == T->nsnap, &unsure) ||
        h->f != g->f ||
        ls_func_line(h->f, h->pos) != ls_func_line(g->f, g->pos))
      return false;
  }
  return true;
}

bool ls_traceline_find(const LsTrace *T, uint32_t ofs, bool called,
                       LsTraceLine *here)
{
  uint32_t i = path_before(T, ofs), next, end = T->szmcode, first, last;
  const Leg *leg;
  Path p;
  if (T->nsnap == 0)
    return false;
  next = path_from(&p, T, i);
  if (p.n == 0) {
    if (T->snap[next].nplace == 0)
      return false;
    path_there(T, &T->snap[next], here);
    here->unsure = true;
    return true;
  }
  path_range(T, ofs, i, &first, &last);
  *here = (LsTraceLine){.unsure = path_mayleave(T, first, last)};
  here->exact = path_isline(&p, T, i + 1 == T->nsnap, &here->unsure) &&
                !here->unsure && path_agree(&p, T, first, last, i);
  if (i + 1 < T->nsnap)
    end = T->snap[i + 1].mcofs;
  if (ofs >= end || end <= T->snap[i].mcofs)
    end = ofs + 1;
  leg = path_find(&p, ofs - T->snap[i].mcofs, end - T->snap[i].mcofs, called,
                  &here->pos);
  here->f = leg->f;
  here->outer = leg->outer;
  here->nouter = leg->nouter;
  here->hidden = leg->hidden;
  if (leg->hidden)
    here->via = (LsPlace){.f = leg->outer[-1].f, .pos = leg->via};
  return true;
}

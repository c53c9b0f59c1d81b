/*
** Mapping of a trace's machine code to bytecode instructions.
**
** Code between two snapshots is of the instructions on the path from the one to
** the other. If they are all of one line, the line is exact; or if the
** alignment has proven it (luaalign.h). Otherwise the instruction is the one
** that is likely by the alignment, or it is interpolated from the code offset:
** each is assumed to have as much code as its kind usually has.
*/

#include "irclaim.h"
#include "luatraceline.h"
#include "tracepath.h"

#define LINE_SNAPS 16 /* Snapshots that one offset may be of. */

/* Whether an instruction never has machine code: constants, jumps, and the
** headers of functions. JLOOP may be another one, see tracestart.c.
*/
static bool line_iscodeless(uint32_t op)
{
  return (op >= LS_BC_KSTR && op <= LS_BC_KNIL) ||
         (op >= LS_BC_LOOP && op != LS_BC_JLOOP);
}

/* About how much machine code an instruction becomes, in some unit. */
static unsigned line_weight(uint32_t op)
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

#define LINE_UNIT 8 /* What may have code has some, less than one unit. */

/* The weight of an instruction of a leg. An inlined call has hardly any code,
** like upvalues and globals that have not changed. Strings are put into a
** buffer one by one.
*/
static unsigned line_legweight(const LsLeg *g, uint32_t pos)
{
  uint32_t ins = g->f->bc[pos], op = LS_BC_OP(ins);
  unsigned weight = 0;
  if (line_iscodeless(op))
    return 0;
  if (op == LS_BC_CAT && LS_BC_C(ins) > LS_BC_B(ins))
    weight = 4 + 2 * (LS_BC_C(ins) - LS_BC_B(ins) + 1);
  else if (!g->calls || pos + 1 < g->end)
    weight = line_weight(op);
  return LINE_UNIT * weight + 1;
}

/* Whether an instruction's machine code may call a function of the VM or of a
** library. Calls that were inlined do not.
*/
static bool line_maycall(const LsLeg *g, uint32_t pos)
{
  uint32_t op = LS_BC_OP(g->f->bc[pos]);
  if (g->calls && pos + 1 == g->end)
    return false;
  return op == LS_BC_POW || op == LS_BC_CAT || op == LS_BC_USETS ||
         (op >= LS_BC_UCLO && op <= LS_BC_TDUP) || op == LS_BC_GSET ||
         (op >= LS_BC_TSETV && op <= LS_BC_ITERN);
}

/* How much machine code a path is taken to have. */
static unsigned line_sum(const LsPath *p)
{
  unsigned i, sum = 0;
  uint32_t pos;
  for (i = 0; i < p->n; i++)
    for (pos = p->leg[i].pos; pos < p->leg[i].end; pos++)
      sum += line_legweight(&p->leg[i], pos);
  return sum;
}

/* The leg and the instruction at SHARE / WHOLE of the path; if a function was
** CALLED there, the nearest one that may have called it.
*/
static const LsLeg *line_find(const LsPath *p, uint64_t share, uint64_t whole,
                              bool called, uint32_t *at)
{
  uint64_t sum = line_sum(p), want = share * sum / whole, done = 0;
  uint64_t best = UINT64_MAX;
  const LsLeg *found = &p->leg[p->n - 1];
  unsigned i;
  *at = found->end - 1;
  for (i = 0; i < p->n && sum > 0; i++) {
    const LsLeg *g = &p->leg[i];
    uint32_t pos;
    for (pos = g->pos; pos < g->end; pos++) {
      uint64_t end = done + line_legweight(g, pos), far = 0;
      if (want < done)
        far = done - want;
      else if (want >= end)
        far = want - end + 1;
      if (called && !line_maycall(g, pos))
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

/* The last snapshot at or before an offset. */
static uint32_t line_before(const LsTrace *T, uint32_t ofs)
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
static void line_range(const LsTrace *T, uint32_t ofs, uint32_t i,
                       uint32_t *first, uint32_t *last)
{
  uint32_t n = 0;
  for (*first = i; *first > 0 && T->snap[*first].late > ofs && n < LINE_SNAPS;
       --*first)
    n++;
  for (*last = i; *last + 1 < T->nsnap && T->snap[*last + 1].early <= ofs &&
                  n < LINE_SNAPS;
       ++*last)
    n++;
}

/* Where a snapshot was taken: in the caller, of a function that is unknown. */
static void line_there(const LsTrace *T, const LsSnap *s, LsTraceLine *here)
{
  const LsPlace *p = T->place + s->place;
  uint32_t n = s->nplace - 1;
  for (; !p->f && !p->cfn && n > 0; n--)
    p++;
  *here = (LsTraceLine){
      .f = p->f, .pos = p->pos, .outer = p + 1, .nouter = n, .shared = n};
}

/* Add the code of an instruction. */
static void claim_add(LsClaim *c, LsFunc *f, uint32_t pos)
{
  if (!line_iscodeless(LS_BC_OP(f->bc[pos])))
    ls_claim_add(c, f, pos, NULL);
}

/* Add a path; ALL: functions that are called on it are on it, too. *SHARED: the
** callers that all have in common; others are of one snapshot only.
*/
static void claim_path(LsClaim *c, const LsPath *p, bool all, uint32_t *shared)
{
  unsigned k;
  uint32_t pos;
  c->functions = c->functions || !all;
  c->lines = c->lines || p->vague;
  for (k = 0; k < p->n; k++) {
    if (p->leg[k].nouter < *shared)
      *shared = p->leg[k].nouter;
    for (pos = p->leg[k].pos; pos < p->leg[k].end; pos++)
      claim_add(c, p->leg[k].f, pos);
  }
}

/* What the byte at OFS may be of, which is probably of snapshot I: from there
** on the path is P, with what it calls.
*/
static LsClaim claim_make(const LsTrace *T, uint32_t ofs, uint32_t i,
                          const LsPath *p, bool all)
{
  LsClaim c = {0};
  uint32_t first, last, k, shared = UINT32_MAX;
  line_range(T, ofs, i, &first, &last);
  claim_path(&c, p, all, &shared);
  for (k = first; k <= last; k++) {
    LsPath other;
    if (k == i)
      continue;
    ls_path_from(&other, T, k);
    all = ls_path_reveal(&other, T);
    claim_path(&c, &other, all, &shared);
  }
  c.shared = shared;
  c.functions = c.functions || last - first >= LINE_SNAPS;
  c.lines = c.lines || c.functions || !c.f;
  return c;
}

/* What an offset is of by the alignment, or NULL. A step of the collector may
** be of unknown functions.
*/
static const LsTraceSpan *line_span(const LsTrace *T, uint32_t ofs)
{
  uint32_t lo = 0, hi = T->nspan;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (T->span[mid].ofs <= ofs)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == 0 || (!T->span[lo - 1].f && !T->span[lo - 1].step))
    return NULL;
  return &T->span[lo - 1];
}

/* The leg and the instruction of a byte at OFS, on the path from snapshot I, as
** far as they can be told.
*/
static const LsLeg *line_likely(const LsTrace *T, const LsPath *p, uint32_t i,
                                uint32_t ofs, bool called, uint32_t *at)
{
  uint32_t begin = T->snap[i].mcofs, end = T->szmcode;
  if (i + 1 < T->nsnap)
    end = T->snap[i + 1].mcofs;
  if (ofs >= end || end <= begin)
    end = ofs + 1;
  return line_find(p, ofs - begin, end - begin, called, at);
}

/* A position in a leg. */
static void line_here(const LsLeg *leg, LsTraceLine *here)
{
  here->f = leg->f;
  here->outer = leg->outer;
  here->nouter = leg->nouter;
  for (here->nvia = 0; here->nvia < leg->nvia; here->nvia++)
    here->via[here->nvia] = leg->via[here->nvia];
}

/* What is known of a byte by the alignment. */
static void line_aligned(const LsTraceSpan *span, LsTraceLine *here)
{
  here->f = span->f;
  here->pos = span->pos;
  if (span->by) {
    here->outer = span->by->at;
    here->nouter = span->by->n;
    here->shared = span->shared;
  }
}

/* Whether what a span is of is on a path. */
static bool line_onpath(const LsPath *p, const LsTraceSpan *span)
{
  unsigned i;
  for (i = 0; i < p->n; i++)
    if (p->leg[i].f == span->f && span->pos >= p->leg[i].pos &&
        span->pos < p->leg[i].end)
      return true;
  return false;
}

/* Find it by the paths from snapshot I on, and a span that does not prove all,
** or none.
*/
static bool line_bypath(const LsTrace *T, uint32_t ofs, uint32_t i, bool called,
                        const LsTraceSpan *span, LsTraceLine *here)
{
  LsPath p;
  uint32_t next = ls_path_from(&p, T, i);
  LsClaim c;
  bool all;
  if (p.n == 0) {
    if (T->snap[next].nplace == 0)
      return false;
    line_there(T, &T->snap[next], here);
    here->unsure = true;
    return true;
  }
  all = ls_path_reveal(&p, T);
  if (span && !line_onpath(&p, span))
    span = NULL;
  c = claim_make(T, ofs, i, &p, all);
  *here = (LsTraceLine){.exact = !c.lines || (span && !span->lines),
                        .shared = c.shared,
                        .unsure = c.functions && (!span || span->functions)};
  if (span)
    line_aligned(span, here);
  else
    line_here(line_likely(T, &p, i, ofs, called, &here->pos), here);
  return true;
}

/* Whether the call at an offset may be a step of the collector, which is of no
** code around it: it is in front of all other code, or of that of the loop.
*/
static bool line_maystep(const LsTrace *T, uint32_t ofs)
{
  uint32_t i = line_before(T, ofs);
  return i == 0 || (ofs >= T->mcloop && T->snap[i].mcofs <= T->mcloop);
}

bool ls_traceline_find(const LsTrace *T, uint32_t ofs, bool called,
                       LsTraceLine *here)
{
  const LsTraceSpan *span = line_span(T, ofs);
  if (T->nsnap == 0)
    return false;
  if (span ? !span->f : called && line_maystep(T, ofs)) {
    bool found = line_bypath(T, ofs, line_before(T, ofs), called, NULL, here);
    here->exact = false;
    here->unsure = true;
    return found;
  }
  if (!span || ((span->lines || span->functions) && !span->step))
    return line_bypath(T, ofs, line_before(T, ofs), called, span, here);
  *here = (LsTraceLine){.exact = !span->lines, .unsure = span->functions};
  line_aligned(span, here);
  return true;
}

/*
** Which bytecode instructions emitted the IR of a trace: IR and bytecode have
** the same order. So an IR instruction cannot be of one before the earliest
** that its predecessors leave to it, nor of one behind the latest that its
** successors do.
*/

#include <limits.h>
#include <stdlib.h>

#include "irorigin.h"
#include "traceflow.h"

#define PATH_INS 2048 /* Bytecode instructions between two snapshots. */

/* The bytecode instructions that an IR instruction may be of. */
typedef struct Span {
  uint16_t first, last;
} Span;

/* The instructions of a path, and what they have still to give. */
typedef struct Path {
  const LsEmission *e;
  unsigned n;
  LsEmitter at[PATH_INS];
  uint32_t shared[PATH_INS]; /* Callers that each has in common with the one in
                             ** front of it. */
  uint16_t alike[PATH_INS]; /* The last one of the same function and callers. */
  uint8_t left[PATH_INS];   /* Bits of LS_ONE_*: not used yet. */
  Span span[];              /* Of IR instructions. */
} Path;

static void path_refill(Path *p)
{
  unsigned i;
  for (i = 0; i < p->n; i++)
    p->left[i] = p->at[i].once;
}

/* The kind of an IR instruction, and the group that it counts for if it is of
** instruction I.
*/
static uint32_t path_kind(const Path *p, unsigned i, const LsIns *ins,
                          unsigned *one)
{
  uint32_t kind = ls_emit_kind(ins, one);
  if (p->at[i].sums && *one == LS_ONE_ARITH &&
      !(kind & (LS_EMIT_ADD | LS_EMIT_SUB)))
    *one = LS_ONES;
  return kind;
}

/* Whether instruction I may still emit an IR instruction. It is used then. */
static bool path_take(Path *p, unsigned i, const LsIns *ins)
{
  unsigned one;
  uint32_t kind = path_kind(p, i, ins, &one);
  uint8_t bit = (uint8_t)(1u << one);
  if (!ls_emit_may(p->e, &p->at[i], ins, kind))
    return false;
  if (one == LS_ONES || !(p->at[i].once & bit) || ls_emit_passes(p->e, ins))
    return true;
  if (!(p->left[i] & bit))
    return false;
  p->left[i] &= (uint8_t)~bit;
  return true;
}

/* Whether an IR instruction is the last one of instruction I, if that emitted
** it: its result. If nil was loaded, a metatable is looked for.
*/
static bool path_ends(const Path *p, unsigned i, const LsIns *ins)
{
  const unsigned last = 1 << LS_ONE_ARITH | 1 << LS_ONE_ORDER;
  unsigned one;
  path_kind(p, i, ins, &one);
  if (one == LS_ONES || !(p->at[i].once >> one & 1) || p->at[i].tests)
    return false;
  return last >> one & 1 ||
         (one == LS_ONE_LOAD && (ins->type & LS_IRT_TYPE) != LS_IRT_NIL &&
          !ls_emit_passes(p->e, ins));
}

/* Give all IR instructions their earliest ones. Returns false if they cannot be
** of this path.
*/
static bool path_earliest(Path *p, const LsIns *ins, uint32_t n)
{
  uint32_t i;
  unsigned at = 0, one;
  path_refill(p);
  for (i = 0; i < n; i++) {
    if (ls_emit_kind(&ins[i], &one) == 0)
      continue;
    while (at < p->n && !path_take(p, at, &ins[i]))
      at++;
    if (at == p->n)
      return false;
    p->span[i].first = (uint16_t)at;
    at += path_ends(p, at, &ins[i]);
  }
  return true;
}

/* Likewise, their latest. */
static bool path_latest(Path *p, const LsIns *ins, uint32_t n)
{
  uint32_t i;
  unsigned at = p->n, one;
  bool used = true; /* `at` has emitted something behind. */
  path_refill(p);
  for (i = n; i-- > 0;) {
    if (ls_emit_kind(&ins[i], &one) == 0)
      continue;
    if (at == p->n) {
      at--;
      used = false;
    }
    for (; (used && path_ends(p, at, &ins[i])) || !path_take(p, at, &ins[i]);
         used = false)
      if (at-- == 0)
        return false;
    used = true;
    p->span[i].last = (uint16_t)at;
  }
  return true;
}

/* How likely an instruction is among those that may have emitted something: 0
** is the most. What may emit anything has often not done so, least of all the
** call of a function that is on the path.
*/
static unsigned emitter_rank(const LsEmitter *b)
{
  if (b->kinds != LS_EMIT_ALL)
    return 0;
  return b->leg->calls && b->pos + 1 == b->leg->end ? 2 : 1;
}

/* Add instruction K, which has SHARED callers in common with all before it. */
static void path_add(const Path *p, unsigned k, uint32_t shared, LsClaim *c)
{
  const LsEmitter *b = &p->at[k];
  LsClaim d = {.f = b->leg->f,
               .pos = b->pos,
               .line = b->line,
               .by = b->by,
               .shared = b->by ? b->by->n : 0};
  ls_claim_shared(c, &d, shared);
  c->functions = c->functions || b->open;
  c->lines = c->lines || b->open;
}

/* Find what callers instructions have in common. */
static void path_share(Path *p)
{
  unsigned i;
  p->shared[0] = 0;
  for (i = 1; i < p->n; i++)
    p->shared[i] = ls_callers_shared(p->at[i - 1].by, p->at[i].by);
  for (i = p->n; i-- > 0;) {
    const LsEmitter *b = &p->at[i];
    bool same = i + 1 < p->n && b[1].leg->f == b->leg->f && b[1].by == b->by &&
                b[1].open == b->open;
    p->alike[i] = same ? p->alike[i + 1] : (uint16_t)i;
  }
}

/* The likely one of those that may have emitted an IR instruction: of the
** lowest rank, and there nearest to WANT. Or the first one, if none may have.
*/
static unsigned path_likely(const Path *p, const Span *s, const LsIns *ins,
                            uint32_t kind, unsigned want)
{
  unsigned best = s->first, least = UINT_MAX, far, side;
  want = want < s->first ? s->first : want > s->last ? s->last : want;
  for (far = 0; least > 0 && far <= (unsigned)(s->last - s->first); far++)
    for (side = 0; side < 2; side++) {
      unsigned k = side ? want + far : want - far, rank;
      if (k < s->first || k > s->last ||
          !ls_emit_may(p->e, &p->at[k], ins, kind))
        continue;
      rank = emitter_rank(&p->at[k]);
      if (rank < least) {
        least = rank;
        best = k;
      }
    }
  return best;
}

/* What IR instruction I of N may be of. The likely one is first, as its share
** of the path.
*/
static LsClaim path_claim(const Path *p, const LsIns *ins, uint32_t i,
                          uint32_t n)
{
  const Span *s = &p->span[i];
  LsClaim all = {0}, c = {0};
  unsigned k, one;
  uint32_t kind = ls_emit_kind(ins, &one), shared = UINT32_MAX;
  for (k = s->first; k <= s->last; k++) {
    if (p->shared[k] < shared)
      shared = p->shared[k];
    if (!ls_emit_may(p->e, &p->at[k], ins, kind))
      continue;
    path_add(p, k, shared, &all);
    shared = UINT32_MAX;
    if (all.lines) /* Those that only are of other lines say nothing more. */
      k = p->alike[k];
  }
  path_add(p, path_likely(p, s, ins, kind, (unsigned)(i * p->n / n)), 0, &c);
  ls_claim_join(&c, &all);
  return c;
}

/* Whether the way through a function without snapshots is not known. */
static bool path_isvague(const LsPath *p)
{
  unsigned i;
  uint32_t pos;
  for (i = 0; i < p->n; i++)
    for (pos = p->leg[i].pos; p->leg[i].hidden && pos < p->leg[i].end; pos++)
      if (ls_flow_jumps(p->leg[i].f, pos))
        return true;
  return p->vague;
}

void ls_origin_read(const LsEmission *e, const LsPath *path, uint32_t ref,
                    uint32_t end, LsClaim *claim)
{
  const LsIns *ins = e->t->ins + (ref - LS_REF_BIAS);
  uint32_t i, n = end - ref;
  Path *p = malloc(sizeof(*p) + n * sizeof(*p->span));
  bool ok = p && !path_isvague(path);
  unsigned one;
  if (ok) {
    p->e = e;
    p->n = ls_emit_path(e, path, p->at, PATH_INS);
    ok = p->n > 0 && p->n < PATH_INS && path_earliest(p, ins, n) &&
         path_latest(p, ins, n);
  }
  if (ok)
    path_share(p);
  for (i = 0; i < n; i++) {
    if (!ok)
      claim[i] = (LsClaim){.functions = true, .lines = true};
    else if (ls_emit_kind(&ins[i], &one) == 0)
      claim[i] = (LsClaim){0};
    else
      claim[i] = path_claim(p, &ins[i], i, n);
  }
  free(p);
}

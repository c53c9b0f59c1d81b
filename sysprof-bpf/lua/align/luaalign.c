/*
** Alignment of a trace's machine code with bytecode, by its IR.
*/

#include <stdlib.h>

#include "irblocks.h"
#include "ircopy.h"
#include "luaalign.h"
#include "irorigin.h"
#include "irstep.h"

#define ALIGN_STEPS 60000 /* Of a trace: what is left then is not proven. */

static const LsClaim align_unknown = {.functions = true, .lines = true};

/* Where the IR of snapshot I ends. */
static uint32_t align_end(const LsIr *t, const LsTrace *T, uint32_t i)
{
  return i + 1 < T->nsnap ? t->raw[i + 1].ref : t->nins;
}

/* Where a trace begins, as what may be anything. */
static LsClaim align_begin(const LsTrace *T, LsPool *pool)
{
  const LsPlace *p = T->place + T->snap[0].place;
  LsClaim c = align_unknown;
  if (T->snap[0].nplace > 0 && p->f) {
    LsLeg leg = {.f = p->f, .outer = p + 1, .nouter = T->snap[0].nplace - 1};
    c.f = p->f;
    c.pos = p->pos;
    c.line = ls_func_line(p->f, p->pos);
    c.by = ls_callers_get(pool, &leg);
  }
  return c;
}

/* What is in front of the first snapshot: where values are when a side trace
** begins is of no line; what its parent has left to it, as objects that nothing
** has needed so far, is of unknown ones in front of where it begins.
*/
static void align_parent(const LsIr *t, const LsTrace *T, LsPool *pool,
                         LsClaim *claim)
{
  const LsClaim begin = align_begin(T, pool);
  uint32_t ref;
  for (ref = LS_REF_BIAS + 1; ref < t->raw[0].ref; ref++) {
    const LsIns *ins = &t->ins[ref - LS_REF_BIAS];
    if (ins->op != LS_IR_SLOAD && ins->op != LS_IR_PVAL)
      claim[ref - LS_REF_BIAS] = begin;
  }
}

/* Find what each IR instruction is of. Returns false if the snapshots have no
** order.
*/
static bool align_origin(const LsIr *t, const LsTrace *T, LsPool *pool,
                         LsClaim *claim)
{
  const LsRawSnap *raw = t->raw;
  LsEmission e;
  uint32_t i, ref;
  ls_emit_init(&e, t, T, pool);
  for (i = 0; i < T->nsnap; i++) {
    uint32_t end = align_end(t, T, i);
    bool behind = false;
    LsPath p;
    if (raw[i].ref <= LS_REF_BIAS || end < raw[i].ref || end > t->nins)
      return false;
    if (i == 0)
      align_parent(t, T, pool, claim);
    ls_path_from(&p, T, i);
    ls_path_reveal(&p, T);
    ls_origin_read(&e, &p, raw[i].ref, end, claim + (raw[i].ref - LS_REF_BIAS));
    for (ref = raw[i].ref; ref < end; ref++) {
      if (behind)
        claim[ref - LS_REF_BIAS] = align_unknown;
      behind = behind || t->ins[ref - LS_REF_BIAS].op == LS_IR_LOOP;
    }
  }
  return true;
}

/* Align the code between snapshots whose offsets are certain. */
static void align_blocks(const LsIr *t, const LsCode *c, const LsTrace *T,
                         const LsClaim *claim, LsClaim *out)
{
  LsClaim step[LS_STEPS];
  LsStretch s = {
      .t = t, .c = c, .ref = LS_REF_BIAS + 1, .head = true, .step = step};
  uint32_t i, steps = ALIGN_STEPS;
  ls_step_read(t, claim, step);
  for (i = 1; i < T->nsnap; i++) {
    uint32_t at = ls_code_at(c, T->snap[i].mcofs);
    if (T->snap[i].early != T->snap[i].late || at < s.first || at >= c->n ||
        c->ins[at].ofs != T->snap[i].mcofs)
      continue;
    s.end = t->raw[i].ref;
    s.last = at;
    ls_blocks_read(&s, claim, &steps, out);
    s.ref = s.end;
    s.first = s.last;
    s.head = false;
  }
  s.end = t->nins;
  s.last = c->n;
  s.tail = true;
  ls_blocks_read(&s, claim, &steps, out);
}

/* Keep what machine instructions are of, in as few spans as possible. */
static void align_keep(const LsCode *c, const LsClaim *out, LsTrace *T)
{
  LsTraceSpan *span = malloc(c->n * sizeof(*span));
  uint32_t i, n = 0;
  if (!span)
    return;
  for (i = 0; i < c->n; i++) {
    const LsClaim *o = &out[i], *was = &out[i > 0 ? i - 1 : 0];
    if (i > 0 && o->f == was->f && o->pos == was->pos && o->by == was->by &&
        o->shared == was->shared && o->functions == was->functions &&
        o->lines == was->lines && o->step == was->step)
      continue;
    span[n++] = (LsTraceSpan){.ofs = c->ins[i].ofs,
                              .pos = o->pos,
                              .f = o->f,
                              .by = o->by,
                              .shared = o->shared,
                              .functions = o->functions,
                              .lines = o->lines,
                              .step = o->step};
  }
  T->span = realloc(span, n * sizeof(*span));
  if (!T->span)
    T->span = span;
  T->nspan = n;
}

void ls_align_read(const LsIr *t, const LsCode *c, LsPool *pool, LsTrace *T)
{
  bool was = t->v->mem->bad; /* A constant may be gone. */
  LsClaim *claim, *out;
  if (!t->v->vm.irform || !t->map || T->nsnap == 0 || c->n == 0)
    return;
  claim = calloc(t->nins - LS_REF_BIAS, sizeof(*claim));
  out = calloc(c->n, sizeof(*out));
  if (claim && out && align_origin(t, T, pool, claim)) {
    ls_copy_read(t, claim);
    align_blocks(t, c, T, claim, out);
    align_keep(c, out, T);
  }
  t->v->mem->bad = was;
  free(claim);
  free(out);
}

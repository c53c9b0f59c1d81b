/*
** What code may be of: one line, or several.
*/

#ifndef LS_IRCLAIM_H
#define LS_IRCLAIM_H

#include "tracecallers.h"

typedef struct LsClaim {
  LsFunc *f; /* NULL: it is of nothing. */
  uint32_t pos, line;
  const LsCallers *by;   /* NULL: not known. */
  uint32_t shared;       /* So many of its outermost callers are certain. */
  bool functions, lines; /* There are several, or others. */
  bool step; /* The collector's step, for what the trace allocates somewhere. */
} LsClaim;

/* Add what may be of one line, whose callers have SHARED in common with those
** of *C.
*/
static inline void ls_claim_shared(LsClaim *c, const LsClaim *d,
                                   uint32_t shared)
{
  if (c->f) {
    if (d->f == c->f && c->by && d->by && c->by->n != d->by->n && shared > 0)
      shared--; /* It may be the nearest caller of the one, not of the other. */
    c->functions = c->functions || d->f != c->f;
    c->lines = c->lines || d->f != c->f || d->line != c->line;
    c->shared = shared < c->shared ? shared : c->shared;
    c->shared = d->shared < c->shared ? d->shared : c->shared;
  } else {
    c->f = d->f;
    c->pos = d->pos;
    c->line = d->line;
    c->by = d->by;
    c->shared = c->functions ? 0 : d->shared;
  }
}

/* Likewise, whatever they have in common. */
static inline void ls_claim_line(LsClaim *c, const LsClaim *d)
{
  ls_claim_shared(c, d, c->f ? ls_callers_shared(c->by, d->by) : 0);
}

/* Add an instruction with its callers, which may be NULL. */
static inline void ls_claim_add(LsClaim *c, LsFunc *f, uint32_t pos,
                                const LsCallers *by)
{
  LsClaim d = {.f = f,
               .pos = pos,
               .line = ls_func_line(f, pos),
               .by = by,
               .shared = by ? by->n : 0};
  ls_claim_line(c, &d);
}

/* Add another claim. */
static inline void ls_claim_join(LsClaim *c, const LsClaim *d)
{
  if (d->f)
    ls_claim_line(c, d);
  else if (d->functions)
    c->shared = 0;
  c->functions = c->functions || d->functions;
  c->lines = c->lines || d->lines;
  c->step = c->step || d->step;
}

#endif

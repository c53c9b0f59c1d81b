/*
** What code may be of: one line, or several.
*/

#ifndef LS_IRCLAIM_H
#define LS_IRCLAIM_H

#include "luafunc.h"

typedef struct LsClaim {
  LsFunc *f; /* NULL: it is of nothing. */
  uint32_t pos, line;
  bool functions, lines; /* There are several, or others. */
} LsClaim;

/* Add what may be of one line. */
static inline void ls_claim_line(LsClaim *c, LsFunc *f, uint32_t pos,
                                 uint32_t line)
{
  if (c->f) {
    c->functions = c->functions || f != c->f;
    c->lines = c->lines || f != c->f || line != c->line;
  } else {
    c->f = f;
    c->pos = pos;
    c->line = line;
  }
}

/* Add an instruction. */
static inline void ls_claim_add(LsClaim *c, LsFunc *f, uint32_t pos)
{
  ls_claim_line(c, f, pos, ls_func_line(f, pos));
}

/* Add another claim. */
static inline void ls_claim_join(LsClaim *c, const LsClaim *d)
{
  if (d->f)
    ls_claim_line(c, d->f, d->pos, d->line);
  c->functions = c->functions || d->functions;
  c->lines = c->lines || d->lines;
}

#endif

/*
** The callers of parts of a trace.
*/

#include <string.h>

#include "tracecallers.h"

#define CALLERS_MAX 256

/* Add one. All of it is set, as equal ones have to be equal bytes. */
static void callers_add(LsCallers *c, LsPlace p)
{
  LsPlace *to = &c->at[c->n++];
  memset(to, 0, sizeof(*to));
  to->f = p.f;
  to->cfn = p.cfn;
  to->pos = p.pos;
  to->ffid = p.ffid;
}

const LsCallers *ls_callers_get(LsPool *pool, const LsLeg *g)
{
  union {
    LsCallers c;
    char bytes[sizeof(LsCallers) + CALLERS_MAX * sizeof(LsPlace)];
  } u;
  uint32_t i;
  memset(&u.c, 0, sizeof(u.c));
  for (i = 0; i < g->nvia; i++)
    callers_add(&u.c, g->via[i]);
  for (i = 0; i < g->nouter && u.c.n < CALLERS_MAX; i++)
    callers_add(&u.c, g->outer[i]);
  return (const LsCallers *)(const void *)ls_pool_add(
      pool, u.bytes, sizeof(u.c) + u.c.n * sizeof(LsPlace));
}

/* Whether two callers are the same, as far as a profile shows them. */
static bool callers_same(const LsPlace *a, const LsPlace *b)
{
  if (!a->f || a->f != b->f)
    return a->f == b->f && a->cfn == b->cfn;
  return a->pos == b->pos ||
         ls_func_line(a->f, a->pos) == ls_func_line(b->f, b->pos);
}

uint32_t ls_callers_shared(const LsCallers *a, const LsCallers *b)
{
  uint32_t n = 0;
  if (a == b)
    return a ? a->n : 0;
  while (a && b && n < a->n && n < b->n &&
         callers_same(&a->at[a->n - 1 - n], &b->at[b->n - 1 - n]))
    n++;
  return n;
}

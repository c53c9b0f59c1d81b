/*
** Cycles among shared kids: strongly connected components (Tarjan, 1972),
** without recursion.
*/

#include <stdlib.h>
#include <string.h>

#include "cycles.h"

/* A kid on the way from where the search began. */
typedef struct Step {
  uint32_t kid;
  uint32_t edge;   /* The reference to go on with. */
  uint32_t number; /* In the order in which kids were met. */
  uint32_t low;    /* The least number to which it leads. */
} Step;

/* While a kid has no cycle, its `of` is its number and this mark. */
#define SEARCH_OPEN (1u << 31)

/* Memory of the lists is only touched as far as it is used. */
typedef struct Search {
  const LpSiblings *s;
  LpCycles *c;
  Step *path;
  uint32_t *open; /* Kids without a cycle yet. */
  uint32_t npath, nopen, nmet;
  uint32_t ndone; /* Kids with a cycle. */
} Search;

static void search_meet(Search *f, uint32_t kid)
{
  uint32_t number = f->nmet++;
  f->c->of[kid] = number | SEARCH_OPEN;
  f->path[f->npath++] = (Step){kid, f->s->first[kid], number, number};
  f->open[f->nopen++] = kid;
}

/* A kid on the path leads to a number. */
static void search_low(Search *f, uint32_t number)
{
  Step *at = &f->path[f->npath - 1];
  if (number < at->low)
    at->low = number;
}

/* All that the last kid of the path leads to was met. */
static void search_leave(Search *f)
{
  LpCycles *c = f->c;
  Step last = f->path[--f->npath];
  uint32_t at;
  if (f->npath)
    search_low(f, last.low);
  if (last.low != last.number)
    return;
  c->first[c->n] = f->ndone;
  do {
    at = f->open[--f->nopen];
    c->of[at] = c->n;
    c->order[f->ndone++] = at;
  } while (at != last.kid);
  c->n++;
}

/* Searches from one kid, depth first. */
static void search_run(Search *f, uint32_t from)
{
  search_meet(f, from);
  while (f->npath) {
    Step *at = &f->path[f->npath - 1];
    uint32_t to;
    if (at->edge == f->s->first[at->kid + 1]) {
      search_leave(f);
      continue;
    }
    to = f->s->to[at->edge++];
    if (f->c->of[to] == LP_NONE)
      search_meet(f, to);
    else if (f->c->of[to] & SEARCH_OPEN)
      search_low(f, f->c->of[to] & ~SEARCH_OPEN);
  }
}

void lp_cycles_open(LpCycles *c, const LpSiblings *s)
{
  size_t n = (size_t)s->n + 1, room = n * sizeof(uint32_t);
  Search f = {.s = s, .c = c};
  uint32_t i;
  *c = (LpCycles){0, lp_alloc(room), lp_alloc(room), lp_alloc(room)};
  memset(c->of, 0xff, room);
  f.path = lp_alloc(n * sizeof(*f.path));
  f.open = lp_alloc(room);
  for (i = 0; i < s->n; i++)
    if (s->shared[i] && c->of[i] == LP_NONE)
      search_run(&f, i);
  c->first[c->n] = f.ndone;
  free(f.path);
  free(f.open);
}

void lp_cycles_close(LpCycles *c)
{
  free(c->of);
  free(c->order);
  free(c->first);
  *c = (LpCycles){0};
}

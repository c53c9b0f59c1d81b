/*
** Cycles among shared kids: strongly connected components (Tarjan, 1972),
** without recursion.
*/

#include <stdlib.h>
#include <string.h>

#include "cycles.h"

/* -- References ------------------------------------------------------------ */

/* References that are being added. Memory that is not used is not touched. */
typedef struct Edges {
  LpRefs refs;
  size_t n, cap;
  uint32_t *last; /* Who refers to it already, + 1. */
} Edges;

static Edges edges_open(size_t n)
{
  Edges l = {.cap = 1024};
  l.refs.to = lp_alloc(l.cap * sizeof(*l.refs.to));
  l.refs.first = lp_alloc((n + 1) * sizeof(*l.refs.first));
  l.last = lp_zalloc(n + 1, sizeof(*l.last));
  return l;
}

/* Adds a reference, unless it is known. */
static void edges_add(Edges *l, uint32_t from, uint32_t to)
{
  if (l->last[to] == from + 1)
    return;
  l->last[to] = from + 1;
  if (l->n == l->cap) {
    l->cap *= 2;
    l->refs.to = lp_realloc(l->refs.to, l->cap, sizeof(*l->refs.to));
  }
  l->refs.to[l->n++] = to;
}

/* There are no more. */
static LpRefs edges_close(Edges *l, uint32_t n)
{
  l->refs.first[n] = (uint32_t)l->n;
  free(l->last);
  return l->refs;
}

static void refs_free(LpRefs *r)
{
  free(r->first);
  free(r->to);
  *r = (LpRefs){0};
}

/* Finds to which kids a shared one, or what it dominates, refers. */
static LpRefs refs_find(const LpDomTree *t, const LpSiblings *s)
{
  Edges l = edges_open(s->n);
  uint32_t i;
  for (i = 0; i < s->n; i++) {
    uint32_t at = s->shared[i] ? s->kid[i] : LP_NONE;
    l.refs.first[i] = (uint32_t)l.n;
    for (; at != LP_NONE; at = lp_kids_walk(t->kids, t->dom, s->kid[i], at)) {
      const LpEdge *e = lp_graph_first(t->g, at);
      for (; e; e = lp_graph_next(e)) {
        uint32_t to = lp_siblings_edge(s, t, at, e);
        if (to != LP_NONE)
          edges_add(&l, i, to);
      }
    }
  }
  return edges_close(&l, s->n);
}

/* -- Cycles ---------------------------------------------------------------- */

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
  const LpRefs *refs; /* Of kids. */
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
  f->path[f->npath++] = (Step){kid, f->refs->first[kid], number, number};
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
    if (at->edge == f->refs->first[at->kid + 1]) {
      search_leave(f);
      continue;
    }
    to = f->refs->to[at->edge++];
    if (f->c->of[to] == LP_NONE)
      search_meet(f, to);
    else if (f->c->of[to] & SEARCH_OPEN)
      search_low(f, f->c->of[to] & ~SEARCH_OPEN);
  }
}

/* Finds the cycles of kids, without their references. */
static void cycles_find(LpCycles *c, const LpSiblings *s, const LpRefs *refs)
{
  size_t n = (size_t)s->n + 1, room = n * sizeof(uint32_t);
  Search f = {.refs = refs, .c = c};
  uint32_t i;
  *c = (LpCycles){.of = lp_alloc(room), .order = lp_alloc(room)};
  c->first = lp_alloc(room);
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

/* The references of cycles are those of their kids. */
static LpRefs cycles_refs(const LpCycles *c, const LpRefs *refs)
{
  Edges l = edges_open(c->n);
  uint32_t at, i, k;
  for (at = 0; at < c->n; at++) {
    l.refs.first[at] = (uint32_t)l.n;
    for (i = c->first[at]; i < c->first[at + 1]; i++) {
      uint32_t kid = c->order[i];
      for (k = refs->first[kid]; k < refs->first[kid + 1]; k++)
        if (c->of[refs->to[k]] != at)
          edges_add(&l, at, c->of[refs->to[k]]);
    }
  }
  return edges_close(&l, c->n);
}

void lp_cycles_open(LpCycles *c, const LpDomTree *t, const LpSiblings *s)
{
  LpRefs refs = refs_find(t, s);
  cycles_find(c, s, &refs);
  c->refs = cycles_refs(c, &refs);
  refs_free(&refs);
}

void lp_cycles_close(LpCycles *c)
{
  free(c->of);
  free(c->order);
  free(c->first);
  refs_free(&c->refs);
  *c = (LpCycles){0};
}

uint64_t lp_cycles_bytes(const LpCycles *c, const LpDomTree *t,
                         const LpSiblings *s, uint32_t cycle)
{
  uint64_t sum = 0;
  uint32_t i;
  for (i = c->first[cycle]; i < c->first[cycle + 1]; i++)
    sum += t->dom->retained[s->kid[c->order[i]]];
  return sum;
}

void lp_cycles_above(const LpCycles *c, uint8_t *mark)
{
  const LpRefs *r = &c->refs;
  uint32_t at, k;
  for (at = 0; at < c->n; at++)
    for (k = r->first[at]; k < r->first[at + 1]; k++)
      mark[at] |= mark[r->to[k]];
}

/*
** Leak suspects: from the root down to where memory branches out. An object is
** one if it keeps enough that none of the objects below it keeps alone.
*/

#include <stdlib.h>

#include "suspects.h"

typedef struct Search {
  const LpHeap *h;
  uint64_t least; /* Bytes of a suspect. */
  uint32_t *open; /* Objects to look at. */
  size_t n, cap;
  LpSuspect *found;
  size_t nfound, most;
} Search;

/* -- Sums by shape --------------------------------------------------------- */

typedef struct Sum {
  uint32_t shape;
  uint64_t bytes, count;
} Sum;

typedef struct Tally {
  LpIdMap at; /* Shape -> its place in sum. */
  Sum *sum;
  size_t n, cap;
} Tally;

/* Add an object to the sum of its shape. */
static void tally_add(Tally *t, uint32_t shape, uint64_t bytes)
{
  uint32_t at = lp_idmap_add(&t->at, shape, (uint32_t)t->n);
  t->sum = lp_grow(t->sum, &t->cap, t->n + 1, sizeof(*t->sum));
  if (at == t->n)
    t->sum[t->n++] = (Sum){shape, 0, 0};
  t->sum[at].bytes += bytes;
  t->sum[at].count++;
}

/* The sum with most bytes, or NULL. */
static const Sum *tally_best(const Tally *t)
{
  const Sum *best = NULL, *s = t->sum;
  for (; s && s < t->sum + t->n; s++)
    if (s->bytes && (!best || s->bytes > best->bytes))
      best = s;
  return best;
}

/* Free the memory. */
static void tally_free(Tally *t)
{
  lp_idmap_free(&t->at);
  free(t->sum);
}

/* -- What a suspect keeps -------------------------------------------------- */

/* Of the shapes of what an object keeps directly, the one that keeps most. */
static void suspect_shape(const LpHeap *h, LpSuspect *s, uint64_t least)
{
  Tally sums = {0};
  const Sum *best;
  uint32_t kid = h->kids.first[s->id];
  for (; kid != LP_NONE; kid = h->kids.next[kid])
    if (h->shapes.of[kid] != LP_NONE && h->dom.retained[kid] < least)
      tally_add(&sums, h->shapes.of[kid], h->dom.retained[kid]);
  best = tally_best(&sums);
  if (best) {
    s->shape = best->shape;
    s->objects = best->count;
    s->retained = best->bytes;
  }
  tally_free(&sums);
}

/* The next object that the suspect dominates, behind one whose own are left
** out. LP_NONE at the end.
*/
static uint32_t suspect_skip(const LpHeap *h, uint32_t top, uint32_t at)
{
  while (at != top && h->kids.next[at] == LP_NONE)
    at = h->dom.parent[at];
  return at == top ? LP_NONE : h->kids.next[at];
}

/* The shape that says something and has most bytes, below a list of lists. */
static void suspect_inner(const LpHeap *h, LpSuspect *s, uint64_t least)
{
  Tally sums = {0};
  const Sum *best;
  uint32_t at = h->kids.first[s->id];
  while (at != LP_NONE) {
    uint32_t shape = h->shapes.of[at], kid = h->kids.first[at];
    int other = h->dom.retained[at] >= least; /* A suspect of its own. */
    if (!other && !lp_shape_isplain(h, shape) &&
        h->dump.graph.type[at] != LJM_TYPE_STRING)
      tally_add(&sums, shape, lp_graph_size(&h->dump.graph, at));
    at = other || kid == LP_NONE ? suspect_skip(h, s->id, at) : kid;
  }
  best = tally_best(&sums);
  if (best) {
    s->inner = best->shape;
    s->inners = best->count;
  }
  tally_free(&sums);
}

/* -- Where it accumulates -------------------------------------------------- */

/* A list: each of its objects keeps the next one, which looks alike. Returns
** how many there are from this one on, or 0.
*/
static uint64_t suspect_chain(const Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint64_t n = 0;
  for (;;) {
    uint32_t kid = h->kids.first[id], next = LP_NONE;
    for (; kid != LP_NONE; kid = h->kids.next[kid])
      if (h->shapes.of[kid] == h->shapes.of[id] &&
          h->shapes.of[kid] != LP_NONE &&
          h->dom.retained[kid] >= h->dom.retained[id] / 2)
        next = kid;
    if (next == LP_NONE)
      return n ? n + 1 : 0;
    id = next;
    n++;
  }
}

/* Add a suspect behind those that keep as much, unless there are enough. */
static void suspect_add(Search *s, uint32_t id, uint64_t bytes, uint64_t chain)
{
  LpSuspect one = {.id = id,
                   .bytes = bytes,
                   .shape = LP_NONE,
                   .chain = chain,
                   .inner = LP_NONE};
  size_t at;
  if (s->nfound == s->most)
    return;
  suspect_shape(s->h, &one, chain ? UINT64_MAX : s->least);
  if (!chain && one.shape != LP_NONE && lp_shape_isplain(s->h, one.shape))
    suspect_inner(s->h, &one, s->least);
  for (at = s->nfound++; at > 0 && s->found[at - 1].bytes < bytes; at--)
    s->found[at] = s->found[at - 1];
  s->found[at] = one;
}

/* Looks at an object that keeps enough: does it, or do some below it? */
static void suspect_look(Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint64_t rest = h->dom.retained[id];
  uint64_t chain = id == LP_GRAPH_ROOT ? 0 : suspect_chain(s, id);
  uint32_t kid = h->kids.first[id];
  if (chain > 2) {
    suspect_add(s, id, rest, chain);
    return;
  }
  for (; kid != LP_NONE; kid = h->kids.next[kid]) {
    if (h->dom.retained[kid] < s->least)
      continue;
    rest -= h->dom.retained[kid];
    s->open = lp_grow(s->open, &s->cap, s->n + 1, sizeof(*s->open));
    s->open[s->n++] = kid;
  }
  if (rest >= s->least && id != LP_GRAPH_ROOT)
    suspect_add(s, id, rest, 0);
}

size_t lp_suspects_above(const LpHeap *h, unsigned percent, LpSuspect *found,
                         size_t most)
{
  Search s = {.h = h, .found = found, .most = most};
  uint32_t at = LP_GRAPH_ROOT;
  if (!lp_heap_keeps(h))
    return 0;
  s.least = lp_heap_reached(h) / 100 * percent + 1;
  do {
    suspect_look(&s, at);
    at = s.n ? s.open[--s.n] : LP_NONE;
  } while (at != LP_NONE);
  free(s.open);
  return s.nfound;
}

size_t lp_suspects(const LpHeap *h, LpSuspect *found)
{
  return lp_suspects_above(h, LP_SUSPECT_PERCENT, found, LP_SUSPECTS);
}

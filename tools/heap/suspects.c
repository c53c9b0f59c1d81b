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

/* Of the shapes of what an object keeps directly, the one that keeps most. */
static void suspect_shape(const LpHeap *h, LpSuspect *s, uint64_t least)
{
  LpIdMap sums = {0};
  uint64_t *bytes = NULL, *count = NULL;
  size_t capb = 0, capc = 0, n = 0;
  uint32_t kid = h->kids.first[s->id];
  for (; kid != LP_NONE; kid = h->kids.next[kid]) {
    uint32_t shape = h->shapes.of[kid], at;
    if (shape == LP_NONE || h->dom.retained[kid] >= least)
      continue;
    at = lp_idmap_get(&sums, shape);
    if (at == LP_NONE) {
      at = (uint32_t)n++;
      bytes = lp_grow(bytes, &capb, n, sizeof(*bytes));
      count = lp_grow(count, &capc, n, sizeof(*count));
      lp_idmap_put(&sums, shape, at);
    }
    bytes[at] += h->dom.retained[kid];
    count[at]++;
    if (bytes[at] > s->retained) {
      s->shape = shape;
      s->objects = count[at];
      s->retained = bytes[at];
    }
  }
  lp_idmap_free(&sums);
  free(bytes);
  free(count);
}

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
          h->dom.retained[kid] > h->dom.retained[id] / 2)
        next = kid;
    if (next == LP_NONE)
      return n ? n + 1 : 0;
    id = next;
    n++;
  }
}

static void suspect_add(Search *s, uint32_t id, uint64_t bytes, uint64_t chain)
{
  LpSuspect one = {.id = id, .bytes = bytes, .shape = LP_NONE, .chain = chain};
  size_t at;
  if (s->nfound == s->most)
    return;
  suspect_shape(s->h, &one, chain ? UINT64_MAX : s->least);
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

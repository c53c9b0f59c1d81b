/*
** Tables with weak keys as if they were tables of ephemerons.
*/

#include <stdlib.h>
#include <string.h>

#include "ephemerons.h"
#include "mem.h"

/* A pair: the table keeps the value if the key is alive. */
typedef struct Pair {
  uint32_t table, key, value;
  uint32_t next; /* Of pairs with the same key, or LP_NONE. */
} Pair;

/* Flags of an object. */
enum { MARK_REACHED = 1, MARK_WEAK = 2, MARK_KEY = 4 };

typedef struct Walk {
  const LpGraph *g;
  const uint32_t *more;
  size_t nmore;
  Pair *pair;
  size_t npair, cappair;
  LpIdMap pairs; /* Key -> its first pair. */
  uint8_t *mark; /* By object: MARK_*. */
  uint32_t *todo;
  size_t left;
} Walk;

/* -- Pairs ----------------------------------------------------------------- */

/* Add a pair to those of its key. */
static void pair_add(Walk *w, uint32_t table, uint32_t key, uint32_t value)
{
  uint32_t first = lp_idmap_get(&w->pairs, key);
  w->pair = lp_grow(w->pair, &w->cappair, w->npair + 1, sizeof(*w->pair));
  w->pair[w->npair] = (Pair){table, key, value, LP_NONE};
  if (first == LP_NONE) {
    lp_idmap_put(&w->pairs, key, (uint32_t)w->npair);
  } else {
    w->pair[w->npair].next = w->pair[first].next;
    w->pair[first].next = (uint32_t)w->npair;
  }
  w->npair++;
  w->mark[key] |= MARK_KEY;
}

/* The pairs of a table. */
static void pair_table(Walk *w, uint32_t table)
{
  const LpEdge *e = lp_graph_first(w->g, table);
  w->mark[table] |= MARK_WEAK;
  for (; e; e = lp_graph_next(e)) {
    uint32_t key = lp_ephemeron_key(w->g, e);
    if (key != LP_NONE)
      pair_add(w, table, key, lp_edge_to(e));
  }
}

/* -- Walks ----------------------------------------------------------------- */

/* An object is reached. */
static void walk_push(Walk *w, uint32_t id)
{
  if (w->mark[id] & MARK_REACHED)
    return;
  w->mark[id] |= MARK_REACHED;
  w->todo[w->left++] = id;
}

/* Follow the references of an object. Pairs are followed if their key is ALIVE,
** or if that is NULL, reached.
*/
static void walk_visit(Walk *w, uint32_t id, const uint8_t *alive)
{
  const LpEdge *e = lp_graph_first(w->g, id);
  uint32_t i;
  for (; e; e = lp_graph_next(e)) {
    uint32_t key =
        w->mark[id] & MARK_WEAK ? lp_ephemeron_key(w->g, e) : LP_NONE;
    if (key == LP_NONE || ((alive ? alive : w->mark)[key] & MARK_REACHED))
      walk_push(w, lp_edge_to(e));
  }
  if (alive || !(w->mark[id] & MARK_KEY))
    return;
  for (i = lp_idmap_get(&w->pairs, id); i != LP_NONE; i = w->pair[i].next)
    if (w->mark[w->pair[i].table] & MARK_REACHED)
      walk_push(w, w->pair[i].value);
}

/* Mark all that is reached. Returns how many objects are. */
static size_t walk_all(Walk *w, const uint8_t *alive)
{
  size_t i, n = 0;
  for (i = 0; i < w->g->n; i++)
    w->mark[i] &= (uint8_t)~MARK_REACHED;
  walk_push(w, LP_GRAPH_ROOT);
  for (i = 0; i < w->nmore; i++)
    walk_push(w, w->more[i]);
  for (; w->left; n++)
    walk_visit(w, w->todo[--w->left], alive);
  return n;
}

/* Is the value of a pair not reached, or its key? */
static int walk_lacks(const Walk *w)
{
  size_t i;
  for (i = 0; i < w->npair; i++)
    if (!(w->mark[w->pair[i].value] & w->mark[w->pair[i].key] & MARK_REACHED))
      return 1;
  return 0;
}

/* Collections that clear keys one after the other: more are not tried. */
#define ROUNDS 64

/* Mark what is reached once the collector has cleared all keys that nothing
** has, and those that only a value of such a key had.
*/
static void walk_today(Walk *w)
{
  uint8_t *alive = lp_alloc(w->g->n);
  size_t n, before;
  int round;
  memset(alive, MARK_REACHED, w->g->n);
  n = walk_all(w, alive);
  for (round = 0; round < ROUNDS; round++) {
    before = n;
    memcpy(alive, w->mark, w->g->n);
    n = walk_all(w, alive);
    if (n == before)
      break;
  }
  free(alive);
}

/* -- The figures ----------------------------------------------------------- */

/* Compare what is reached with ephemerons with what is without. */
static void ephemerons_find(Walk *w, LpEphemerons *e)
{
  uint8_t *kept = lp_alloc(w->g->n);
  size_t i;
  memcpy(kept, w->mark, w->g->n);
  walk_today(w);
  for (i = 0; i < w->g->n; i++) {
    kept[i] = (w->mark[i] & ~kept[i] & MARK_REACHED) != 0;
    e->objects += kept[i];
    e->bytes += kept[i] ? lp_graph_size(w->g, (uint32_t)i) : 0;
  }
  if (e->objects)
    e->free = kept;
  else
    free(kept);
}

void lp_ephemerons(const LpGraph *g, const uint32_t *table, size_t n,
                   const uint32_t *more, size_t nmore, LpEphemerons *e)
{
  Walk w = {.g = g, .more = more, .nmore = nmore};
  size_t i;
  *e = (LpEphemerons){0};
  if (!n)
    return;
  w.mark = lp_zalloc(g->n, 1);
  for (i = 0; i < n; i++)
    pair_table(&w, table[i]);
  if (w.npair) {
    w.todo = lp_alloc(g->n * sizeof(*w.todo));
    walk_all(&w, NULL);
    if (walk_lacks(&w))
      ephemerons_find(&w, e);
  }
  free(w.todo);
  free(w.mark);
  free(w.pair);
  lp_idmap_free(&w.pairs);
}

void lp_ephemerons_free(LpEphemerons *e)
{
  free(e->free);
  *e = (LpEphemerons){0};
}

/*
** Leak suspects: from the root down to where memory branches out. An object is
** one if it keeps enough that none of the objects below it keeps alone, or that
** several entries of it keep which look alike.
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
  uint8_t *told; /* By object: TOLD_*. NULL: nothing of these is told. */
} Search;

#define TOLD_SHARED 1 /* In what several keep together, or their holder. */
#define TOLD_ENTRY  2 /* With others of its table, which is the suspect. */
#define TOLD_ALIKE  4 /* With others that the same objects keep together. */

/* Is an object told with others of its table? */
static int search_isentry(const Search *s, uint32_t id)
{
  return s->told && (s->told[id] & TOLD_ENTRY);
}

/* Is an object, which something is told of, a part of another suspect? */
static int search_other(const Search *s, uint32_t id)
{
  return !search_isentry(s, id) &&
         (s->h->dom.retained[id] >= s->least || (s->told && s->told[id]));
}

/* Is an object, which several keep together, told with their group? */
static int search_isshared(const Search *s, uint32_t id)
{
  return s->h->dom.retained[id] < s->least ||
         (s->told && (s->told[id] & TOLD_ALIKE));
}

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

/* Add the objects below one to their shapes, if these say something. */
static void tally_below(Tally *t, const Search *s, uint32_t top)
{
  const LpHeap *h = s->h;
  uint32_t at = h->kids.first[top];
  int all = /* No suspect is looked for below it. */
      search_isentry(s, top) || (s->told && (s->told[top] & TOLD_ALIKE));
  while (at != LP_NONE) {
    uint32_t shape = h->shapes.of[at];
    int other = !all && search_other(s, at);
    if (!other && !lp_shape_isplain(h, shape) &&
        h->dump.graph.type[at] != LJM_TYPE_STRING)
      tally_add(t, shape, lp_graph_size(&h->dump.graph, at));
    at = other ? lp_kids_skip(&h->kids, &h->dom, top, at)
               : lp_kids_walk(&h->kids, &h->dom, top, at);
  }
}

/* The parts of a suspect: what is shared, or what it keeps directly; without
** those of other suspects, and those without a shape.
*/
typedef struct Parts {
  const Search *s;
  const LpSuspect *one;
  size_t at;    /* The next one of a group; */
  uint32_t kid; /* or what the suspect keeps. */
} Parts;

static Parts parts_open(const Search *s, const LpSuspect *one)
{
  return (Parts){s, one, 0, s->h->kids.first[one->id]};
}

/* Is an object, which is in a group or kept by an object, a part of it? */
static int part_is(const Parts *p, uint32_t id)
{
  const LpHeap *h = p->s->h;
  if (h->shapes.of[id] == LP_NONE)
    return 0;
  if (p->one->shared)
    return search_isshared(p->s, id);
  return p->one->chain || !search_other(p->s, id);
}

/* The next part, or LP_NONE. */
static uint32_t parts_next(Parts *p)
{
  const LpShared *g = p->one->shared;
  for (;;) {
    uint32_t id = g && p->at == g->n ? LP_NONE : g ? g->id[p->at++] : p->kid;
    if (id == LP_NONE)
      return id;
    p->kid = p->s->h->kids.next[id];
    if (part_is(p, id))
      return id;
  }
}

/* For qsort: numbers in order. */
static int spread_compare(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

#define SPREAD_FAR 4 /* Times the median: it is said which one keeps more. */

/* What each of the objects of the shape keeps. */
static void suspect_spread(const Search *s, LpSuspect *one)
{
  Parts parts = parts_open(s, one);
  uint64_t *kept = lp_alloc(one->objects * sizeof(*kept));
  size_t n = 0;
  uint32_t id;
  while ((id = parts_next(&parts)) != LP_NONE) {
    uint64_t bytes = s->h->dom.retained[id];
    if (s->h->shapes.of[id] != one->shape)
      continue;
    if (bytes > one->largest) {
      one->largest = bytes;
      one->most = id;
    }
    kept[n++] = bytes;
  }
  qsort(kept, n, sizeof(*kept), spread_compare);
  one->median = kept[n / 2];
  if (one->largest / SPREAD_FAR < one->median)
    one->most = LP_NONE;
  free(kept);
}

/* Of the shapes of the parts, the one that keeps most. */
static void suspect_shape(const Search *s, LpSuspect *one)
{
  Parts parts = parts_open(s, one);
  Tally sums = {0};
  const Sum *best;
  uint32_t id;
  int entries = 0;
  while ((id = parts_next(&parts)) != LP_NONE) {
    tally_add(&sums, s->h->shapes.of[id], s->h->dom.retained[id]);
    entries |= search_isentry(s, id);
  }
  best = tally_best(&sums);
  if (best) {
    one->shape = best->shape;
    one->objects = best->count;
    one->retained = best->bytes;
  }
  tally_free(&sums);
  if (best && entries)
    suspect_spread(s, one);
}

/* The shape that says something and has most bytes, below parts that are lists
** and have the shape of most.
*/
static void suspect_inner(const Search *s, LpSuspect *one)
{
  Parts parts = parts_open(s, one);
  Tally sums = {0};
  const Sum *best;
  uint32_t id;
  while ((id = parts_next(&parts)) != LP_NONE)
    if (s->h->shapes.of[id] == one->shape)
      tally_below(&sums, s, id);
  best = tally_best(&sums);
  if (best) {
    one->inner = best->shape;
    one->inners = best->count;
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

/* Find the shapes of what a suspect keeps. */
static void suspect_shapes(const Search *s, LpSuspect *one)
{
  one->shape = one->inner = one->most = LP_NONE;
  suspect_shape(s, one);
  if (!one->chain && one->shape != LP_NONE &&
      lp_shape_isplain(s->h, one->shape))
    suspect_inner(s, one);
}

/* Add a suspect behind those that keep as much, unless there are enough. */
static void suspect_add(Search *s, LpSuspect one)
{
  size_t at;
  if (s->nfound == s->most)
    return;
  suspect_shapes(s, &one);
  for (at = s->nfound++; at > 0 && s->found[at - 1].bytes < one.bytes; at--)
    s->found[at] = s->found[at - 1];
  s->found[at] = one;
}

/* What a group keeps, suspects of their own aside. */
static uint64_t group_small(const Search *s, const LpShared *g)
{
  uint64_t bytes = 0;
  size_t i;
  for (i = 0; i < g->n; i++)
    if (search_isshared(s, g->id[i]))
      bytes += s->h->dom.retained[g->id[i]];
  return bytes;
}

/* A group is told, and its holders. Returns the bytes of holders that are in
** no other suspect.
*/
static uint64_t group_tell(Search *s, const LpShared *g)
{
  uint64_t bytes = 0;
  size_t i;
  for (i = 0; i < g->n; i++)
    if (search_isshared(s, g->id[i]))
      s->told[g->id[i]] |= TOLD_SHARED;
  for (i = 0; i < g->nholder; i++) {
    const LpHolder *holder = &g->holder[i];
    if (holder->edge != LP_NONE || search_isentry(s, holder->id) ||
        search_other(s, holder->id))
      continue;
    bytes += s->h->dom.retained[holder->id];
    s->told[holder->id] |= TOLD_SHARED;
  }
  return bytes;
}

/* Adds what kids of an object keep together, if that is enough. Returns the
** bytes, of which those are told.
*/
static uint64_t suspect_together(Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint64_t all = 0;
  size_t i;
  for (i = 0; i < h->sharing.n; i++) {
    const LpShared *g = &h->sharing.group[i];
    uint64_t bytes;
    if (g->top != id || g->nholder > LP_SUSPECT_HOLDERS)
      continue;
    bytes = group_small(s, g);
    if (bytes < s->least)
      continue;
    suspect_add(s, (LpSuspect){.id = g->id[0], .shared = g, .bytes = bytes});
    all += bytes + group_tell(s, g);
  }
  return all;
}

/* Is a reference of a table the value of a key that is a string? */
static int entry_isname(const LpGraph *g, const LpEdge *e)
{
  uint32_t key = lp_edge_detail(e);
  return lp_edge_kind(e) == LP_EDGE_FIELD &&
         (key >= g->n || g->type[key] == LJM_TYPE_STRING);
}

/* The shape of most names in a table that is a map by its keys, or LP_NONE. A
** module with many functions looks like a map, too, but its names lead to
** different things. An empty table may be a list or a map of anything.
*/
static uint32_t entry_mostly(const LpHeap *h, uint32_t table)
{
  const LpGraph *g = &h->dump.graph;
  const LpEdge *e = lp_graph_first(g, table);
  size_t keys = 0, values = 0, empty = 0;
  Tally sums = {0};
  const Sum *best;
  uint32_t shape = LP_NONE;
  for (; e; e = lp_graph_next(e)) {
    uint32_t to = lp_edge_to(e), of = h->shapes.of[to];
    keys += lp_edge_kind(e) == LP_EDGE_KEY && g->type[to] == LJM_TYPE_STRING;
    if (!entry_isname(g, e))
      continue;
    values++;
    if (of != LP_NONE && lp_shape_isplain(h, of) &&
        (g->flags[to] & LP_NODE_EMPTY))
      empty++;
    else if (of != LP_NONE)
      tally_add(&sums, of, 1);
  }
  best = tally_best(&sums);
  if (best && best->count + (lp_shape_isplain(h, best->shape) ? empty : 0) >
                  (keys > values ? keys : values) / 2)
    shape = best->shape;
  tally_free(&sums);
  return shape;
}

/* The shape of the names in a table that are those of entries, or LP_NONE.
** Those of a record, of globals and of modules are there for different things.
*/
static uint32_t entry_shape(const LpHeap *h, uint32_t table)
{
  if (h->paths.from[table] == LP_GRAPH_ROOT ||
      table == lp_dump_modules(&h->dump) || !lp_shape_ismap(h, table))
    return LP_NONE;
  return entry_mostly(h, table);
}

/* Is a shape that of entries? All lists and maps are, if some are. */
static int entry_is(const LpHeap *h, uint32_t of, uint32_t shape)
{
  return shape != LP_NONE && (of == shape || (lp_shape_isplain(h, of) &&
                                              lp_shape_isplain(h, shape)));
}

/* Can an object be one of many entries of the table that keeps it? Names that
** do not lead to the SHAPE of entries are there for different things, even if
** they look alike.
*/
static int entry_can(const LpHeap *h, uint32_t table, uint32_t id,
                     uint32_t shape)
{
  const LpEdge *e = &h->dump.graph.edge[h->paths.edge[id]];
  LpEdgeKind kind = lp_edge_kind(e);
  if (entry_isname(&h->dump.graph, e))
    return entry_is(h, h->shapes.of[id], shape) ||
           (!lp_shape_isplain(h, h->shapes.of[id]) &&
            h->paths.from[table] != LP_GRAPH_ROOT);
  return kind == LP_EDGE_FIELD || kind == LP_EDGE_ITEM || kind == LP_EDGE_VALUE;
}

/* Keep those of N objects of whose shape there are enough. Returns how many
** that are.
*/
static size_t entries_alike(const LpHeap *h, uint32_t *id, size_t n)
{
  const uint32_t *shape = h->shapes.of;
  uint8_t keep[LP_SUSPECT_ALIKE];
  size_t kept = 0, i, k;
  for (i = 0; i < n; i++) {
    unsigned alike = 0;
    for (k = 0; k < n; k++)
      alike += shape[id[k]] == shape[id[i]];
    keep[i] = alike >= LP_SUSPECT_ENTRIES;
  }
  for (i = 0; i < n; i++)
    if (keep[i])
      id[kept++] = id[i];
  return kept;
}

size_t lp_suspect_entries(const LpHeap *h, uint32_t table, const uint64_t *kept,
                          uint64_t least, uint64_t few,
                          uint32_t id[LP_SUSPECT_ALIKE])
{
  uint32_t kid = h->kids.first[table];
  uint32_t shape = LP_NONE; /* Of entries by name, */
  int known = 0;            /* if it was looked for. */
  size_t n = 0;
  for (; kid != LP_NONE && n < LP_SUSPECT_ALIKE; kid = h->kids.next[kid]) {
    if (kept[kid] < least || h->paths.from[kid] != table ||
        h->shapes.of[kid] == LP_NONE)
      continue;
    if (!known++)
      shape = entry_shape(h, table);
    if (kept[kid] < few || entry_can(h, table, kid, shape))
      id[n++] = kid;
  }
  return entries_alike(h, id, n);
}

/* Entries of a table are marked: the table is told, not each of them. */
static void suspect_entries(Search *s, uint32_t table)
{
  uint32_t id[LP_SUSPECT_ALIKE];
  size_t n =
      lp_suspect_entries(s->h, table, s->h->dom.retained, s->least, 0, id);
  while (n-- > 0)
    s->told[id[n]] |= TOLD_ENTRY;
}

/* Marks objects of a group that keep enough and look alike. */
static void group_alike(Search *s, const LpShared *g)
{
  const LpHeap *h = s->h;
  uint32_t id[LP_SUSPECT_ALIKE];
  size_t n = 0, i;
  for (i = 0; i < g->n && n < LP_SUSPECT_ALIKE; i++)
    if (h->dom.retained[g->id[i]] >= s->least &&
        h->shapes.of[g->id[i]] != LP_NONE)
      id[n++] = g->id[i];
  n = entries_alike(h, id, n);
  while (n-- > 0)
    s->told[id[n]] |= TOLD_ALIKE;
}

/* Marks what is told as one: entries of an object, and what some of its kids
** keep together.
*/
static void suspect_mark(Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  size_t i;
  suspect_entries(s, id);
  for (i = 0; i < h->sharing.n; i++) {
    const LpShared *g = &h->sharing.group[i];
    if (g->top == id && g->nholder <= LP_SUSPECT_HOLDERS)
      group_alike(s, g);
  }
}

/* Looks at an object that keeps enough: does it, or do some below it? */
static void suspect_look(Search *s, uint32_t id)
{
  const LpHeap *h = s->h;
  uint64_t rest = h->dom.retained[id], told;
  uint64_t chain = id == LP_GRAPH_ROOT ? 0 : suspect_chain(s, id);
  uint32_t kid = h->kids.first[id];
  if (chain > 2) {
    suspect_add(s, (LpSuspect){.id = id, .bytes = rest, .chain = chain});
    return;
  }
  suspect_mark(s, id);
  for (; kid != LP_NONE; kid = h->kids.next[kid]) {
    if (h->dom.retained[kid] < s->least ||
        (s->told[kid] & (TOLD_ENTRY | TOLD_ALIKE)))
      continue;
    rest -= h->dom.retained[kid];
    s->open = lp_grow(s->open, &s->cap, s->n + 1, sizeof(*s->open));
    s->open[s->n++] = kid;
  }
  told = suspect_together(s, id);
  rest = rest > told ? rest - told : 0;
  if (rest >= s->least && id != LP_GRAPH_ROOT)
    suspect_add(s, (LpSuspect){.id = id, .bytes = rest});
}

size_t lp_suspects_above(const LpHeap *h, unsigned percent, LpSuspect *found,
                         size_t most)
{
  Search s = {.h = h, .found = found, .most = most};
  uint32_t at = LP_GRAPH_ROOT;
  if (!lp_heap_keeps(h))
    return 0;
  s.least = lp_heap_reached(h) / 100 * percent + 1;
  s.told = lp_zalloc(h->dump.graph.n, 1);
  do {
    suspect_look(&s, at);
    at = s.n ? s.open[--s.n] : LP_NONE;
  } while (at != LP_NONE);
  free(s.open);
  free(s.told);
  return s.nfound;
}

size_t lp_suspects(const LpHeap *h, LpSuspect *found)
{
  return lp_suspects_above(h, LP_SUSPECT_PERCENT, found, LP_SUSPECTS);
}

LpSuspect lp_suspect_shared(const LpHeap *h, const LpShared *g)
{
  Search s = {.h = h, .least = UINT64_MAX};
  LpSuspect one = {.id = g->id[0], .shared = g, .bytes = g->bytes};
  suspect_shapes(&s, &one);
  return one;
}

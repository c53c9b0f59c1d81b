/*
** Objects that a text names.
*/

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

#define NAMED_STEPS 64 /* Of a path, before its middle is left out. */

/* Marks of objects. */
enum { NAMED_IS = 1, NAMED_BELOW = 2 };

/* -- A path ---------------------------------------------------------------- */

/* Where a search has come to: an object, and how much of the text leads to it.
 */
typedef struct Place {
  uint32_t id;
  uint32_t at;
} Place;

typedef struct Search {
  const LpHeap *h;
  const char *text;
  size_t n; /* Of its bytes. */
  Place *place;
  size_t nplace, cap;
  LpIdMap known; /* Places. */
} Search;

/* Remember that the text up to AT leads to an object, once. */
static void search_add(Search *s, uint32_t id, size_t at)
{
  uint64_t key = (uint64_t)id << 32 | at;
  if (lp_idmap_put(&s->known, key, 0) != LP_NONE)
    return;
  s->place = lp_grow(s->place, &s->cap, s->nplace + 1, sizeof(*s->place));
  s->place[s->nplace++] = (Place){id, (uint32_t)at};
}

/* All steps from a place that go on as the text does. */
static void search_steps(Search *s, Place from, LpBuf *step)
{
  const LpEdge *e = lp_graph_first(&s->h->dump.graph, from.id);
  for (; e; e = lp_graph_next(e)) {
    step->n = 0;
    lp_buf_puts(step, "");
    lp_path_step(step, &s->h->dump, from.id, e);
    if (step->n <= s->n - from.at &&
        memcmp(s->text + from.at, step->s, step->n) == 0)
      search_add(s, lp_edge_to(e), from.at + step->n);
  }
}

/* All places that the text leads to; those at its end are not passed. */
static Search search_run(const LpHeap *h, const char *text)
{
  Search s = {.h = h, .text = text, .n = strlen(text)};
  LpBuf step = {0};
  size_t i;
  search_add(&s, LP_GRAPH_ROOT, 0);
  for (i = 0; i < s.nplace; i++)
    if (s.place[i].at < s.n)
      search_steps(&s, s.place[i], &step);
  lp_idmap_free(&s.known);
  lp_buf_free(&step);
  return s;
}

/* Marks the objects at the end of a path. Returns how many there are. */
static size_t find_path(const LpHeap *h, const char *text, char *mark)
{
  Search s = search_run(h, text);
  size_t i, count = 0;
  for (i = 1; i < s.nplace; i++) { /* The first one is the root. */
    Place p = s.place[i];
    if (p.at < s.n)
      continue;
    count += mark[p.id] == 0;
    mark[p.id] = NAMED_IS;
  }
  free(s.place);
  return count;
}

uint32_t *lp_heap_at(const LpHeap *h, const char *path, size_t *n)
{
  Search s = search_run(h, path);
  uint32_t *id = lp_alloc((s.nplace + 1) * sizeof(*id));
  size_t i;
  *n = 0;
  for (i = 0; i < s.nplace; i++)
    if (s.place[i].at == s.n)
      id[(*n)++] = s.place[i].id;
  free(s.place);
  return id;
}

size_t lp_heap_find_far(const LpHeap *h, const char *text, uint32_t *id)
{
  Search s = search_run(h, text);
  size_t i, far = 0;
  *id = LP_GRAPH_ROOT;
  for (i = 0; i < s.nplace; i++) {
    if (s.place[i].at <= far)
      continue;
    far = s.place[i].at;
    *id = s.place[i].id;
  }
  free(s.place);
  return far;
}

/* -- A pattern ------------------------------------------------------------- */

/* Marks objects whose path matches, but not those that these dominate. */
static void find_pattern(const LpHeap *h, const char *glob, char *mark)
{
  LpBuf name = {0};
  uint32_t i;
  for (i = 1; i < h->dom.n; i++) {
    uint32_t id = h->dom.order[i];
    if (mark[h->dom.parent[id]]) {
      mark[id] = NAMED_BELOW;
      continue;
    }
    name.n = 0;
    lp_path_name(&name, &h->dump, &h->paths, id, NAMED_STEPS);
    if (name.n && fnmatch(glob, name.s, 0) == 0)
      mark[id] = NAMED_IS;
  }
  lp_buf_free(&name);
}

/* -- Sums ------------------------------------------------------------------ */

/* Adds up the objects with marks that are below no other one. */
static LpFound find_sum(const LpHeap *h, char *mark)
{
  LpFound sum = {.most = LP_NONE};
  uint32_t i;
  for (i = 1; i < h->dom.n; i++) {
    uint32_t id = h->dom.order[i];
    uint64_t bytes = h->dom.retained[id];
    int below = mark[h->dom.parent[id]] != 0;
    if (mark[id] == NAMED_IS && !below) {
      sum.objects++;
      sum.retained += bytes;
      if (sum.most == LP_NONE || bytes > sum.bytes) {
        sum.most = id;
        sum.bytes = bytes;
      }
    }
    if (below)
      mark[id] = NAMED_BELOW;
  }
  return sum;
}

/* Is one of a group's holders an object with a mark, or below one? */
static int find_holds(const LpShared *g, const char *mark)
{
  size_t i;
  for (i = 0; i < g->nholder; i++)
    if (mark[g->holder[i].id])
      return 1;
  return 0;
}

/* Adds what the objects with marks, of which SUM is, keep with others. What is
** in a group gets a mark, too, so that each byte counts once.
*/
static void find_shared(const LpHeap *h, char *mark, LpFound *sum)
{
  size_t i, k;
  uint64_t most = 0;
  for (i = 0; i < h->sharing.n; i++) {
    const LpShared *g = &h->sharing.group[i];
    if (mark[g->top] || !find_holds(g, mark))
      continue;
    for (k = 0; k < g->n; k++)
      mark[g->id[k]] = NAMED_IS;
    if (g->bytes > most) {
      most = g->bytes;
      sum->group = g;
    }
  }
  sum->shared = sum->group ? find_sum(h, mark).retained : sum->retained;
}

LpFound lp_heap_find(const LpHeap *h, const char *text)
{
  char *mark = lp_zalloc(h->dump.graph.n, 1);
  LpFound sum;
  if (!find_path(h, text, mark))
    find_pattern(h, text, mark);
  sum = find_sum(h, mark);
  find_shared(h, mark, &sum);
  free(mark);
  return sum;
}

LpFound lp_heap_find_path(const LpHeap *h, const char *text)
{
  size_t n;
  uint32_t *id = lp_heap_at(h, text, &n), one = n == 1 ? id[0] : LP_GRAPH_ROOT;
  char *mark;
  LpFound sum = {.most = LP_NONE};
  free(id);
  if (n == 0)
    return sum;
  if (one != LP_GRAPH_ROOT) /* Nearly always: no objects are marked. */
    return (LpFound){.retained = h->dom.retained[one],
                     .objects = 1,
                     .most = one,
                     .bytes = h->dom.retained[one]};
  mark = lp_zalloc(h->dump.graph.n, 1);
  find_path(h, text, mark);
  sum = find_sum(h, mark);
  free(mark);
  return sum;
}

/* -- An address, a path, a shape ------------------------------------------- */

/* The object at an address, 0x and digits; or LP_NONE. */
static uint32_t named_address(const LpHeap *h, const char *s)
{
  const LpGraph *g = &h->dump.graph;
  uint64_t addr;
  char *end;
  uint32_t id;
  errno = 0;
  addr = strtoull(s, &end, 16);
  if (strncmp(s, "0x", 2) != 0 || *end || errno)
    return LP_NONE;
  for (id = 1; id < g->n; id++)
    if (g->node[id].addr == addr && (g->flags[id] & LP_NODE_DEFINED))
      return id;
  return LP_NONE;
}

/* The shapes whose names contain a text. The caller frees the array. */
static char *named_shapes(const LpHeap *h, const char *text)
{
  char *is = lp_zalloc(h->shapes.keys.n + 1, 1);
  LpBuf b = {0};
  uint32_t i;
  for (i = 0; i < h->shapes.keys.n; i++) {
    b.n = 0;
    lp_shape_name(&b, h, i);
    is[i] = strstr(b.s, text) ? 1 : 0;
  }
  lp_buf_free(&b);
  return is;
}

uint32_t *lp_heap_named(const LpHeap *h, const char *text, size_t *n)
{
  uint32_t one = named_address(h, text), id, *found = NULL;
  size_t cap = 0;
  char *is;
  *n = 0;
  if (one == LP_NONE)
    one = lp_heap_find_path(h, text).most;
  if (one != LP_NONE) {
    found = lp_alloc(sizeof(*found));
    found[(*n)++] = one;
    return found;
  }
  is = named_shapes(h, text);
  for (id = 1; id < h->dump.graph.n; id++) {
    if (h->shapes.of[id] == LP_NONE || !is[h->shapes.of[id]])
      continue;
    found = lp_grow(found, &cap, *n + 1, sizeof(*found));
    found[(*n)++] = id;
  }
  free(is);
  return found;
}

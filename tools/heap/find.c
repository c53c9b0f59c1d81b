/*
** Objects that a text names.
*/

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

/* Marks the objects at the end of a path. Returns how many there are. */
static size_t find_path(const LpHeap *h, const char *text, char *mark)
{
  Search s = {.h = h, .text = text, .n = strlen(text)};
  LpBuf step = {0};
  size_t i, count = 0;
  search_add(&s, LP_GRAPH_ROOT, 0);
  for (i = 0; i < s.nplace; i++) {
    Place p = s.place[i];
    if (p.at == s.n && p.id != LP_GRAPH_ROOT) {
      count += mark[p.id] == 0;
      mark[p.id] = NAMED_IS;
    } else {
      search_steps(&s, p, &step);
    }
  }
  lp_idmap_free(&s.known);
  lp_buf_free(&step);
  free(s.place);
  return count;
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
  char *mark = lp_zalloc(h->dump.graph.n, 1);
  LpFound sum;
  find_path(h, text, mark);
  sum = find_sum(h, mark);
  free(mark);
  return sum;
}

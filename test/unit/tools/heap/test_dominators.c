/*
** Dominators and retained sizes against brute force: an object is taken away,
** and what cannot be reached any more is what it kept.
*/

#include <stdlib.h>
#include <string.h>

#include "dominators.h"
#include "suites.h"

#define OBJECTS 40
#define HEAPS   5000

/* A heap of known references. Object 0 is the root. */
typedef struct Heap {
  unsigned n;
  unsigned char ref[OBJECTS][OBJECTS]; /* How many, from one to another. */
} Heap;

static uint64_t state;

static unsigned random_below(unsigned n)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

static uint64_t addr_of(unsigned i)
{
  return i ? 0x7f0000001000 + i * 32ull : 0;
}

static uint64_t size_of(unsigned i)
{
  return i ? 24 + (i * 37ull) % 1000 : 0;
}

/* Shapes differ: a list, a tree, or few, many or no references. */
static void heap_make(Heap *h)
{
  unsigned i, n, refs, list;
  memset(h, 0, sizeof(*h));
  h->n = 2 + random_below(OBJECTS - 2);
  refs = random_below(3 * h->n);
  list = random_below(3);
  for (i = 0; i + 1 < h->n; i++) {
    if (list == 1)
      h->ref[i][i + 1] = 1;
    else if (list == 2)
      h->ref[i / 2][i + 1] = 1;
  }
  for (n = 0; n < refs; n++)
    h->ref[random_below(h->n)][1 + random_below(h->n - 1)]++;
}

/* Marks what is reached from an object, but not through the one WITHOUT. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are few objects. */
static void heap_reach(const Heap *h, unsigned from, unsigned without,
                       unsigned char *seen)
{
  unsigned i;
  if (seen[from] || from == without)
    return;
  seen[from] = 1;
  for (i = 0; i < h->n; i++)
    if (h->ref[from][i])
      heap_reach(h, i, without, seen);
}

static void heap_graph(const Heap *h, LpGraph *g)
{
  LpEdge root[OBJECTS * 3 * OBJECTS];
  size_t nroot = 0;
  unsigned i, to, n;
  lp_graph_open(g);
  for (i = h->n; i-- > 1;) { /* Mentioned before they are defined. */
    ck_assert(lp_graph_object(g, addr_of(i), LJM_TYPE_TABLE, size_of(i), 0) !=
              LP_NONE);
    for (to = 1; to < h->n; to++)
      for (n = 0; n < h->ref[i][to]; n++)
        lp_graph_edge(g, LP_EDGE_ITEM, to, addr_of(to));
  }
  for (to = 1; to < h->n; to++)
    for (n = 0; n < h->ref[0][to]; n++)
      root[nroot++] = (LpEdge){lp_graph_id(g, addr_of(to)), 0};
  lp_graph_seal(g, root, nroot);
}

/* What is kept by each object, and that its dominator is the nearest of those
** without which it is not reached.
*/
static void heap_check(const Heap *h, LpGraph *g, const LpDominators *d)
{
  unsigned char all[OBJECTS] = {0}, left[OBJECTS];
  unsigned i, j;
  heap_reach(h, 0, OBJECTS, all);
  for (i = 0; i < h->n; i++) {
    uint32_t id = i ? lp_graph_id(g, addr_of(i)) : LP_GRAPH_ROOT;
    uint64_t kept = 0;
    ck_assert_int_eq(lp_dominators_has(d, id), all[i]);
    if (!all[i])
      continue;
    memset(left, 0, sizeof(left));
    heap_reach(h, 0, i, left);
    for (j = 0; j < h->n; j++) {
      uint32_t up = j ? lp_graph_id(g, addr_of(j)) : LP_GRAPH_ROOT;
      int below = all[j] && !left[j];
      kept += below ? size_of(j) : 0;
      while (up != id && up != LP_NONE)
        up = up == LP_GRAPH_ROOT ? LP_NONE : d->parent[up];
      ck_assert_int_eq(up == id, below);
    }
    ck_assert_uint_eq(d->retained[id], kept);
  }
}

START_TEST(as_brute_force)
{
  unsigned i;
  for (i = 0; i < HEAPS; i++) {
    LpDominators d;
    LpGraph g;
    Heap h;
    state = i;
    heap_make(&h);
    heap_graph(&h, &g);
    lp_dominators(&g, &d);
    heap_check(&h, &g, &d);
    lp_dominators_free(&d);
    lp_graph_close(&g);
  }
}
END_TEST

/* A list of many: no recursion. */
START_TEST(deep_list)
{
  enum { MANY = 3000000 };
  LpDominators d;
  LpGraph g;
  LpEdge root;
  uint32_t i;
  lp_graph_open(&g);
  for (i = 1; i <= MANY; i++) {
    lp_graph_object(&g, i * 32ull, LJM_TYPE_TABLE, 10, 0);
    if (i < MANY)
      lp_graph_edge(&g, LP_EDGE_ITEM, 1, (i + 1) * 32ull);
    if (i % 1000 == 0) /* And back. */
      lp_graph_edge(&g, LP_EDGE_ITEM, 2, (i - 999) * 32ull);
  }
  root = (LpEdge){lp_graph_id(&g, 32), 0};
  lp_graph_seal(&g, &root, 1);
  lp_dominators(&g, &d);
  ck_assert_uint_eq(d.n, MANY + 1);
  ck_assert_uint_eq(d.retained[LP_GRAPH_ROOT], 10ull * MANY);
  for (i = 1; i < MANY; i++)
    ck_assert_uint_eq(d.parent[lp_graph_id(&g, (i + 1) * 32ull)],
                      lp_graph_id(&g, i * 32ull));
  lp_dominators_free(&d);
  lp_graph_close(&g);
}
END_TEST

Suite *suite_dominators(void)
{
  const TTest *tests[] = {as_brute_force, deep_list, NULL};
  return suite_of("dominators", tests);
}

/*
** Dominators and retained sizes against brute force: an object is taken away,
** and what cannot be reached any more is what it kept.
*/

#include <stdlib.h>
#include <string.h>

#include "dominators.h"
#include "random_heap.h"
#include "suites.h"

/* What is kept by each object, and that its dominator is the nearest of those
** without which it is not reached.
*/
static void heap_check(const RandomHeap *h, LpGraph *g, const LpDominators *d)
{
  unsigned char all[RANDOM_OBJECTS] = {0}, left[RANDOM_OBJECTS];
  unsigned i, j;
  random_reach(h, 0, NULL, all);
  for (i = 0; i < h->n; i++) {
    uint32_t id = random_id(g, i);
    RandomCut cut = {0};
    uint64_t kept = 0;
    ck_assert_int_eq(lp_dominators_has(d, id), all[i]);
    if (!all[i])
      continue;
    memset(left, 0, sizeof(left));
    cut.object[i] = 1;
    random_reach(h, 0, &cut, left);
    for (j = 0; j < h->n; j++) {
      uint32_t up = random_id(g, j);
      int below = all[j] && !left[j];
      kept += below ? random_size(j) : 0;
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
  for (i = 0; i < RANDOM_HEAPS; i++) {
    LpDominators d;
    RandomHeap h;
    LpGraph g;
    random_heap(&h, i);
    random_graph(&h, &g);
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

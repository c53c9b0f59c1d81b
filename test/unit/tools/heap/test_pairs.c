/*
** Two small heaps side by side: what is the same in both, what is by itself,
** names, and that no object is lost or told twice.
*/

#include <stdlib.h>
#include <string.h>

#include "births.h"
#include "heap_graph.h"
#include "pairs.h"
#include "suites.h"

#define PAIRS_HEAPS 300

/* The pairs below the only object of the roots, or below the roots. */
static LpPairs pairs_of(const LpPairing *g, int deeper, uint64_t least,
                        uint64_t apart)
{
  LpPair root = lp_pair_root(g);
  LpPairs below;
  lp_pair_absorb(&root, g);
  below = lp_pairs_below(g, &root, 1, 1);
  if (deeper) {
    LpPair top = below.p[0];
    below.p[0] = (LpPair){0};
    lp_pairs_free(&below);
    lp_pair_absorb(&top, g);
    below = lp_pairs_below(g, &top, least, apart);
    lp_pair_free(&top);
  }
  lp_pair_free(&root);
  return below;
}

/* The pair of a name, with what it keeps in both heaps. */
static void has_pair(const LpPairing *g, const LpPairs *s, const char *name,
                     uint64_t now, uint64_t base)
{
  LpBuf b = {0};
  size_t i, found = 0;
  for (i = 0; i < s->n; i++) {
    b.n = 0;
    lp_pair_name(&b, g, &s->p[i]);
    if (strcmp(b.s, name) != 0)
      continue;
    ck_assert_uint_eq(s->p[i].g[LP_NOW].retained, now);
    ck_assert_uint_eq(s->p[i].g[LP_BASE].retained, base);
    found++;
  }
  ck_assert_msg(found == 1, "%zu pairs are called %s", found, name);
  lp_buf_free(&b);
}

/* A table of two lists of records; 0: a list is missing. */
static HeapRun two_lists(unsigned ids, unsigned others)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, ids ? 2 : 0, others ? 3 : 0);
  if (ids)
    graph_list(&h, 2, 80, 1000, ids);
  if (others)
    graph_list(&h, 3, 80, 2000, others);
  for (i = 0; i < ids; i++)
    graph_record(&h, 1000 + i, 64);
  for (i = 0; i < others; i++)
    graph_record(&h, 2000 + i, 64);
  return graph_read(&h);
}

/* An object that keeps enough in one heap is by itself in both. */
START_TEST(test_apart)
{
  HeapRun now = two_lists(20, 5), base = two_lists(2, 5);
  LpPairing g = lp_pairing(now.heap, base.heap);
  LpPairs s = pairs_of(&g, 1, 1, 1000);
  has_pair(&g, &s, ".id  table, list of tables", 80 + 20 * 64, 80 + 2 * 64);
  has_pair(&g, &s, ".other  table, list of tables", 400, 400);
  lp_pairs_free(&s);
  lp_pairing_close(&g);
  /* The other way round. */
  g = lp_pairing(base.heap, now.heap);
  s = pairs_of(&g, 1, 1, 1000);
  has_pair(&g, &s, ".id  table, list of tables", 80 + 2 * 64, 80 + 20 * 64);
  lp_pairs_free(&s);
  lp_pairing_close(&g);
  heap_run_close(&now);
  heap_run_close(&base);
}
END_TEST

/* What only one of them has; two lists where there was one. */
START_TEST(test_one)
{
  HeapRun now = two_lists(0, 5), base = two_lists(4, 5);
  LpPairing g = lp_pairing(now.heap, base.heap);
  LpPairs s = pairs_of(&g, 1, 1, 100);
  has_pair(&g, &s, ".id  table, list of tables", 0, 80 + 4 * 64);
  has_pair(&g, &s, ".other  table, list of tables", 408, 400);
  lp_pairs_free(&s);
  s = pairs_of(&g, 1, 1, UINT64_MAX);
  has_pair(&g, &s, "1 x table, list of tables", 408, 80 + 4 * 64 + 400);
  lp_pairs_free(&s);
  /* The key of the records is the list's own now. Less is kept in both. */
  s = pairs_of(&g, 1, 337, 100);
  ck_assert_uint_eq(s.n, 1);
  lp_pairs_free(&s);
  lp_pairing_close(&g);
  heap_run_close(&now);
  heap_run_close(&base);
}
END_TEST

/* One heap alone has what groups have. */
START_TEST(test_alone)
{
  HeapRun now = two_lists(20, 5);
  LpPairing g = lp_pairing(now.heap, NULL);
  LpPairs s = pairs_of(&g, 1, 1, 1000);
  has_pair(&g, &s, ".id  table, list of tables", 80 + 20 * 64, 0);
  has_pair(&g, &s, ".other  table, list of tables", 400, 0);
  lp_pairs_free(&s);
  lp_pairing_close(&g);
  heap_run_close(&now);
}
END_TEST

/* -- Random heaps ---------------------------------------------------------- */

/* Counts the objects of a pair and of all below it. */
static void count_all(const LpPairing *g, LpPair *p, uint64_t apart,
                      unsigned char *seen[LP_NSIDE])
{
  LpPairs stack = {0};
  stack.p = lp_grow(stack.p, &stack.cap, 1, sizeof(*stack.p));
  stack.p[stack.n++] = *p;
  while (stack.n) {
    LpPair top = stack.p[--stack.n];
    uint64_t sum[LP_NSIDE] = {0};
    LpPairs below;
    unsigned side;
    size_t i;
    lp_pair_absorb(&top, g);
    below = lp_pairs_below(g, &top, 0, apart);
    for (side = LP_NOW; side < LP_NSIDE; side++)
      for (i = 0; i < top.g[side].n; i++)
        seen[side][top.g[side].id[i]]++;
    for (i = 0; i < below.n; i++) {
      sum[LP_NOW] += below.p[i].g[LP_NOW].retained;
      sum[LP_BASE] += below.p[i].g[LP_BASE].retained;
      stack.p = lp_grow(stack.p, &stack.cap, stack.n + 1, sizeof(*stack.p));
      stack.p[stack.n++] = below.p[i];
      below.p[i] = (LpPair){0};
    }
    for (side = LP_NOW; side < LP_NSIDE; side++)
      ck_assert_uint_eq(top.g[side].bytes + sum[side], top.g[side].retained);
    if (g->h[LP_NOW] == g->h[LP_BASE])
      ck_assert_uint_eq(top.g[LP_NOW].retained, top.g[LP_BASE].retained);
    lp_pairs_free(&below);
    lp_pair_free(&top);
  }
  free(stack.p);
}

/* Each object that is reached is in one pair, on its own side. */
static void check_all(const HeapRun *now, const HeapRun *base, uint64_t apart)
{
  LpPairing g = lp_pairing(now->heap, base->heap);
  LpPair root = lp_pair_root(&g);
  unsigned char *seen[LP_NSIDE];
  unsigned side;
  uint32_t id;
  for (side = LP_NOW; side < LP_NSIDE; side++)
    seen[side] = lp_zalloc(g.h[side]->dump.graph.n, 1);
  count_all(&g, &root, apart, seen);
  for (side = LP_NOW; side < LP_NSIDE; side++) {
    for (id = 0; id < g.h[side]->dump.graph.n; id++)
      ck_assert_uint_eq(seen[side][id],
                        lp_dominators_has(&g.h[side]->dom, id) ? 1 : 0);
    free(seen[side]);
  }
  lp_pairing_close(&g);
}

START_TEST(test_random)
{
  uint64_t state = 7;
  unsigned i;
  for (i = 0; i < PAIRS_HEAPS; i++) {
    HeapRun now = graph_random(&state, 4 + graph_below(&state, 60));
    HeapRun base = graph_random(&state, 4 + graph_below(&state, 60));
    uint64_t apart =
        graph_below(&state, 3) ? graph_below(&state, 3000) : UINT64_MAX;
    check_all(&now, &base, apart);
    check_all(&now, &now, apart);
    heap_run_close(&now);
    heap_run_close(&base);
  }
}
END_TEST

/* -- New and deleted objects ----------------------------------------------- */

/* Records and lists below one table, in a process that began at START. */
static HeapRun some_objects(uint64_t start, unsigned first, unsigned records,
                            unsigned list)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  craft_heap_origin(&h, 17, start);
  graph_list(&h, 1, 48, first, records);
  for (i = 0; i < records; i++) {
    if (first + i == list)
      graph_list(&h, list, 64, 0, 0);
    else
      graph_record(&h, first + i, 64);
  }
  return graph_read(&h);
}

/* Objects of a shape by its name that only one side has. */
static uint64_t only(const LpPairing *g, const LpBirths *b, LpSide side,
                     const char *name)
{
  LpBuf text = {0};
  uint64_t sum = 0;
  uint32_t i;
  for (i = 0; i < g->h[side]->shapes.keys.n; i++) {
    text.n = 0;
    lp_shape_name(&text, g->h[side], i);
    if (strcmp(text.s, name) == 0)
      sum += b->one[side][i];
  }
  lp_buf_free(&text);
  return sum;
}

/* 1000 .. 1009, then 1003 .. 1014, of which 1005 has another shape. */
START_TEST(test_births)
{
  HeapRun base = some_objects(5, 1000, 10, 0);
  HeapRun now = some_objects(5, 1003, 12, 1005);
  LpPairing g = lp_pairing(now.heap, base.heap);
  LpBirths b = lp_births(&g);
  ck_assert_int_eq(b.known, 1);
  ck_assert_uint_eq(only(&g, &b, LP_NOW, "table {id}"), 5);
  ck_assert_uint_eq(only(&g, &b, LP_BASE, "table {id}"), 4);
  ck_assert_uint_eq(only(&g, &b, LP_NOW, "table of plain values"), 1);
  ck_assert_uint_eq(only(&g, &b, LP_NOW, "table, list of tables"), 0);
  lp_births_close(&b);
  lp_pairing_close(&g);
  heap_run_close(&now);
  /* Another process that has the number of one which has ended. */
  now = some_objects(6, 1003, 12, 1005);
  g = lp_pairing(now.heap, base.heap);
  b = lp_births(&g);
  ck_assert_int_eq(b.known, 0);
  lp_births_close(&b);
  lp_pairing_close(&g);
  heap_run_close(&now);
  heap_run_close(&base);
}
END_TEST

/* Dumps that do not tell of which process they are tell nothing of that. */
START_TEST(test_strangers)
{
  HeapRun now = two_lists(3, 0), base = two_lists(2, 0);
  LpPairing g = lp_pairing(now.heap, base.heap);
  LpBirths b = lp_births(&g);
  ck_assert_int_eq(b.known, 0);
  lp_births_close(&b);
  lp_pairing_close(&g);
  heap_run_close(&now);
  heap_run_close(&base);
}
END_TEST

Suite *suite_pairs(void)
{
  const TTest *tests[] = {test_apart,  test_one,       test_alone, test_random,
                          test_births, test_strangers, NULL};
  return suite_of("pairs", tests);
}

/*
** The dominator tree of small heaps in groups: by shape, in the order of what
** they keep, lists, large objects on their own, and what several share.
*/

#include "groups.h"
#include "heap_graph.h"
#include "suites.h"

/* The group of the root's only object, expanded. */
static LpGroups groups_of(const HeapRun *r, uint64_t least, uint64_t apart)
{
  LpGroup root = lp_group_root(r->heap);
  LpGroups top, below;
  lp_group_absorb(&root, r->heap);
  top = lp_groups_below(r->heap, &root, 1, UINT64_MAX, NULL);
  ck_assert_uint_ge(top.n, 1);
  ck_assert_uint_eq(top.g[0].id[0], heap_id(r, GRAPH_AT(1)));
  lp_group_absorb(&top.g[0], r->heap);
  below = lp_groups_below(r->heap, &top.g[0], least, apart, NULL);
  lp_groups_free(&top);
  lp_group_free(&root);
  return below;
}

/* The name of a group. Valid until the next one, or a report. */
static const char *name_of(HeapRun *r, const LpGroup *g)
{
  r->text.n = 0;
  lp_group_name(&r->text, r->heap, g);
  return r->text.s;
}

/*
** Two shapes below one table:
**
**   1 --> 1000 .. 1002: {id} (64 each)
**     --> 1003 .. 1004: {id, other} (100 each), which share 5 (16)
*/
static HeapRun two_shapes(void)
{
  CraftHeap h;
  unsigned i;
  graph_open(&h, "t");
  graph_list(&h, 1, 48, 1000, 5);
  for (i = 1000; i < 1003; i++)
    graph_record(&h, i, 64);
  graph_table(&h, 1003, 100, 5, 5);
  graph_table(&h, 1004, 100, 5, 5);
  graph_list(&h, 5, 16, 0, 0);
  return graph_read(&h);
}

START_TEST(test_shapes)
{
  HeapRun r = two_shapes();
  LpGroups g = groups_of(&r, 1, UINT64_MAX);
  size_t i;
  /* The keys, and what the two share, are below the table itself. */
  ck_assert_uint_ge(g.n, 3);
  ck_assert_uint_eq(g.g[0].n, 2);
  ck_assert_uint_eq(g.g[0].bytes, 200);
  ck_assert_uint_eq(g.g[0].retained, 200);
  ck_assert_str_eq(name_of(&r, &g.g[0]), "2 x table {id, other}");
  ck_assert_uint_eq(g.g[1].n, 3);
  ck_assert_uint_eq(g.g[1].retained, 3 * 64);
  ck_assert_str_eq(name_of(&r, &g.g[1]), "3 x table {id}");
  for (i = 1; i < g.n; i++)
    ck_assert_uint_ge(g.g[i - 1].retained, g.g[i].retained);
  lp_groups_free(&g);
  heap_run_close(&r);
}
END_TEST

START_TEST(test_least)
{
  HeapRun r = two_shapes();
  LpGroups g = groups_of(&r, 193, UINT64_MAX);
  ck_assert_uint_eq(g.n, 1);
  ck_assert_uint_eq(g.g[0].retained, 200);
  lp_groups_free(&g);
  heap_run_close(&r);
}
END_TEST

/* What keeps enough is no part of a group. */
START_TEST(test_apart)
{
  HeapRun r = two_shapes();
  LpGroups g = groups_of(&r, 64, 100);
  ck_assert_uint_eq(g.n, 3);
  ck_assert_uint_eq(g.g[0].n, 3);
  ck_assert_int_eq(g.g[1].apart, 1);
  ck_assert_uint_eq(g.g[1].retained, 100);
  ck_assert_str_eq(name_of(&r, &g.g[1]), "[3]  table {id, other}");
  ck_assert_str_eq(name_of(&r, &g.g[2]), "[4]  table {id, other}");
  lp_groups_free(&g);
  heap_run_close(&r);
}
END_TEST

/* Two keep it: the table above both does, which does not refer to it. */
START_TEST(test_shared)
{
  HeapRun r = two_shapes();
  LpGroups g = groups_of(&r, 1, UINT64_MAX);
  uint32_t shared = heap_id(&r, GRAPH_AT(5));
  size_t i;
  for (i = 0; i < g.n && g.g[i].id[0] != shared; i++)
    ;
  ck_assert_uint_lt(i, g.n);
  ck_assert_uint_eq(g.g[i].retained, 16);
  ck_assert_str_eq(name_of(&r, &g.g[i]), "t[3].id  table of plain values");
  lp_groups_free(&g);
  heap_run_close(&r);
}
END_TEST

/*
** A list is one group, which keeps what its first object does:
**
**   1 --> 10 --id--> 11 --id--> 12 --id--> 13 (16)   (10 .. 12: 64 each)
*/
START_TEST(test_absorb)
{
  CraftHeap h;
  HeapRun r;
  LpGroups g;
  unsigned i;
  graph_open(&h, "t");
  graph_list(&h, 1, 48, 10, 1);
  for (i = 10; i < 13; i++)
    graph_table(&h, i, 64, i + 1, 0);
  graph_list(&h, 13, 16, 0, 0);
  r = graph_read(&h);
  g = groups_of(&r, 64, UINT64_MAX);
  ck_assert_uint_eq(g.n, 1);
  ck_assert_uint_eq(g.g[0].n, 1);
  ck_assert_uint_eq(g.g[0].bytes, 64);
  lp_group_absorb(&g.g[0], r.heap);
  ck_assert_uint_eq(g.g[0].n, 3);
  ck_assert_uint_eq(g.g[0].bytes, 3 * 64);
  ck_assert_uint_eq(g.g[0].retained,
                    r.heap->dom.retained[heap_id(&r, GRAPH_AT(10))]);
  ck_assert_str_eq(name_of(&r, &g.g[0]), "3 x table {id}");
  lp_groups_free(&g);
  heap_run_close(&r);
}
END_TEST

Suite *suite_groups(void)
{
  const TTest *tests[] = {test_shapes, test_least,  test_apart,
                          test_shared, test_absorb, NULL};
  return suite_of("groups", tests);
}

/*
** Leak suspects of small heaps: where memory branches out, lists, suspects
** below a suspect, and lists of lists.
*/

#include <stdio.h>
#include <string.h>

#include "heap_graph.h"
#include "suites.h"
#include "suspects.h"

/*
** A string that is a suspect by itself, and a list of records:
**
**   1 --id-----> 2 (40) --> 1000 .. 1039: {id} (64 each)
**     --other--> 3 (1000): a string
*/
START_TEST(test_branch)
{
  LpSuspect s[LP_SUSPECTS];
  char text[64];
  CraftHeap h;
  HeapRun r;
  unsigned i;
  memset(text, 'x', sizeof(text));
  graph_open(&h, "t");
  craft_string_of(&h, GRAPH_AT(3), 1000, 0, 980, text, sizeof(text));
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 40, 1000, 40);
  for (i = 0; i < 40; i++)
    graph_record(&h, 1000 + i, 64);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 2);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s[0].bytes, 40 + 40 * 64);
  ck_assert_uint_eq(s[0].objects, 40);
  ck_assert_uint_eq(s[0].retained, 40 * 64);
  ck_assert_uint_eq(s[0].chain, 0);
  ck_assert_uint_eq(s[0].inner, LP_NONE);
  ck_assert_str_eq(graph_shape(&r, s[0].shape), "table {id}");
  ck_assert_uint_eq(s[1].id, heap_id(&r, GRAPH_AT(3)));
  ck_assert_uint_eq(s[1].bytes, 1000);
  ck_assert_uint_eq(s[1].shape, LP_NONE);
  /* At 30% the string is none, and belongs to nobody. */
  ck_assert_uint_eq(lp_suspects_above(r.heap, 30, s, LP_SUSPECTS), 1);
  ck_assert_uint_eq(s[0].bytes, 40 + 40 * 64);
  heap_run_close(&r);
}
END_TEST

/*
** A list, each of whose objects keeps the rest:
**
**   1 --id--> 10 --id--> 11 --id--> ... --id--> 19   (300 each)
*/
START_TEST(test_chain)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_list(&h, 1, 48, 10, 1);
  for (i = 10; i < 20; i++)
    graph_table(&h, i, 300, i < 19 ? i + 1 : 20, 0);
  graph_list(&h, 20, 16, 0, 0);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 1);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(10)));
  ck_assert_uint_eq(s[0].chain, 10);
  ck_assert_uint_eq(s[0].bytes,
                    r.heap->dom.retained[heap_id(&r, GRAPH_AT(10))]);
  ck_assert_uint_ge(s[0].bytes, 10 * 300 + 16);
  heap_run_close(&r);
}
END_TEST

/*
** What another suspect keeps is not told twice:
**
**   1 --id--> 2 (40) --> 1000 .. 1009: {id} (64 each)
**                    --> 1010 (40) --> 1100 .. 1119: {id} (64 each)
*/
START_TEST(test_nested)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 0);
  graph_list(&h, 2, 40, 1000, 11);
  for (i = 0; i < 10; i++)
    graph_record(&h, 1000 + i, 64);
  graph_list(&h, 1010, 40, 1100, 20);
  for (i = 0; i < 20; i++)
    graph_record(&h, 1100 + i, 64);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 2);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(1010)));
  ck_assert_uint_eq(s[0].bytes, 40 + 20 * 64);
  ck_assert_uint_eq(s[1].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s[1].bytes, 40 + 10 * 64);
  ck_assert_uint_eq(s[1].objects, 10);
  ck_assert_uint_eq(s[1].retained, 10 * 64);
  heap_run_close(&r);
}
END_TEST

/*
** A list of records, each with a list of its own of 10, 20, ... objects:
**
**   1 --id--> 2 --> 10 .. 14: {id} (48 each) --id--> 20 .. 24 (40 each)
**                                                    --> {id} (64 each)
*/
static HeapRun entries_read(unsigned n)
{
  CraftHeap h;
  unsigned i, k;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 0);
  graph_list(&h, 2, 40, 10, n);
  for (i = 0; i < n; i++) {
    graph_table(&h, 10 + i, 48, 20 + i, 0);
    graph_list(&h, 20 + i, 40, 1000 + 100 * i, 10 * (i + 1));
    for (k = 0; k < 10 * (i + 1); k++)
      graph_record(&h, 1000 + 100 * i + k, 64);
  }
  return graph_read(&h);
}

/* Entries that look alike are told as one if there are four of them. */
START_TEST(test_entries)
{
  LpSuspect s[LP_SUSPECTS];
  HeapRun r = entries_read(5);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 1);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s[0].bytes, 40 + 5 * (48 + 40) + 150 * 64);
  ck_assert_uint_eq(s[0].objects, 5);
  ck_assert_uint_eq(s[0].retained, 5 * (48 + 40) + 150 * 64);
  ck_assert_uint_eq(s[0].median, 48 + 40 + 30 * 64);
  ck_assert_uint_eq(s[0].largest, 48 + 40 + 50 * 64);
  heap_run_close(&r);
  r = entries_read(3);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 3);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(22)));
  ck_assert_uint_eq(s[0].bytes, 40 + 30 * 64);
  ck_assert_uint_eq(s[0].largest, 0);
  heap_run_close(&r);
}
END_TEST

/*
** A table of N lists, of so many EMPTY ones, and of NUMBERS, by name, which KEY
** of ROOT has:
**
**   1 --KEY--> 2 --k00, k01, ...--> 10 .. (40 each) --> ten {id} (64 each)
*/
static HeapRun named_read(const char *root, const char *key, unsigned n,
                          unsigned empty, unsigned numbers)
{
  unsigned lists = n + empty, all = lists + numbers;
  CraftTable t = {.addr = GRAPH_AT(2), .size = 40, .nodes = all};
  CraftHeap h;
  unsigned i, k;
  graph_open(&h, root);
  craft_string(&h, GRAPH_AT(3), key);
  craft_table_of(&h,
                 &(CraftTable){.addr = GRAPH_AT(1), .size = 40, .nodes = 1});
  craft_field(&h, GRAPH_AT(3), GRAPH_AT(2));
  craft_table_of(&h, &t);
  for (i = 0; i < lists; i++)
    craft_field(&h, GRAPH_AT(200 + i), GRAPH_AT(10 + i));
  for (; i < all; i++)
    craft_node(&h, LJM_VALUE_REF, GRAPH_AT(200 + i), LJM_VALUE_INT, i);
  for (i = 0; i < all; i++) {
    char name[8];
    snprintf(name, sizeof(name), "k%02u", i);
    craft_string(&h, GRAPH_AT(200 + i), name);
  }
  for (i = n; i < lists; i++)
    craft_table_of(&h, &(CraftTable){.addr = GRAPH_AT(10 + i), .size = 40});
  for (i = 0; i < n; i++) {
    graph_list(&h, 10 + i, 40, 1000 + 10 * i, 10);
    for (k = 0; k < 10; k++)
      graph_record(&h, 1000 + 10 * i + k, 64);
  }
  return graph_read(&h);
}

/* Names in a map are those of entries if most look alike; in a record, and of
** modules, they are there for different things.
*/
START_TEST(test_named)
{
  LpSuspect s[LP_SUSPECTS];
  unsigned n;
  HeapRun r = named_read("t", "users", 14, 0, 0);
  ck_assert_uint_eq(lp_suspects_above(r.heap, 5, s, LP_SUSPECTS), 1);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s[0].objects, 14);
  heap_run_close(&r);
  r = named_read("t", "users", 12, 0, 0);
  ck_assert_uint_eq(lp_suspects_above(r.heap, 5, s, LP_SUSPECTS), 12);
  heap_run_close(&r);
  r = named_read("registry", "_LOADED", 14, 0, 0);
  ck_assert_uint_eq(lp_suspects_above(r.heap, 5, s, LP_SUSPECTS), 14);
  heap_run_close(&r);
  for (n = 6; n <= 8; n++) {
    r = named_read("t", "users", n, 0, 14 - n);
    ck_assert_uint_eq(lp_suspects_above(r.heap, 11, s, LP_SUSPECTS),
                      n > 7 ? 1 : n);
    heap_run_close(&r);
  }
  r = named_read("t", "users", 5, 9, 5); /* 14 of 19. */
  ck_assert_uint_eq(lp_suspects_above(r.heap, 11, s, LP_SUSPECTS), 1);
  heap_run_close(&r);
}
END_TEST

/*
** A list of lists says little: what the inner ones have does.
**
**   1 --id--> 2 --> 1000 .. 1019 (40 each), each --> three {id} (32 each)
*/
START_TEST(test_inner)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i, k;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 0);
  graph_list(&h, 2, 40, 1000, 20);
  for (i = 0; i < 20; i++)
    graph_list(&h, 1000 + i, 40, 1100 + 3 * i, 3);
  for (k = 0; k < 60; k++)
    graph_record(&h, 1100 + k, 32);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 1);
  ck_assert_uint_eq(s[0].id, heap_id(&r, GRAPH_AT(2)));
  ck_assert_uint_eq(s[0].bytes, 40 + 20 * (40 + 3 * 32));
  ck_assert_uint_eq(s[0].objects, 20);
  ck_assert_uint_eq(s[0].retained, 20 * (40 + 3 * 32));
  ck_assert(lp_shape_isplain(r.heap, s[0].shape));
  ck_assert_uint_eq(s[0].inners, 60);
  ck_assert_str_eq(graph_shape(&r, s[0].inner), "table {id}");
  heap_run_close(&r);
}
END_TEST

/*
** What is beside the lists is not in them:
**
**   1 --id-----> 2 --> 1000 .. 1019 (40 each), each --> three lists (32 each)
**                  --> 1020 .. 1029: {id} (64 each)
*/
START_TEST(test_beside)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i, k;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 0);
  graph_list(&h, 2, 40, 1000, 30);
  for (i = 0; i < 20; i++)
    graph_list(&h, 1000 + i, 40, 1100 + 3 * i, 3);
  for (i = 20; i < 30; i++)
    graph_record(&h, 1000 + i, 64);
  for (k = 0; k < 60; k++)
    graph_list(&h, 1100 + k, 32, 0, 0);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 1);
  ck_assert_uint_eq(s[0].objects, 20);
  ck_assert(lp_shape_isplain(r.heap, s[0].shape));
  ck_assert_uint_eq(s[0].inner, LP_NONE);
  heap_run_close(&r);
}
END_TEST

/*
** What a list and an index have is one suspect, and nothing more is said of
** what keeps the two; others that it keeps are told as ever:
**
**   1 --id-----> 2 (80) --> 1000 .. 1039: {id} (300 each)
**     --other--> 3 --id-----> 4 (80) --> the same
**                  --other--> 5 (80) --> 1100 .. 1139: {id} (100 each)
*/
START_TEST(test_together)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  graph_table(&h, 1, 48, 2, 3);
  graph_list(&h, 2, 80, 1000, 40);
  graph_table(&h, 3, 48, 4, 5);
  graph_list(&h, 4, 80, 1000, 40);
  graph_list(&h, 5, 80, 1100, 40);
  for (i = 0; i < 40; i++) {
    graph_record(&h, 1000 + i, 300);
    graph_record(&h, 1100 + i, 100);
  }
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 2);
  ck_assert_ptr_eq(s[0].shared, r.heap->sharing.group);
  ck_assert_uint_eq(s[0].shared->nholder, 2);
  ck_assert_uint_eq(s[0].bytes, 40 * 300);
  ck_assert_uint_eq(s[0].objects, 40);
  ck_assert_uint_eq(s[0].retained, 40 * 300);
  ck_assert_str_eq(graph_shape(&r, s[0].shape), "table {id}");
  ck_assert_ptr_null(s[1].shared);
  ck_assert_uint_eq(s[1].id, heap_id(&r, GRAPH_AT(5)));
  ck_assert_uint_eq(s[1].bytes, 80 + 40 * 100);
  heap_run_close(&r);
}
END_TEST

/*
** Large lists that two tables have are one suspect if they look alike, from
** four on:
**
**   1 --id-----> 2 (40) --> 10 .. (40 each) --> 40 x {id} (64 each)
**     --other--> 3 (40) --> the same
*/
START_TEST(test_alike)
{
  LpSuspect s[LP_SUSPECTS];
  unsigned n, i, k;
  for (n = 3; n <= 5; n++) {
    CraftHeap h;
    HeapRun r;
    graph_open(&h, "t");
    graph_table(&h, 1, 48, 2, 3);
    graph_list(&h, 2, 40, 10, n);
    graph_list(&h, 3, 40, 10, n);
    for (i = 0; i < n; i++) {
      graph_list(&h, 10 + i, 40, 1000 + 100 * i, 40);
      for (k = 0; k < 40; k++)
        graph_record(&h, 1000 + 100 * i + k, 64);
    }
    r = graph_read(&h);
    ck_assert_uint_eq(lp_suspects(r.heap, s), n < 4 ? n : 1);
    ck_assert_ptr_eq(s[0].shared, n < 4 ? NULL : r.heap->sharing.group);
    ck_assert_uint_eq(s[0].bytes, (40 + 40 * 64) * (n < 4 ? 1 : n));
    if (n >= 4) {
      ck_assert_uint_eq(s[0].objects, n);
      ck_assert_uint_eq(s[0].inners, n * 40);
    }
    heap_run_close(&r);
  }
}
END_TEST

/* Many roots, none of which keeps much. */
START_TEST(test_none)
{
  LpSuspect s[LP_SUSPECTS];
  CraftHeap h;
  HeapRun r;
  unsigned i;
  graph_open(&h, "t");
  for (i = 0; i < 30; i++)
    craft_heap_root(&h, GRAPH_AT(1000 + i), "u");
  graph_list(&h, 1, 100, 0, 0);
  for (i = 0; i < 30; i++)
    graph_list(&h, 1000 + i, 100, 0, 0);
  r = graph_read(&h);
  ck_assert_uint_eq(lp_suspects(r.heap, s), 0);
  ck_assert_uint_eq(lp_suspects_above(r.heap, 3, s, LP_SUSPECTS), 16);
  ck_assert_uint_eq(s[0].bytes, 100);
  heap_run_close(&r);
}
END_TEST

Suite *suite_suspects(void)
{
  const TTest *tests[] = {test_branch, test_chain, test_nested, test_entries,
                          test_named,  test_inner, test_beside, test_together,
                          test_alike,  test_none,  NULL};
  return suite_of("suspects", tests);
}

/*
** Tables of a heap dump: arrays with gaps, keys of all kinds, weak references,
** shapes, empty slots, and tables that are split between blocks.
*/

#include <string.h>

#include "heap_run.h"
#include "suites.h"

/* The address of object I. */
#define AT(i) (0x7f0000010000 + (i)*0x100ull)

enum { G = 1, TABLE, A, B, C, D, KEY, KEY2, VALUE, CDATA };

/* A dump of a table that is the only root. What it refers to must follow. */
static void craft_begin(CraftHeap *h, unsigned weak)
{
  CraftTable t = {.addr = AT(TABLE),
                  .size = 1000,
                  .weak = weak,
                  .slots = 32,
                  .empty = 20,
                  .array = AT(70),
                  .nodes = 16,
                  .free = 10};
  craft_heap_open(h, 64);
  craft_heap_root(h, AT(TABLE), "t");
  craft_string(h, AT(KEY), "key");
  craft_string(h, AT(VALUE), "value");
  craft_table_of(h, &t);
}

/* Small tables that are referred to. */
static HeapRun craft_rest(CraftHeap *h)
{
  static const unsigned rest[] = {A, B, C, D};
  HeapRun r;
  size_t i;
  for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
    craft_table(h, AT(rest[i]), 32);
  craft_heap_end(h);
  r = heap_read(h);
  ck_assert_int_eq(r.status, 0);
  return r;
}

START_TEST(test_gaps)
{
  CraftHeap h;
  HeapRun r;
  craft_begin(&h, 0);
  craft_item(&h, 0, AT(A));
  craft_item(&h, 0, AT(B));
  craft_item(&h, 5, AT(C));
  craft_item(&h, 1ull << 40, AT(D));
  r = craft_rest(&h);
  ck_assert_str_eq(heap_place(&r, AT(A)), "t[0]");
  ck_assert_str_eq(heap_place(&r, AT(B)), "t[1]");
  ck_assert_str_eq(heap_place(&r, AT(C)), "t[7]");
  ck_assert_str_eq(heap_place(&r, AT(D)), "t[?]");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

START_TEST(test_keys)
{
  CraftHeap h;
  HeapRun r;
  craft_begin(&h, 0);
  craft_field(&h, AT(KEY), AT(A));
  craft_node(&h, LJM_VALUE_INT, 1000, LJM_VALUE_REF, AT(B));
  craft_node(&h, LJM_VALUE_NUMBER, 0x3fe0000000000000, LJM_VALUE_REF, AT(C));
  craft_node(&h, LJM_VALUE_REF, AT(D), LJM_VALUE_TRUE, 0);
  craft_node(&h, LJM_VALUE_TRUE, 0, LJM_VALUE_FALSE, 0);
  craft_node(&h, LJM_VALUE_LIGHT, 0x1234, LJM_VALUE_NUMBER, 0);
  r = craft_rest(&h);
  ck_assert_str_eq(heap_place(&r, AT(A)), "t.key");
  ck_assert_str_eq(heap_place(&r, AT(B)), "t[1000]");
  ck_assert_str_eq(heap_place(&r, AT(C)), "t[0.5]");
  ck_assert_str_eq(heap_place(&r, AT(D)), "t<key>");
  ck_assert_str_eq(heap_place(&r, AT(KEY)), "t<key>");
  ck_assert_str_eq(heap_place(&r, AT(VALUE)), "(unreachable)");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Nobody keeps the key of a slot whose value was taken away. */
START_TEST(test_dead_key)
{
  CraftHeap h;
  HeapRun r;
  craft_begin(&h, 0);
  craft_node(&h, LJM_VALUE_REF, AT(A), LJM_VALUE_NONE, 0);
  craft_node(&h, LJM_VALUE_REF, AT(500), LJM_VALUE_NONE, 0);
  r = craft_rest(&h);
  ck_assert_str_eq(heap_place(&r, AT(A)), "(unreachable)");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Weak references keep nothing but strings. */
START_TEST(test_weak)
{
  unsigned weak;
  for (weak = 0; weak < 4; weak++) {
    const char *key = weak & 1 ? "(unreachable)" : "t<key>";
    CraftHeap h;
    HeapRun r;
    craft_begin(&h, weak);
    craft_item(&h, 3, AT(C));
    craft_node(&h, LJM_VALUE_REF, AT(A), LJM_VALUE_REF, AT(B));
    craft_node(&h, LJM_VALUE_REF, AT(KEY), LJM_VALUE_REF, AT(VALUE));
    craft_node(&h, LJM_VALUE_INT, 99, LJM_VALUE_REF, AT(D));
    r = craft_rest(&h);
    ck_assert_str_eq(heap_place(&r, AT(A)), key);
    ck_assert_str_eq(heap_place(&r, AT(B)),
                     weak & 2 ? "(unreachable)" : "t[table]");
    ck_assert_str_eq(heap_place(&r, AT(C)),
                     weak & 2 ? "(unreachable)" : "t[3]");
    ck_assert_str_eq(heap_place(&r, AT(D)),
                     weak & 2 ? "(unreachable)" : "t[99]");
    ck_assert_str_eq(heap_place(&r, AT(VALUE)), "t.key");
    heap_run_close(&r);
    craft_heap_close(&h);
  }
}
END_TEST

/* A table in three blocks; its weak references stay weak. */
START_TEST(test_split)
{
  unsigned weak;
  for (weak = 0; weak < 4; weak += 2) {
    CraftHeap h;
    HeapRun r;
    craft_begin(&h, weak);
    craft_item(&h, 0, AT(A));
    craft_heap_flush(&h);
    craft_owner(&h, AT(TABLE), weak);
    craft_item(&h, 10, AT(B));
    craft_item(&h, 0, AT(C));
    craft_heap_flush(&h);
    craft_owner(&h, AT(TABLE), weak);
    craft_field(&h, AT(KEY), AT(D));
    r = craft_rest(&h);
    ck_assert_str_eq(heap_place(&r, AT(A)), weak ? "(unreachable)" : "t[0]");
    ck_assert_str_eq(heap_place(&r, AT(B)), weak ? "(unreachable)" : "t[10]");
    ck_assert_str_eq(heap_place(&r, AT(C)), weak ? "(unreachable)" : "t[11]");
    ck_assert_str_eq(heap_place(&r, AT(D)), weak ? "(unreachable)" : "t.key");
    ck_assert_uint_eq(lp_heap_reached(r.heap), weak ? 1027 : 1027 + 4 * 32);
    heap_run_close(&r);
    craft_heap_close(&h);
  }
}
END_TEST

/* 20 empty slots of 8 bytes, and 10 of 24. */
START_TEST(test_sparse)
{
  CraftHeap h;
  HeapRun r;
  craft_begin(&h, 0);
  r = craft_rest(&h);
  ck_assert_uint_eq(r.heap->dump.sparsebytes, 20 * 8 + 10 * 24);
  ck_assert_ptr_nonnull(strstr(heap_report(&r, "csv", "sparse"), "\n400,"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Three tables with the same keys, in another order; one with other keys; a
** list; two of a class.
*/
static void craft_shapes(CraftHeap *h)
{
  CraftTable object = {.addr = AT(15), .size = 48, .meta = AT(G)};
  unsigned i;
  for (i = 0; i < 3; i++) {
    craft_table(h, AT(10 + i), 100);
    craft_node(h, LJM_VALUE_REF, AT(i ? KEY : KEY2), LJM_VALUE_TRUE, 0);
    craft_node(h, LJM_VALUE_REF, AT(i ? KEY2 : KEY), LJM_VALUE_INT, 0);
  }
  craft_table(h, AT(13), 70);
  craft_field(h, AT(KEY2), AT(14));
  craft_table(h, AT(14), 60);
  craft_item(h, 1, AT(15));
  craft_item(h, 1, AT(KEY));
  craft_table_of(h, &object);
  object.addr = AT(16);
  craft_table_of(h, &object);
}

START_TEST(test_shapes)
{
  CraftHeap h;
  HeapRun r;
  unsigned i;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "registry");
  craft_string(&h, AT(KEY), "id");
  craft_string(&h, AT(KEY2), "name");
  craft_table(&h, AT(G), 1);
  for (i = 10; i < 17; i++)
    craft_heap_root(&h, AT(i), "a test");
  craft_shapes(&h);
  craft_heap_end(&h);
  r = heap_read(&h);
  heap_report(&r, "csv", "shapes");
  ck_assert_ptr_nonnull(strstr(r.text.s, "\n300,"));
  ck_assert_ptr_nonnull(strstr(r.text.s, ",3,300,"));
  ck_assert_ptr_nonnull(strstr(r.text.s, ",\"table {id, name}\"\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "70,"));
  ck_assert_ptr_nonnull(strstr(r.text.s, ",table {name}\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, ",table registry\n"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, ",\"table, list of strings, tables\"\n"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* A cache of many things is a leak suspect; what has no more than others is
** none.
*/
START_TEST(test_suspect)
{
  CraftHeap h;
  HeapRun r;
  unsigned i;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_string(&h, AT(KEY), "cache");
  craft_string(&h, AT(KEY2), "id");
  craft_table(&h, AT(G), 100);
  craft_field(&h, AT(KEY), AT(A));
  craft_table(&h, AT(A), 800);
  for (i = 0; i < 100; i++)
    craft_item(&h, 0, AT(1000 + i));
  for (i = 0; i < 100; i++) {
    craft_table(&h, AT(1000 + i), 100);
    craft_node(&h, LJM_VALUE_REF, AT(KEY2), LJM_VALUE_INT, i);
  }
  craft_heap_end(&h);
  r = heap_read(&h);
  heap_report(&r, "text", "summary");
  ck_assert_ptr_nonnull(strstr(r.text.s, "is kept by _G.cache, a "));
  ck_assert_ptr_nonnull(strstr(r.text.s, ": 100 x table {id} keep "));
  ck_assert_ptr_null(strstr(r.text.s, "is kept by _G,"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

Suite *suite_heap_tables(void)
{
  const TTest *tests[] = {test_gaps,   test_keys,    test_dead_key,
                          test_weak,   test_split,   test_sparse,
                          test_shapes, test_suspect, NULL};
  return suite_of("heap_tables", tests);
}

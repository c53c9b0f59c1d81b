/*
** Heaps that are deep, wide or entangled: no recursion, and every view has an
** end, in time and in what it writes.
*/

#include <stdio.h>
#include <string.h>

#include "heap_run.h"
#include "suites.h"

#define DEEP  1000000
#define AT(i) (0x7f0000000000 + (i)*32ull)

/* The most that a view of people's rows may write of any heap here. */
#define MUCH (1 << 20)

/* A list of N tables, each KINDS one looking like the one before it. */
static void craft_chain(CraftHeap *h, uint64_t n, uint64_t kinds)
{
  uint64_t i;
  craft_heap_open(h, 64);
  craft_string(h, AT(n + 1), "next");
  craft_string(h, AT(n + 2), "value");
  craft_heap_root(h, AT(1), "list");
  for (i = 1; i <= n; i++) {
    craft_table(h, AT(i), 64);
    if (i < n && i % kinds)
      craft_field(h, AT(n + 1), AT(i + 1));
    else if (i < n)
      craft_field(h, AT(n + 2), AT(i + 1));
    if (h->c.block.n > 60000)
      craft_heap_flush(h);
  }
  craft_heap_end(h);
}

/* Views with a row for each object are left out. */
static void views(HeapRun *r, const char *path)
{
  size_t i;
  for (i = 0; strcmp(heap_views[i], "objects") != 0; i++) {
    LpReportOptions opt = {.path = path, .min = LP_REPORT_MIN};
    heap_report_opt(r, "text", heap_views[i], &opt);
    ck_assert_uint_gt(r->text.n, 0);
    ck_assert_uint_lt(r->text.n, MUCH);
  }
}

static void chain(uint64_t kinds)
{
  CraftHeap h;
  HeapRun r;
  char path[32];
  craft_chain(&h, DEEP, kinds);
  r = heap_read_bytes(h.c.out.s, h.c.out.n, 1);
  ck_assert_int_eq(r.status, 0);
  /* The other key is not used. */
  ck_assert_uint_eq(lp_heap_reached(r.heap),
                    h.bytes - (kinds == DEEP ? 29 : 0));
  snprintf(path, sizeof(path), "0x%llx", (unsigned long long)AT(DEEP));
  views(&r, path);
  views(&r, "table");
  heap_place(&r, AT(DEEP));
  ck_assert_int_eq(strncmp(r.text.s, "list.", 5), 0);
  ck_assert_ptr_nonnull(strstr(r.text.s, "..."));
  ck_assert_uint_lt(r.text.n, 200);
  heap_run_close(&r);
  craft_heap_close(&h);
}

START_TEST(test_list)
{
  chain(DEEP);
}
END_TEST

START_TEST(test_alternating)
{
  chain(2);
}
END_TEST

/* One table of a million. */
START_TEST(test_wide)
{
  CraftHeap h;
  HeapRun r;
  uint64_t i;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(1), "list");
  craft_table(&h, AT(1), DEEP);
  for (i = 2; i < DEEP; i++) {
    craft_item(&h, 0, AT(i));
    if (h.c.block.n > 60000) {
      craft_heap_flush(&h);
      craft_owner(&h, AT(1), 0);
      craft_item(&h, i, AT(i));
    }
  }
  for (i = 2; i < DEEP; i++) {
    craft_table(&h, AT(i), 64);
    if (h.c.block.n > 60000)
      craft_heap_flush(&h);
  }
  craft_heap_end(&h);
  r = heap_read_bytes(h.c.out.s, h.c.out.n, 1);
  ck_assert_int_eq(r.status, 0);
  views(&r, "table");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Everything refers to everything else. */
START_TEST(test_entangled)
{
  enum { N = 1000 };
  CraftHeap h;
  HeapRun r;
  uint64_t i, k;
  craft_heap_open(&h, 64);
  for (i = 1; i <= N; i++) {
    craft_heap_root(&h, AT(i), "some root");
    craft_table(&h, AT(i), 64);
    for (k = 1; k <= N; k++)
      craft_item(&h, 0, AT(k));
    craft_heap_flush(&h);
  }
  craft_heap_end(&h);
  r = heap_read_bytes(h.c.out.s, h.c.out.n, 1);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 64 * N);
  views(&r, "table");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

Suite *suite_heap_deep(void)
{
  const TTest *tests[] = {test_list, test_alternating, test_wide,
                          test_entangled, NULL};
  return suite_of("heap_deep", tests);
}

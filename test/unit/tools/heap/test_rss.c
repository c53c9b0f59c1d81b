/*
** The memory of a process: pages of the VM's allocator, the blocks in them, and
** what is left over.
*/

#include <string.h>

#include "heap_graph.h"
#include "rss/rss.h"
#include "suites.h"

#define PAGE 4096
#define MIB  (1u << 20)

/* -- Pages ----------------------------------------------------------------- */

#define BYTES 600

/* Counts what is in each run byte by byte. */
static void check_block(LpResident *r, const uint8_t *byte, unsigned from,
                        unsigned n)
{
  LpPresence p = lp_resident_block(r, from, n);
  uint64_t bytes = 0, resident = 0;
  unsigned i;
  for (i = from; i < from + n && i < BYTES; i++) {
    bytes += byte[i] != 0;
    resident += byte[i] == 2;
  }
  ck_assert_uint_eq(p.bytes, bytes);
  ck_assert_uint_eq(p.resident, resident);
}

/* Runs that do not overlap, in any order, as segments of an allocator are. */
START_TEST(test_runs)
{
  uint64_t state = 0x12345678;
  unsigned round, i;
  for (round = 0; round < 500; round++) {
    LpResident r = {0};
    uint8_t byte[BYTES] = {0};
    for (i = 0; i < 20; i++) {
      unsigned from = graph_below(&state, BYTES), n = graph_below(&state, 40);
      int resident = (int)graph_below(&state, 2);
      if (from + n > BYTES || memchr(byte + from, 1, n) ||
          memchr(byte + from, 2, n))
        continue;
      memset(byte + from, 1 + resident, n);
      lp_resident_add(&r, from, n, resident);
    }
    lp_resident_seal(&r);
    lp_resident_seal(&r);
    lp_resident_add(&r, 0, BYTES, 1); /* It is too late. */
    check_block(&r, byte, 0, BYTES);
    for (i = 0; i < 50; i++)
      check_block(&r, byte, graph_below(&state, BYTES),
                  graph_below(&state, BYTES));
    lp_resident_free(&r);
  }
}
END_TEST

/* Of bytes that a broken dump has twice, each counts once. */
START_TEST(test_overlap)
{
  LpResident r = {0};
  LpPresence p;
  lp_resident_add(&r, 100, 50, 1);
  lp_resident_add(&r, 120, 50, 0);
  lp_resident_add(&r, 130, 10, 1);
  lp_resident_add(&r, UINT64_MAX - 5, 100, 1);
  lp_resident_seal(&r);
  ck_assert_uint_eq(r.all.bytes, 70 + 5);
  ck_assert_uint_eq(r.all.resident, 50 + 5);
  p = lp_resident_block(&r, 0, UINT64_MAX);
  ck_assert_uint_eq(p.bytes, 75);
  p = lp_resident_block(&r, UINT64_MAX - 2, 100);
  ck_assert_uint_eq(p.bytes, 2);
  lp_resident_free(&r);
}
END_TEST

/* -- Parts ----------------------------------------------------------------- */

/* As graph_open, with RSS and N runs of pages from object 0 on; keys are not in
** them.
*/
static void rss_open(CraftHeap *h, uint64_t rss, const uint64_t *run, size_t n)
{
  static const uint64_t code[] = {3, 2};
  craft_heap_open(h, 64);
  craft_heap_process(h, rss, 0);
  craft_heap_mapped(h, LJM_MAPPED_HEAP, GRAPH_AT(0), run, n);
  craft_heap_mapped(h, LJM_MAPPED_CODE, 0x10000, code, 2);
  craft_heap_root(h, GRAPH_AT(1), "t");
  craft_string_of(h, GRAPH_AT(GRAPH_ID), 8, 0, 2, "id", 2);
  craft_string_of(h, GRAPH_AT(GRAPH_OTHER), 8, 0, 5, "other", 5);
}

/* All that is resident is in one of the parts. */
static LpRss rss_of(HeapRun *r)
{
  LpRss rss;
  uint64_t sum = 0;
  int i;
  ck_assert_int_eq(lp_rss(r->heap, &rss), 1);
  for (i = 0; i < LP_RSS_PARTS; i++) {
    ck_assert_uint_ge(rss.part[i].bytes, rss.part[i].resident);
    sum += rss.part[i].resident;
  }
  ck_assert_uint_eq(sum, rss.all);
  return rss;
}

#define PART(r, i, all, there)                                                 \
  do {                                                                         \
    ck_assert_uint_eq((r).part[i].bytes, (all));                               \
    ck_assert_uint_eq((r).part[i].resident, (there));                          \
  } while (0)

/*
** Pages 0, 1, 3 and 4 are resident, 2 is not; 16 objects are in each:
**
**   1 --id-----> 33 (in page 2)
**     --other--> 2000 (behind all pages)
**   20, 34: garbage, in pages 1 and 2
**
** The hash part of 1 has 48 bytes, and is behind all pages, too.
*/
START_TEST(test_parts)
{
  static const uint64_t run[] = {2, 1, 2};
  CraftHeap h;
  HeapRun r;
  LpRss rss;
  LpBuf b = {0};
  uint64_t keys;
  rss_open(&h, MIB, run, 3);
  keys = h.bytes;
  graph_table(&h, 1, 0x60, 33, 2000);
  graph_list(&h, 33, 0x80, 0, 0);
  graph_list(&h, 2000, 200000, 0, 0);
  graph_list(&h, 20, 0x40, 0, 0);
  graph_list(&h, 34, 0x20, 0, 0);
  r = graph_read(&h);
  rss = rss_of(&r);
  ck_assert_uint_eq(rss.all, MIB);
  PART(rss, LP_RSS_USED, keys + 0x60 + 0x80 + 200000, keys + 0x60 + 200000);
  PART(rss, LP_RSS_GARBAGE, 0x60, 0x40);
  PART(rss, LP_RSS_UNKNOWN, 0, 0);
  PART(rss, LP_RSS_FREE, 5 * PAGE - 48 - 0x80 - 0x60, 4 * PAGE - 48 - 0x40);
  PART(rss, LP_RSS_CODE, 5 * PAGE, 3 * PAGE);
  lp_rss_sentence(&b, r.heap);
  ck_assert_ptr_nonnull(strstr(b.s, "  RSS 1.0MiB: Lua in use "));
  ck_assert_ptr_nonnull(strstr(b.s, "; of Lua not resident: 160B\n"));
  lp_buf_free(&b);
  heap_run_close(&r);
}
END_TEST

/* What is apart from the pages cannot all be resident. */
START_TEST(test_less)
{
  static const uint64_t run[] = {1};
  CraftHeap h;
  HeapRun r;
  LpRss rss;
  rss_open(&h, 8 * PAGE, run, 1);
  graph_table(&h, 1, 0x60, 2000, 0);
  graph_list(&h, 2000, MIB, 0, 0);
  r = graph_read(&h);
  rss = rss_of(&r);
  PART(rss, LP_RSS_OTHER, 0, 0);
  ck_assert_uint_gt(rss.part[LP_RSS_USED].bytes, MIB);
  PART(rss, LP_RSS_GARBAGE, 8, 8); /* A key that nothing has. */
  ck_assert_uint_eq(rss.part[LP_RSS_USED].resident,
                    5 * PAGE - 8 - rss.part[LP_RSS_FREE].resident);
  heap_run_close(&r);
}
END_TEST

/* Without pages, only Lua's bytes are known; without RSS, nothing. */
START_TEST(test_unknown)
{
  CraftHeap h;
  HeapRun r;
  LpRss rss;
  LpBuf b = {0};
  graph_open(&h, "t");
  craft_heap_process(&h, MIB, 0);
  graph_table(&h, 1, 0x60, 0, 0);
  r = graph_read(&h);
  rss = rss_of(&r);
  PART(rss, LP_RSS_FREE, 0, 0);
  ck_assert_uint_eq(rss.part[LP_RSS_OTHER].resident,
                    MIB - r.heap->dump.end.total);
  heap_run_close(&r);
  graph_open(&h, "t");
  graph_table(&h, 1, 0x60, 0, 0);
  r = graph_read(&h);
  ck_assert_int_eq(lp_rss(r.heap, &rss), 0);
  lp_rss_sentence(&b, r.heap);
  ck_assert_uint_eq(b.n, 0);
  heap_run_close(&r);
}
END_TEST

Suite *suite_rss(void)
{
  const TTest *tests[] = {test_runs, test_overlap, test_parts,
                          test_less, test_unknown, NULL};
  return suite_of("rss", tests);
}

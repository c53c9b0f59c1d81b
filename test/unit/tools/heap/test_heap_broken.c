/*
** Heap dumps that are cut, damaged, odd or hostile: what can be read is read,
** the rest is said to be missing, and nothing that is shown harms a terminal.
*/

#include <stdlib.h>
#include <string.h>

#include "harm.h"
#include "heap_run.h"
#include "recording.h"
#include "suites.h"

/* The address of object I. */
#define AT(i) (0x7f0000010000 + (i)*0x100ull)

enum { G = 1, KEY, A, B, C, D };

#define BLOCKS 10
#define EACH   20 /* Tables in a block. */

/* A list of tables; where each block begins is kept. */
static void craft_list(CraftHeap *h, size_t *at)
{
  unsigned i, n;
  craft_heap_open(h, 64);
  craft_heap_root(h, AT(0), "list");
  for (n = i = 0; n < BLOCKS; n++) {
    at[n] = h->c.out.n;
    for (; i < (n + 1) * EACH; i++) {
      craft_table(h, AT(i), 100);
      craft_item(h, 1, AT(i + 1));
    }
    if (n + 1 < BLOCKS)
      craft_heap_flush(h);
  }
  craft_table(h, AT(i), 100);
  craft_heap_end(h);
  at[BLOCKS] = h->c.out.n;
}

/* The dump, in which the bytes from AT to END are harmed. */
static HeapRun harmed(const CraftHeap *h, size_t at, size_t end, Harm harm)
{
  LpBuf b = harm_bytes(h->c.out.s, h->c.out.n, at, end, harm);
  HeapRun r = heap_read_bytes(b.s, b.n, 1);
  lp_buf_free(&b);
  return r;
}

/* A dump that ends anywhere has what came before, and says so. */
START_TEST(test_cut)
{
  size_t at[BLOCKS + 1], n;
  CraftHeap h;
  craft_list(&h, at);
  for (n = 0; n < h.c.out.n; n += 1 + n / 40) {
    HeapRun r = heap_read_bytes(h.c.out.s, n, 1);
    unsigned i, whole = 0;
    for (i = 0; i < BLOCKS; i++)
      whole += n >= at[i + 1];
    ck_assert_int_ne(r.status, 0);
    ck_assert_int_eq(r.heap != NULL, n >= at[0]);
    if (r.heap) {
      heap_check(&r);
      ck_assert_uint_eq(lp_heap_objects(r.heap), whole * EACH);
      ck_assert_uint_eq(lp_heap_reached(r.heap), whole * EACH * 100);
      ck_assert_ptr_nonnull(strstr(heap_report(&r, "text", "summary"),
                                   "; the rest of the dump is missing\n"));
      ck_assert_ptr_null(strstr(r.text.s, "% is garbage"));
      ck_assert_uint_eq(r.heap->garbage.all.objects, 0);
    }
    heap_run_close(&r);
  }
  craft_heap_close(&h);
}
END_TEST

/* Without one of the blocks, objects of the others are there. */
START_TEST(test_lost)
{
  size_t at[BLOCKS + 1];
  unsigned lost;
  CraftHeap h;
  craft_list(&h, at);
  for (lost = 1; lost < BLOCKS - 1; lost++) {
    HeapRun r = harmed(&h, at[lost], at[lost + 1], HARM_GONE);
    ck_assert_int_eq(r.status, 1);
    ck_assert_uint_eq(r.l.st.damage.events, EACH);
    heap_check(&r);
    ck_assert_uint_eq(lp_heap_objects(r.heap), (BLOCKS - 1) * EACH + 1);
    ck_assert_uint_eq(lp_heap_reached(r.heap), lost * EACH * 100);
    heap_report(&r, "text", "summary");
    ck_assert_ptr_nonnull(strstr(r.text.s,
                                 " is unknown: 20 objects were lost"
                                 "\n  Nothing is known to be garbage"));
    ck_assert_ptr_nonnull(strstr(r.text.s, "LEAK SUSPECTS\n  Unknown: "));
    ck_assert_ptr_nonnull(strstr(r.text.s, "KEEP MOST\n  Unknown: "));
    ck_assert_ptr_null(strstr(heap_report(&r, "csv", "retained"), "100"));
    heap_run_close(&r);
  }
  craft_heap_close(&h);
}
END_TEST

/* Whatever happens to a block, only its objects are missing, and status 1. */
START_TEST(test_harmed)
{
  size_t at[BLOCKS + 1];
  unsigned i;
  Harm harm;
  CraftHeap h;
  craft_list(&h, at);
  for (i = 1; i < BLOCKS - 1; i++)
    for (harm = 0; harm < NHARM; harm++) {
      HeapRun r = harmed(&h, at[i], at[i + 1], harm);
      const HarmInfo *info = HARM_INFO(harm);
      ck_assert_int_eq(r.status, 1);
      ck_assert_uint_eq(r.l.st.damage.offset, at[i + (info->behind != 0)]);
      heap_check(&r);
      ck_assert_uint_eq(lp_heap_objects(r.heap),
                        BLOCKS * EACH + 1 - (info->lost ? EACH : 0));
      heap_run_close(&r);
    }
  craft_heap_close(&h);
}
END_TEST

/* The block with the middle of an object is lost: the object keeps what came
** before; what comes behind belongs to another one.
*/
START_TEST(test_lost_middle)
{
  size_t cut[2];
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_table(&h, AT(G), 100);
  craft_item(&h, 1, AT(A));
  craft_heap_flush(&h);
  cut[0] = h.c.out.n;
  craft_table(&h, AT(B), 100);
  craft_heap_flush(&h);
  cut[1] = h.c.out.n;
  craft_owner(&h, AT(B), 0);
  craft_item(&h, 7, AT(C));
  craft_table(&h, AT(A), 100);
  craft_table(&h, AT(C), 100);
  craft_heap_end(&h);
  r = harmed(&h, cut[0], cut[1], HARM_GONE);
  ck_assert_int_eq(r.status, 1);
  heap_check(&r);
  ck_assert_str_eq(heap_place(&r, AT(A)), "_G[1]");
  ck_assert_str_eq(heap_place(&r, AT(C)), "(unreachable)");
  ck_assert_uint_eq(lp_heap_objects(r.heap), 3);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* META is lost with the first block: strings are as long as they are by
** default.
*/
START_TEST(test_lost_first)
{
  size_t cut[2];
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, LJM_HEAP_STRINGS);
  cut[0] = h.c.out.n;
  craft_heap_flush(&h);
  cut[1] = h.c.out.n;
  craft_string(&h, AT(KEY), "key");
  craft_table(&h, AT(G), 100);
  craft_heap_root(&h, AT(G), "_G");
  craft_heap_end(&h);
  r = harmed(&h, cut[0], cut[1], HARM_GONE);
  heap_check(&r);
  ck_assert_str_eq(heap_object(&r, AT(KEY)), "string \"key\"");
  ck_assert_str_eq(heap_place(&r, AT(G)), "_G");
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* References to what is not in the dump count nothing, and are in no view. */
START_TEST(test_undefined)
{
  static const uint64_t upvalue = AT(600);
  CraftTable t = {.addr = AT(A), .size = 100, .meta = AT(500)};
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_heap_root(&h, AT(501), "nobody");
  craft_table(&h, AT(G), 100);
  craft_field(&h, AT(502), AT(A));
  craft_field(&h, AT(503), AT(504));
  craft_item(&h, 2, AT(B));
  craft_item(&h, 2, AT(C));
  craft_item(&h, 2, AT(D));
  craft_table_of(&h, &t);
  craft_closure(&h, AT(B), AT(505), AT(506), &upvalue, 1);
  craft_userdata(&h, AT(C), 100, AT(507), AT(508), 0);
  craft_coroutine(&h, AT(D), 100, 0);
  craft_frame(&h, 3, AT(509));
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_objects(r.heap), 5);
  ck_assert_uint_eq(lp_heap_reached(r.heap), h.bytes);
  ck_assert_ptr_null(
      strstr(heap_report(&r, "text", "objects"), "\nLJ_TTAB @0x7f0000020"));
  heap_report(&r, "csv", "retained");
  ck_assert_ptr_null(strstr(r.text.s, ",object,_G"));
  ck_assert_ptr_null(strstr(r.text.s, ",object,nobody"));
  ck_assert_ptr_null(strstr(heap_report(&r, "csv", "tree"), "  object"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* The first definition counts. */
START_TEST(test_twice)
{
  static const char *const names[] = {"one", "two"};
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_code(&h, AT(C), "@a.lua", 1, names, 1);
  craft_table(&h, AT(G), 100);
  craft_item(&h, 1, AT(A));
  craft_table(&h, AT(G), 5000);
  craft_item(&h, 1, AT(B));
  craft_code(&h, AT(C), "@b.lua", 2, names, 2);
  craft_string(&h, AT(G), "a string now");
  craft_table(&h, AT(A), 10);
  craft_table(&h, AT(B), 10);
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 1); /* The sums are others. */
  ck_assert_uint_eq(lp_heap_objects(r.heap), 4);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 110);
  ck_assert_str_eq(heap_place(&r, AT(B)), "(unreachable)");
  ck_assert_str_eq(heap_object(&r, AT(C)), "prototype a.lua:1");
  ck_assert_uint_eq(r.heap->dump.proto[0].nuv, 1);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Address 0 is no object: the graph's root has it. */
START_TEST(test_null)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), "_G");
  craft_heap_root(&h, 0, "null");
  craft_table(&h, AT(G), 100);
  craft_field(&h, AT(G), AT(G));
  craft_string(&h, 0, "null");
  craft_table(&h, 0, 100);
  craft_item(&h, 0, AT(G));
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 1);
  ck_assert_uint_eq(lp_heap_objects(r.heap), 1);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 100);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Control bytes, quotes, invalid UTF-8: wherever names are shown. */
#define NASTY "\x1b[31m\"<\\\r\n\t\x7f\xff\xc0\x80\xe2\x80\xae,'"

/* NOLINTBEGIN(misc-misleading-bidirectional): it is to mislead. */
START_TEST(test_escapes)
{
  static const char *const names[] = {NASTY};
  static const uint64_t upvalue = AT(6);
  CraftTable t = {.addr = AT(10), .size = 1000, .meta = AT(11)};
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_heap_root(&h, AT(G), NASTY);
  craft_heap_vmpart(&h, 10, NASTY);
  craft_heap_ctype(&h, 5, 0x10000000, 8, NASTY);
  craft_string(&h, AT(KEY), NASTY);
  craft_string(&h, AT(20), "__name");
  craft_table(&h, AT(G), 1000);
  craft_field(&h, AT(KEY), AT(3));
  craft_item(&h, 1, AT(7));
  craft_item(&h, 0, AT(9));
  craft_item(&h, 0, AT(10));
  craft_code(&h, AT(4), "@" NASTY, 3, names, 1);
  craft_code(&h, AT(5), NASTY, 3, names, 1);
  craft_closure(&h, AT(3), AT(4), AT(5), &upvalue, 1);
  craft_upvalue(&h, AT(6), 0, AT(8));
  craft_table(&h, AT(8), 1000);
  craft_coroutine(&h, AT(7), 1000, 0);
  craft_frame(&h, 3, AT(3));
  craft_stackslot(&h, 3, NASTY, AT(5));
  craft_link(&h, NASTY, AT(12));
  craft_cdata(&h, AT(9), 1000, 0, 5);
  craft_table_of(&h, &t);
  craft_table(&h, AT(11), 1000);
  craft_field(&h, AT(20), AT(KEY));
  craft_table(&h, AT(12), 1000);
  craft_node(&h, LJM_VALUE_REF, AT(KEY), LJM_VALUE_TRUE, 0);
  craft_heap_end(&h);
  r = heap_read(&h); /* Looks at every view. */
  ck_assert_int_eq(r.status, 0);
  ck_assert_ptr_nonnull(strstr(heap_place(&r, AT(3)), "\\027[31m"));
  ck_assert_ptr_nonnull(strstr(heap_object(&r, AT(3)), " \\x1b[31m\"<"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST
/* NOLINTEND(misc-misleading-bidirectional) */

/* Nothing, or next to nothing. */
START_TEST(test_empty)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  r = heap_read(&h); /* The prologue only. */
  ck_assert_int_eq(r.status, 1);
  ck_assert_ptr_nonnull(r.heap);
  heap_run_close(&r);
  craft_heap_flush(&h);
  r = heap_read(&h); /* And META. */
  ck_assert_int_eq(r.status, 1);
  heap_run_close(&r);
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_objects(r.heap), 0);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Without a root, all is garbage. */
START_TEST(test_no_roots)
{
  CraftHeap h;
  HeapRun r;
  craft_heap_open(&h, 64);
  craft_table(&h, AT(G), 100);
  craft_item(&h, 1, AT(A));
  craft_table(&h, AT(A), 100);
  craft_heap_end(&h);
  r = heap_read(&h);
  ck_assert_int_eq(r.status, 0);
  ck_assert_uint_eq(lp_heap_reached(r.heap), 0);
  ck_assert_ptr_nonnull(
      strstr(heap_report(&r, "text", "summary"), "100.0% (200B) is garbage"));
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* The writer counted other things than are there: said, and status 1. */
START_TEST(test_sums)
{
  int which;
  for (which = 0; which < 4; which++) {
    CraftHeap h;
    HeapRun r;
    craft_heap_open(&h, 64);
    craft_table(&h, AT(G), 100);
    craft_heap_vmpart(&h, 20, "a part");
    h.objects += which == 1;
    h.bytes += which == 2;
    h.parts += which == 3;
    craft_heap_end(&h);
    r = heap_read(&h);
    ck_assert_int_eq(r.status, which != 0);
    ck_assert_int_eq(strstr(r.l.st.damage.what, "the dump's sums are") != NULL,
                     which != 0);
    heap_run_close(&r);
    craft_heap_close(&h);
  }
}
END_TEST

/* One dump at a time: another one is refused, and said. */
START_TEST(test_two_dumps)
{
  size_t at[BLOCKS + 1];
  CraftHeap h;
  HeapRun r;
  craft_list(&h, at);
  r = heap_read_bytes(h.c.out.s, h.c.out.n, 2);
  ck_assert_int_ne(r.status, 0);
  heap_check(&r);
  ck_assert_uint_eq(lp_heap_objects(r.heap), BLOCKS * EACH + 1);
  heap_run_close(&r);
  craft_heap_close(&h);
}
END_TEST

/* Any byte of a block may be another one. */
START_TEST(test_flipped)
{
  size_t at[BLOCKS + 1], i;
  CraftHeap h;
  craft_list(&h, at);
  for (i = 0; i < 200; i++) {
    size_t where = at[0] + (size_t)craft_random(h.c.out.n - at[0]);
    HeapRun r;
    h.c.out.s[where] =
        (char)(unsigned char)(h.c.out.s[where] ^ (1 + (int)craft_random(255)));
    r = heap_read(&h);
    ck_assert_int_eq(r.status, 1);
    heap_run_close(&r);
    h.c.out.n = 0;
    craft_heap_close(&h);
    craft_list(&h, at);
  }
  craft_heap_close(&h);
}
END_TEST

Suite *suite_heap_broken(void)
{
  const TTest *tests[] = {test_cut,         test_lost,       test_harmed,
                          test_lost_middle, test_lost_first, test_undefined,
                          test_twice,       test_null,       test_escapes,
                          test_empty,       test_no_roots,   test_sums,
                          test_two_dumps,   test_flipped,    NULL};
  return suite_of("heap_broken", tests);
}

/*
** Version 0x10: streams that are cut, or broken at any byte.
*/

#include <string.h>

#include "harm.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* The samples that are cut and broken: an event for each, events with stacks
** and types, samples of these, a CPU profile.
*/
#define KINDS 4

static void sample_of(Sample *s, int kind)
{
  if (kind == 0)
    sample_open(s);
  else if (kind == 3)
    sample_cpu(s);
  else
    sample_stacks(s, kind == 1 ? 0 : 100);
}

/* How many events the blocks hold that end within N bytes. */
static uint64_t whole(const Sample *s, size_t n)
{
  int i = 0;
  while (i < SAMPLE_BLOCKS && s->at[i + 1] <= n)
    i++;
  return s->first[i];
}

/* Cut at every byte: all whole blocks are used, and the end is reported. */
START_TEST(test_cut)
{
  Sample s;
  size_t n;
  sample_of(&s, _i);
  for (n = 0; n <= s.c.out.n; n++) {
    Run r = run_memory(s.c.out.s, n);
    run_books(&r);
    ck_assert_int_eq(r.status, n == s.c.out.n ? LP_WHOLE
                               : n >= s.at[0] ? LP_PART
                                              : LP_UNREADABLE);
    ck_assert_uint_eq(r.events, whole(&s, n));
    ck_assert_uint_le(r.st.damage.offset, n);
    ck_assert_uint_eq(r.st.ndamage, n != s.c.out.n);
    run_reports(&r);
    run_close(&r);
  }
  craft_close(&s.c);
}
END_TEST

/* One broken byte: its block is lost, nothing else. With KNOWN, what is behind
** can be read even if the first block is lost.
*/
static void broken(const Sample *s, size_t at, unsigned mask, int known)
{
  Run r;
  int i = 0;
  s->c.out.s[at] = (char)(s->c.out.s[at] ^ (int)mask);
  r = run_memory(s->c.out.s, s->c.out.n);
  run_books(&r);
  run_reports(&r);
  while (s->at[i + 1] <= at)
    i++;
  if (at >= s->at[0]) {
    uint64_t lost = s->first[i + 1] - s->first[i];
    ck_assert_int_eq(r.status, LP_PART);
    ck_assert_uint_eq(r.st.damage.offset, s->at[i]);
    ck_assert_uint_eq(r.st.damage.bytes, s->at[i + 1] - s->at[i]);
    if (i > 0 || known)
      ck_assert_uint_eq(r.events, s->c.events - lost);
    if (i < SAMPLE_BLOCKS - 1 && (i > 0 || known))
      ck_assert_uint_eq(r.st.lost, lost);
  } else if (at < 4) {
    ck_assert_int_eq(r.status, LP_UNREADABLE);
  } else if (r.status != LP_UNREADABLE) { /* Or of a kind that is not read. */
    ck_assert_uint_eq(r.events, s->c.events);
  }
  s->c.out.s[at] = (char)(s->c.out.s[at] ^ (int)mask);
  run_close(&r);
}

START_TEST(test_broken)
{
  Sample s;
  size_t n;
  unsigned bit;
  sample_of(&s, _i);
  for (n = 0; n < s.c.out.n; n++) {
    for (bit = 0; bit < 8; bit++)
      broken(&s, n, 1u << bit, _i != 2);
    broken(&s, n, 0xff, _i != 2);
  }
  craft_close(&s.c);
}
END_TEST

/* The same, of bytes within blocks whose checksums are right: anything may
** come of it, but the books are kept and memory is not touched.
*/
START_TEST(test_inside)
{
  Sample s;
  size_t n, k;
  unsigned bit;
  sample_of(&s, _i);
  for (n = s.at[0]; n < s.c.out.n; n++) {
    for (bit = 0; bit < 8; bit++) {
      LpBuf b = {0};
      Craft c = {0};
      Run r;
      lp_buf_add(&c.out, s.c.out.s, s.at[0]);
      lp_buf_add(&b, s.c.out.s, s.c.out.n);
      b.s[n] = (char)(b.s[n] ^ (int)(1u << bit));
      for (k = 0; k < SAMPLE_BLOCKS; k++) {
        c.events = s.first[k];
        lp_buf_add(&c.block, b.s + s.at[k] + LJM_BLOCK_HEADER,
                   s.at[k + 1] - s.at[k] - LJM_BLOCK_HEADER);
        craft_flush(&c);
      }
      r = run_craft(&c);
      run_books(&r);
      run_reports(&r);
      run_close(&r);
      craft_close(&c);
      lp_buf_free(&b);
    }
  }
  craft_close(&s.c);
}
END_TEST

/* Block I is harmed; behind the last one, what is there is nothing. */
static Run harmed(const Sample *s, int i, Harm harm)
{
  size_t end = i < SAMPLE_BLOCKS ? s->at[i + 1] : s->at[i];
  LpBuf b = harm_bytes(s->c.out.s, s->c.out.n, s->at[i], end, harm);
  Run r = run_memory(b.s, b.n);
  lp_buf_free(&b);
  return r;
}

/* A block of stacks that is missing: functions and sites of callers are lost.
 */
START_TEST(test_gap_stacks)
{
  Sample s;
  Run r;
  sample_stacks(&s, 0);
  r = harmed(&s, 0, HARM_GONE);
  ck_assert_uint_eq(r.st.ndamage, 1);
  ck_assert_str_eq(run_report(&r, "folded", NULL, &run_plain),
                   "(cut);(lost);(lost);(lost) 24\n"
                   "(lost) 128\n"
                   "(lost);(lost) 736\n"
                   "(lost);(lost);(lost);(lost) 512\n"
                   "(unknown) 16\n"
                   "INTERNAL 2048\n");
  run_books(&r);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* A block that is missing: the report says so. */
START_TEST(test_gap)
{
  Sample s;
  Run r;
  sample_open(&s);
  r = harmed(&s, 0, HARM_GONE);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_eq(r.st.ndamage, 1);
  ck_assert_str_eq(r.st.damage.what,
                   "expected event 0, found a block from event 112");
  ck_assert_uint_eq(r.st.damage.events, 112);
  ck_assert_uint_eq(r.st.damage.bytes, 0);
  ck_assert_str_eq(
      run_text(&r, &run_plain),
      "ALLOCATIONS\n"
      "[C] lua_cjson_new (cjson.so): 3 192 0\n"
      "(unknown): 1 8 0\n"
      "TRACE [3]: 1 24 0\n"
      "[C] 0x4d0 (lpeg.so): 1 32 0\n"
      "[string \"return {}...\"]:0, ~line 2: 1 16 0\n"
      "\n"
      "REALLOCATIONS\n"
      "(lost): 8 2048 1024\n"
      "\tOverrides:\n"
      "\t\t(lost)\n"
      "\t\t(before start)\n"
      "\n"
      "INTERNAL: 1 512 256\n"
      "\tOverrides:\n"
      "\t\t(before start)\n"
      "\n"
      "DEALLOCATIONS\n"
      "INTERNAL: 91 0 6060\n"
      "\tOverrides:\n"
      "\t\t(before start)\n"
      "\n"
      "HEAP SUMMARY (approximate: events were lost)\n"
      "(lost) holds 1088 bytes: 8 allocations, 7 deallocations\n"
      "INTERNAL holds 512 bytes: 1 allocations, 0 deallocations\n"
      "[C] lua_cjson_new (cjson.so) holds 192 bytes: 3 allocations,"
      " 0 deallocations\n"
      "[C] 0x4d0 (lpeg.so) holds 32 bytes: 1 allocations, 0 deallocations\n"
      "TRACE [3] holds 24 bytes: 1 allocations, 0 deallocations\n"
      "[string \"return {}...\"]:0, ~line 2 holds 16 bytes: 1 allocations,"
      " 0 deallocations\n"
      "(unknown) holds 8 bytes: 1 allocations, 0 deallocations\n");
  run_books(&r);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* A block that comes twice counts once. */
START_TEST(test_twice)
{
  Sample s;
  Run r;
  sample_open(&s);
  r = harmed(&s, 0, HARM_TWICE);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what,
                   "expected event 112, found a block from event 0");
  ck_assert_str_eq(run_text(&r, &run_plain), sample_text);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* Bytes that are no block, before a block, and behind the totals. */
START_TEST(test_junk)
{
  Sample s;
  int i;
  sample_open(&s);
  for (i = 0; i <= SAMPLE_BLOCKS; i++) {
    Run r = harmed(&s, i, HARM_JUNK);
    ck_assert_int_eq(r.status, LP_PART);
    ck_assert_uint_eq(r.st.damage.offset, s.at[i]);
    if (i < SAMPLE_BLOCKS)
      ck_assert_uint_eq(r.st.damage.bytes, sizeof(HARM_JUNK_BYTES) - 1);
    ck_assert_str_eq(run_text(&r, &run_plain), sample_text);
    run_close(&r);
  }
  craft_close(&s.c);
}
END_TEST

Suite *suite_broken(void)
{
  const TTest *tests[] = {test_gap, test_gap_stacks, test_twice, test_junk,
                          NULL};
  Suite *s = suite_of("broken", tests);
  TCase *tc = tcase_create("every byte");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, test_cut, 0, KINDS);
  tcase_add_loop_test(tc, test_broken, 0, KINDS);
  tcase_add_loop_test(tc, test_inside, 0, KINDS);
  suite_add_tcase(s, tc);
  return s;
}

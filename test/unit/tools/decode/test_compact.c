/*
** Version 0x10: whole streams and what their report says.
*/

#include <string.h>

#include "ljm_format.h"
#include "ljm_heap.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* The report, to the character. */
START_TEST(test_text)
{
  Sample s;
  Run r;
  sample_open(&s);
  r = run_craft(&s.c);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_str_eq(run_text(&r, &run_plain), sample_text);
  run_books(&r);
  ck_assert_uint_eq(r.st.ns, 20000000);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* --human-readable, --leak-only. */
START_TEST(test_options)
{
  LpReportOptions opt = {.human = 1, .leakonly = 1};
  Craft c;
  Run r;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 1023);
  craft_alloc(&c, LJM_SITE_UNKNOWN, 0x1000, 6349);
  craft_alloc(&c, LJM_SITE_INTERNAL, 0x2000, 1048575);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_str_eq(run_text(&r, &opt),
                   "HEAP SUMMARY\n"
                   "INTERNAL holds 1.0MiB: 1 allocations, 0 deallocations\n"
                   "(unknown) holds 6.2KiB: 1 allocations, 0 deallocations\n"
                   "(before start) holds 1023B: 0 allocations,"
                   " 0 deallocations\n");
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* A stream of nothing. */
START_TEST(test_empty)
{
  Craft c;
  Run r;
  craft_open(&c, UINT64_MAX);
  craft_flush(&c); /* A block may be empty. */
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_str_eq(run_text(&r, &run_plain), "ALLOCATIONS\n\nREALLOCATIONS\n\n"
                                             "DEALLOCATIONS\n\nHEAP SUMMARY\n");
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Bytes come as they like. */
typedef struct Dribble {
  const LpBuf *b;
  size_t at;
  unsigned step;
} Dribble;

static ssize_t dribble(void *src, void *buf, size_t n)
{
  Dribble *d = src;
  size_t left = d->b->n - d->at;
  d->step = d->step % 7 + 1;
  n = n < d->step ? n : d->step;
  n = n < left ? n : left;
  memcpy(buf, d->b->s + d->at, n);
  d->at += n;
  return (ssize_t)n;
}

START_TEST(test_dribble)
{
  Sample s;
  Dribble d = {.b = &s.c.out};
  LpInput in;
  Run r;
  sample_open(&s);
  lp_input_open(&in, dribble, &d);
  r = run_input(&in);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_str_eq(run_text(&r, &run_plain), sample_text);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* Two streams: sites meet by their keys, live objects do not. */
START_TEST(test_merge)
{
  Craft c[2];
  LpProfile *prof = lp_profile_new();
  Run r = {.prof = prof};
  int i;
  for (i = 0; i < 2; i++) {
    LpInput in;
    Run one;
    craft_open(&c[i], 1);
    craft_time(&c[i], 0);
    craft_meta(&c[i], 100);
    craft_proto(&c[i], 1u + (unsigned)i, 0, 9, 3, "@a.lua", i ? "f" : "");
    craft_site(&c[i], 5u - (unsigned)i, 0, 1u + (unsigned)i, 4);
    craft_alloc(&c[i], 5u - (unsigned)i, 0x1000, 10);
    if (i)
      craft_free(&c[i], 0, 0x2000, 30);
    else
      craft_alloc(&c[i], 5, 0x2000, 10);
    craft_totals(&c[i], 0, 0);
    craft_flush(&c[i]);
    one = run_craft(&c[i]);
    ck_assert_int_eq(one.status, LP_WHOLE);
    run_close(&one);
    lp_input_memory(&in, c[i].out.s, c[i].out.n);
    run_add(&r, &in);
    craft_close(&c[i]);
  }
  ck_assert_str_eq(
      run_text(&r, &run_plain),
      "ALLOCATIONS\n@a.lua:3, line 4: 3 30 0 (f)\n\nREALLOCATIONS\n\n"
      "DEALLOCATIONS\nINTERNAL: 1 0 30\n\tOverrides:\n\t\t(before start)\n\n"
      "HEAP SUMMARY\n"
      "(before start) holds 170 bytes: 0 allocations, 1 deallocations\n"
      "@a.lua:3, line 4 holds 30 bytes: 3 allocations, 0 deallocations (f)\n");
  run_close(&r);
}
END_TEST

/* One row for one key, two for two: the hash tells functions apart, an
** approximate line is a row of its own.
*/
START_TEST(test_keys)
{
  Craft c;
  Run r;
  unsigned i;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 9, 3, "@a.lua", "f");
  craft_proto(&c, 2, 0, 9, 3, "@a.lua", "f"); /* Loaded again. */
  craft_proto(&c, 3, 0, 8, 3, "@a.lua", "g"); /* On the same line. */
  craft_site(&c, 2, 0, 1, 4);
  craft_site(&c, 3, LJM_SITE_TRACE, 2, 4);
  craft_site(&c, 4, LJM_SITE_APPROX, 2, 4);
  craft_site(&c, 5, 0, 3, 4);
  for (i = 2; i <= 5; i++)
    craft_alloc(&c, i, 0x1000 * i, i);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_ptr_nonnull(strstr(run_text(&r, &run_plain),
                               "ALLOCATIONS\n"
                               "@a.lua:3, line 4: 2 5 0 (f)\n"
                               "@a.lua:3, line 4: 1 5 0 (g)\n"
                               "@a.lua:3, ~line 4: 1 4 0 (f)\n\n"));
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* What is not known is skipped: records, fields behind the known ones. */
START_TEST(test_skip)
{
  Craft c;
  Run r;
  unsigned code;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 7);
  for (code = LJM_REC_TOTALS + 1; code <= 31; code++)
    if (code != LJM_REC_STACK && code != LJM_REC_FOREIGN &&
        code != LJM_REC_DUMP)
      craft_record(&c, code, "\xff\xff\xff", code % 4);
  craft_record(&c, LJM_REC_SITE, "\x02\x00\x00\x00\x63\x63", 6);
  craft_record(&c, LJM_REC_TIME, "\x05\x06", 2);
  craft_record(&c, LJM_REC_META, "\x01kx\x01\x02", 5); /* A new tag. */
  craft_alloc(&c, 1, 0x1000, 10);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.st.ns, 5);
  ck_assert_uint_eq(r.events, 1);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* The recorder says that it could not see everything. */
START_TEST(test_blind)
{
  static const struct {
    unsigned flags;
    uint64_t lost;
    const char *why;
  } t[] = {
      {LJM_TOTALS_LOST, 3, "the recorder could not see all events"},
      {LJM_TOTALS_SWAPPED, 0, "the allocator was replaced"},
  };
  size_t i;
  for (i = 0; i < 2; i++) {
    Craft c;
    Run r;
    craft_open(&c, 1);
    craft_time(&c, 0);
    craft_meta(&c, 7);
    craft_free(&c, 0, 0x1000, 10);
    craft_alloc(&c, 0, 0x1000, 10);
    craft_alloc(&c, 0, 0x1000, 10);
    craft_totals(&c, t[i].flags, t[i].lost);
    craft_flush(&c);
    r = run_craft(&c);
    ck_assert_int_eq(r.status, LP_WHOLE);
    ck_assert_ptr_nonnull(
        strstr(run_text(&r, &run_plain), "\nHEAP SUMMARY (approximate: "));
    ck_assert_str_eq(r.prof->guess.s, t[i].why);
    run_close(&r);
    craft_close(&c);
  }
}
END_TEST

Suite *suite_compact(void)
{
  const TTest *tests[] = {test_text,    test_options, test_empty,
                          test_dribble, test_merge,   test_keys,
                          test_skip,    test_blind,   NULL};
  return suite_of("compact", tests);
}

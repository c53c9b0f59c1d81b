/*
** Memory outside of the VM's count.
*/

#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "limit.h"
#include "run.h"
#include "suites.h"

/* A stream begins: 1,000 bytes live, sites 2 and 3 in lines 4 and 5. */
static void open_stream(Craft *c)
{
  craft_open(c, 1);
  craft_time(c, 0);
  craft_meta(c, 1000);
  craft_proto(c, 1, 0, 7, 3, "@a.lua", "f");
  craft_site(c, 2, 0, 1, 4);
  craft_site(c, 3, 0, 1, 5);
  c->tells = 1;
}

/* It ends. Returns what was read. */
static Run close_stream(Craft *c)
{
  Run r;
  craft_totals(c, 0, 0);
  craft_flush(c);
  r = run_craft(c);
  craft_close(c);
  return r;
}

/* Blocks that come, move and go; one stays. */
static Run usual(void)
{
  Craft c;
  open_stream(&c);
  craft_alloc(&c, 2, 0x1000, 50);
  c.foreign = 1;
  craft_alloc(&c, 2, 0x2000, 100);
  craft_realloc(&c, 3, 0x2000, 100, 0x3000, 300);
  craft_alloc(&c, 2, 0x4000, 10);
  craft_free(&c, 3, 0x4000, 10);
  c.foreign = 0;
  craft_free(&c, 0, 0x1000, 50);
  return close_stream(&c);
}

START_TEST(test_usual)
{
  Run r = usual();
  const LpRow *row;
  LpForeign sum;
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  run_books(&r);
  run_reports(&r);
  row = run_row(&r, "@a.lua:3, line 5");
  ck_assert_uint_eq(row->live, 300);
  sum = lp_foreign_sum(r.prof, NULL);
  ck_assert_uint_eq(sum.live, 300);
  ck_assert_uint_eq(sum.bytes, 410);
  ck_assert_uint_eq(sum.arrived, 3);
  ck_assert_uint_eq(sum.left, 2);
  run_close(&r);
}
END_TEST

/* What reports say of it: by site, in the end and in all. */
START_TEST(test_text)
{
  Run r = usual();
  LpReportOptions opt = {.top = 0};
  ck_assert_ptr_nonnull(
      strstr(run_text(&r, &run_plain),
             "HEAP SUMMARY\n"
             "(before start) holds 1000 bytes: 0 allocations, 0 deallocations\n"
             "@a.lua:3, line 5 holds 300 bytes: 1 allocations, 0 deallocations"
             " (f)\n"
             "\nOUTSIDE OF THE VM'S COUNT\n"
             "300 bytes live, 410 allocated, 3 allocations, 2 deallocations\n"
             "@a.lua:3, line 5 holds 300 bytes: 1 allocations, 0 deallocations"
             " (f)\n"
             "@a.lua:3, line 4 holds 0 bytes: 2 allocations, 2 deallocations"
             " (f)\n"));
  run_report(&r, "text", "lines", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "Outside of the VM's count: 300 bytes "
                                         "live, 410 allocated, 3 allocations, "
                                         "2 deallocations\n\n"));
  run_report(&r, "csv", "types", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\n(outside of the VM's count),"));
  run_report(&r, "json", NULL, &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\"outside\":{\"live_bytes\":300,"
                                         "\"bytes\":410,\"allocations\":3,"
                                         "\"deallocations\":2,"));
  run_close(&r);
}
END_TEST

/* Nothing of it, nothing said. */
START_TEST(test_none)
{
  Craft c;
  Run r;
  LpReportOptions opt = {.top = 0};
  open_stream(&c);
  craft_alloc(&c, 2, 0x1000, 50);
  r = close_stream(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_ptr_null(strstr(run_text(&r, &run_plain), "OUTSIDE"));
  run_report(&r, "json", NULL, &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\"outside\":null"));
  run_close(&r);
}
END_TEST

/* More of it was there before the start, and goes, than the VM counts. */
START_TEST(test_older)
{
  Craft c;
  Run r;
  open_stream(&c);
  c.foreign = 1;
  craft_free(&c, 2, 0x5000, 7000);
  craft_realloc(&c, 2, 0x6000, 9000, 0x6000, 100);
  c.foreign = 0;
  craft_free(&c, 0, 0x7000, 400);
  r = close_stream(&c);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  run_books(&r);
  run_reports(&r);
  ck_assert_uint_eq(run_row(&r, "(before start)")->live, 600);
  ck_assert_uint_eq(run_row(&r, "@a.lua:3, line 4")->live, 100);
  ck_assert_ptr_nonnull(strstr(
      run_text(&r, &run_plain),
      "100 bytes live, 100 allocated, 1 allocations, 0 deallocations; 16000 "
      "bytes of 2 objects from before the start were freed\n"));
  run_close(&r);
}
END_TEST

/* A batch of events ends before the record on its last one. */
START_TEST(test_batches)
{
  unsigned n;
  for (n = LP_BATCH - 3; n < LP_BATCH + 3; n++) {
    Craft c;
    Run r;
    unsigned i;
    open_stream(&c);
    for (i = 0; i < n; i++)
      craft_alloc(&c, 2, 0x10000 + 64ull * i, 8);
    c.foreign = 1;
    for (i = 0; i < LP_BATCH + 5; i++)
      craft_free(&c, 2, 0x90000 + 64ull * i, 16);
    r = close_stream(&c);
    ck_assert_str_eq(r.st.damage.what, "");
    ck_assert_uint_eq(r.st.foreign.frees, LP_BATCH + 5);
    ck_assert_uint_eq(r.prof->elder.bytes, 16 * (LP_BATCH + 5));
    run_close(&r);
  }
}
END_TEST

/* Totals that tell of other events than these. */
START_TEST(test_differ)
{
  Craft c;
  Run r;
  open_stream(&c);
  c.foreign = 1;
  craft_alloc(&c, 2, 0x2000, 100);
  c.fallocs++;
  r = close_stream(&c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what,
                   "the recorder counted 2 events outside of the VM's count, "
                   "but 1 were read");
  run_close(&r);
}
END_TEST

/* An old recorder: nothing tells that 7,000 of the bytes that are freed were
** not counted. It is said that figures are approximate, and none is below 0.
*/
START_TEST(test_old)
{
  Craft c;
  Run r;
  open_stream(&c);
  c.tells = 0;
  craft_free(&c, 2, 0x5000, 7000);
  c.live += 7000; /* At the end. */
  r = close_stream(&c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what,
                   "the VM counts 1000 live bytes at the end, the events sum "
                   "up to 7000 fewer: a C module may have used "
                   "lua_getallocf()");
  ck_assert_str_eq(r.prof->guess.s, "the VM did not count all memory");
  ck_assert_uint_eq(run_row(&r, "(before start)")->live, 0);
  run_books(&r);
  run_reports(&r);
  run_close(&r);
}
END_TEST

Suite *suite_foreign(void)
{
  const TTest *tests[] = {test_usual,   test_text,   test_none, test_older,
                          test_batches, test_differ, test_old,  NULL};
  return suite_of("foreign", tests);
}

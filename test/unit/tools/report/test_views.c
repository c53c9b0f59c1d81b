/*
** Every report, to the character: golden/REPORT-KIND.txt.
*/

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* A report of the sample must be as in its file. */
static void view(const char *format, const char *name, uint64_t sample)
{
  LpReportOptions opt = {.metric = LP_METRIC_BYTES};
  const char *kind = sample ? "samples" : "all";
  LpBuf want = run_golden("%s-%s", name ? name : format, kind);
  Run r = {.prof = run_profile()};
  LpInput in;
  Sample s;
  opt.min = name ? LP_REPORT_MIN : 0; /* That of text. */
  r.prof->wanted.what = lp_report_find(format, name, LP_OF_MEMORY)->wants;
  if (r.prof->wanted.what & LP_WANT_SNAPS)
    r.prof->wanted.snap = 5000000;
  sample_stacks(&s, sample);
  lp_input_memory(&in, s.c.out.s, s.c.out.n);
  run_add(&r, &in);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_str_eq(run_report(&r, format, name, &opt), want.s);
  run_books(&r);
  run_close(&r);
  craft_close(&s.c);
  lp_buf_free(&want);
}

START_TEST(test_golden)
{
  uint64_t sample;
  for (sample = 0; sample <= 100; sample += 100) {
    view("text", "sites", sample);
    view("text", "types", sample);
    view("text", "tree", sample);
    view("text", "callers", sample);
    view("text", "functions", sample);
    view("text", "lines", sample);
    view("text", "sizes", sample);
    view("text", "time", sample);
    view("text", "snapshots", sample);
    view("folded", NULL, sample);
  }
}
END_TEST

/* Reports are found by their names, the default view by none. */
START_TEST(test_find)
{
  ck_assert_ptr_eq(lp_report_find("text", NULL, LP_OF_MEMORY),
                   &lp_report_sites);
  ck_assert_ptr_eq(lp_report_find("text", "sites", LP_OF_MEMORY),
                   &lp_report_sites);
  ck_assert_ptr_eq(lp_report_find("text", "tree", LP_OF_MEMORY),
                   &lp_report_tree);
  ck_assert_ptr_eq(lp_report_find("folded", NULL, LP_OF_MEMORY),
                   &lp_report_folded);
  ck_assert_ptr_null(lp_report_find("folded", "tree", LP_OF_MEMORY));
  ck_assert_ptr_null(lp_report_find("text", "tre", LP_OF_MEMORY));
  ck_assert_ptr_null(lp_report_find("xml", NULL, LP_OF_MEMORY));
}
END_TEST

/* How many lines there are. */
static size_t lines(const char *s)
{
  size_t n = 0;
  for (; (s = strchr(s, '\n')); s++)
    n++;
  return n;
}

/* Heap snapshots are in front of the report, to the character; what is older is
** there from the start, and what nobody told is repeated.
*/
START_TEST(test_snapshots)
{
  static const char head[] = "===== HEAP SNAPSHOT, 0.25 seconds passed\n"
                             "(unknown) holds 2048 bytes\n"
                             "(before start) holds 50 bytes\n\n"
                             "===== HEAP SNAPSHOT, 0.5 seconds passed\n"
                             "(unknown) holds 2048 bytes\n"
                             "INTERNAL holds 70 bytes\n"
                             "(before start) holds 30 bytes\n\n"
                             "===== HEAP SNAPSHOT, 0.75 seconds passed\n"
                             "(unknown) holds 2048 bytes\n"
                             "INTERNAL holds 70 bytes\n"
                             "(before start) holds 30 bytes\n\n"
                             "===== HEAP SNAPSHOT, 1 seconds passed\n"
                             "(unknown) holds 2048 bytes\n"
                             "INTERNAL holds 70 bytes\n"
                             "(before start) holds 30 bytes\n\n"
                             "ALLOCATIONS\n";
  Run r = {.prof = run_profile()};
  LpInput in;
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 50);
  craft_alloc(&c, 1, 0x1000, 2048);
  craft_time(&c, 250000000);
  craft_alloc(&c, 0, 0x2000, 70);
  craft_free(&c, 0, 0x3000, 20);
  craft_time(&c, 1100000000);
  craft_free(&c, 0, 0x1000, 2048);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r.prof->wanted.snap = 250000000;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  run_text(&r, &run_plain);
  r.text.s[strlen(head)] = '\0';
  ck_assert_str_eq(r.text.s, head);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* They have the sites that the report below them has. */
START_TEST(test_focus)
{
  static const char want[] = "===== HEAP SNAPSHOT, 0.25 seconds passed\n"
                             "INTERNAL holds 20 bytes\n\n"
                             "ALLOCATIONS\n"
                             "INTERNAL: 1 20 0\n\n";
  LpReportOptions opt = {.metric = LP_METRIC_BYTES};
  Run r = {.prof = run_profile()};
  LpShape shape;
  regex_t re;
  LpInput in;
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 50);
  craft_alloc(&c, LJM_SITE_UNKNOWN, 0x1000, 40);
  craft_alloc(&c, LJM_SITE_INTERNAL, 0x2000, 20);
  craft_time(&c, 250000000);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r.prof->wanted.snap = 250000000;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  ck_assert_int_eq(regcomp(&re, "INTERNAL", REG_EXTENDED), 0);
  lp_shape_open(&shape, r.prof, &re, NULL);
  opt.shape = &shape;
  ck_assert_ptr_nonnull(strstr(run_report(&r, "text", NULL, &opt), want));
  lp_shape_close(&shape);
  regfree(&re);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Each snapshot has the first rows, and one of all others; so have the lists of
** whose objects were taken.
*/
START_TEST(test_top)
{
  static const char want[] = "===== HEAP SNAPSHOT, 0.25 seconds passed\n"
                             "(before start) holds 50 bytes\n"
                             "(2 others) holds 60 bytes\n\n"
                             "ALLOCATIONS\n"
                             "(unknown): 1 40 0\n"
                             "INTERNAL: 1 20 0\n\n"
                             "REALLOCATIONS\n\n"
                             "DEALLOCATIONS\n"
                             "INTERNAL: 3 0 70\n"
                             "\tOverrides:\n"
                             "\t\t(before start)\n"
                             "\t\t(2 others)\n\n"
                             "HEAP SUMMARY\n"
                             "(before start) holds 40 bytes: "
                             "0 allocations, 1 deallocations\n";
  LpReportOptions opt = {.top = 1};
  Run r = {.prof = run_profile()};
  LpInput in;
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 50);
  craft_alloc(&c, LJM_SITE_UNKNOWN, 0x1000, 40);
  craft_alloc(&c, LJM_SITE_INTERNAL, 0x2000, 20);
  craft_time(&c, 250000000);
  craft_free(&c, LJM_SITE_INTERNAL, 0x1000, 40);
  craft_free(&c, LJM_SITE_INTERNAL, 0x2000, 20);
  craft_free(&c, LJM_SITE_INTERNAL, 0x3000, 10);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r.prof->wanted.snap = 250000000;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  run_text(&r, &opt);
  ck_assert_str_eq(r.text.s, want);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Code that a program makes, again and again, is one row, and one line of the
** tree, as far as its name tells; two files are not.
*/
START_TEST(test_made)
{
  static const char *const chunk[] = {
      "return 1 --[[ the beginning of a text that is too long ]] + 1",
      "return 1 --[[ the beginning of a text that is too long ]] + 2",
      "return 2", "@a.lua", "@b.lua"};
  LpReportOptions opt = {.metric = LP_METRIC_BYTES};
  Run r = {.prof = run_profile()};
  LpInput in;
  Craft c;
  uint64_t i;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  for (i = 0; i < 5; i++) {
    craft_proto(&c, 1 + i, 0, 7, 0, chunk[i], "");
    craft_site(&c, 2 + i, 0, 1 + i, 1);
    craft_alloc(&c, 2 + i, 0x1000 + i * 64, 64);
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  run_books(&r);
  run_report(&r, "csv", "lines", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\n128,40"));
  ck_assert_uint_eq(lines(r.text.s), 5);
  run_report(&r, "csv", "functions", &opt);
  ck_assert_uint_eq(lines(r.text.s), 5);
  run_report(&r, "text", "tree", &opt);
  ck_assert_uint_eq(lines(r.text.s), 6);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* A stream that claims an eternity has no eternity of snapshots, nor of steps.
 */
START_TEST(test_eternity)
{
  Run r = {.prof = run_profile()};
  LpInput in;
  uint64_t i;
  Craft c;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 50);
  for (i = 0; i < 64; i++) {
    craft_alloc(&c, 0, 0x1000 + i * 64, 1);
    craft_time(&c, UINT64_MAX >> (63 - i));
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r.prof->wanted.snap = 1000000;
  r.prof->wanted.what = LP_WANT_TIME;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  run_books(&r);
  ck_assert_uint_le(r.prof->snaps.n, 64 + SNAPS_REPEATS);
  ck_assert_uint_gt(r.prof->snaps.n, SNAPS_REPEATS / 2);
  ck_assert_uint_eq(r.prof->timeseries.n, 859);
  ck_assert_uint_eq(r.prof->timeseries.width, 10000000ull << 31);
  run_text(&r, &run_plain);
  run_report(&r, "text", "time", &run_plain);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Stacks of one line each, all metrics; nothing that was all freed is live. */
START_TEST(test_metrics)
{
  LpReportOptions opt = {.metric = LP_METRIC_ALLOCATIONS};
  Sample s;
  Run r;
  sample_stacks(&s, 0);
  r = run_craft(&s.c);
  run_report(&r, "folded", NULL, &opt);
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "\n@app.lua:0, line 3;@app.lua:10, line 14 (f) 2\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "\nINTERNAL 2\n"));
  opt.metric = LP_METRIC_LIVE;
  run_report(&r, "folded", NULL, &opt);
  ck_assert_int_eq(strncmp(r.text.s, "(before start) 4700\n", 20), 0);
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "\n@app.lua:0, line 3;@app.lua:10, line 14 (f) 96\n"));
  ck_assert_ptr_null(strstr(r.text.s, "line 2;"));
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* Sizes for people, in tables that stay tables; every type has its row. */
START_TEST(test_types)
{
  LpReportOptions opt = {.human = 1};
  Craft c;
  Run r;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  for (c.type = 0; c.type <= 15; c.type++) /* 14, 15 are of the future. */
    craft_alloc(&c, 1, 0x1000 + c.type * 64ull, c.type + 2048 * (c.type < 13));
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  run_report(&r, "text", "types", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s,
                               "\nuserdata                               1"
                               "           2.0KiB"
                               "              0              0           0B"
                               "             1      2.0KiB\n"));
  ck_assert_ptr_nonnull(strstr(
      r.text.s, "\nunknown                                3           2.0KiB"));
  ck_assert_ptr_nonnull(strstr(
      r.text.s, "\n(outside of the VM's count)            1              13B"));
  ck_assert_ptr_nonnull(strstr(
      r.text.s, "\ntotal                                 16          26.1KiB"));
  ck_assert_ptr_null(strstr(r.text.s, "before"));
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* The same line is the same frame: traced or not, approximate or not. What ends
** a frame is escaped.
*/
START_TEST(test_frames)
{
  LpReportOptions opt = run_plain;
  Craft c;
  Run r;
  uint64_t i;
  craft_open(&c, 1);
  c.stack = 9;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 1, 0, "@a;b\n.lua", "x;\ny");
  for (i = 2; i < 6; i++)
    craft_site(&c, i, (unsigned)i & 3, 1, 7);
  for (i = 2; i < 6; i++) {
    craft_change(&c, i > 2, i);
    craft_alloc(&c, 7 - i, 0x1000 * i, 1 << i);
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_str_eq(run_report(&r, "folded", NULL, &opt),
                   "@a\\x3bb\\n.lua:0, line 7 (x\\x3b\\ny);"
                   "@a\\x3bb\\n.lua:0, line 7 (x\\x3b\\ny) 60\n");
  run_report(&r, "text", "tree", &opt); /* Lines are as the sites' view's. */
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "  @a;b\\n.lua:0, ~line 7 (x;\\ny)\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "  @a;b\\n.lua:0, line 7 (x;\\ny)\n"));
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* --min: a small node goes with all below it, if it holds little as well. */
START_TEST(test_min)
{
  LpReportOptions opt = {.min = 10};
  Craft c;
  Run r;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_alloc(&c, 0, 0x1000, 980);
  craft_alloc(&c, 1, 0x2000, 20);
  craft_free(&c, 0, 0x1000, 980);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_ptr_nonnull(strstr(run_report(&r, "text", "tree", &opt), "(unkn"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "INTERNAL"));
  run_close(&r);
  craft_alloc(&c, 0, 0x3000, 980);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_ptr_null(strstr(run_report(&r, "text", "tree", &opt), "(unkn"));
  opt.min = 0;
  ck_assert_ptr_nonnull(strstr(run_report(&r, "text", "tree", &opt), "(unkn"));
  run_close(&r);
  craft_close(&c);
}
END_TEST

Suite *suite_views(void)
{
  const TTest *tests[] = {test_golden,   test_find,    test_snapshots,
                          test_top,      test_focus,   test_made,
                          test_eternity, test_metrics, test_types,
                          test_frames,   test_min,     NULL};
  return suite_of("views", tests);
}

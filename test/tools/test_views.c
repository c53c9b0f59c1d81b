/*
** Every report, to the character: golden/REPORT-KIND.txt.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* A report of the sample must be as in its file. */
static void view(const char *format, const char *name, uint64_t sample)
{
  LpReportOptions opt = {.min = LP_REPORT_MIN, .metric = LP_METRIC_BYTES};
  const char *kind = sample ? "samples" : "all";
  LpBuf want = run_golden("%s-%s", name ? name : format, kind);
  Sample s;
  Run r;
  sample_stacks(&s, sample);
  r = run_craft(&s.c);
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
  for (c.type = 0; c.type <= 15; c.type++) /* 13 to 15 are of the future. */
    craft_alloc(&c, 1, 0x1000 + c.type * 64ull, c.type + 2048 * (c.type < 13));
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  run_report(&r, "text", "types", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s,
                               "\nuserdata            1           2.0KiB"
                               "              0              0           0B"
                               "             1      2.0KiB\n"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "\nunknown             4           2.0KiB"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "\ntotal              16          26.1KiB"));
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
  const TTest *tests[] = {test_golden, test_find, test_metrics, test_types,
                          test_frames, test_min,  NULL};
  return suite_of("views", tests);
}

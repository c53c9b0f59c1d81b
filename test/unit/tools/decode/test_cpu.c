/*
** CPU profiles: what reports make of them, and of those that lie.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "harm.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* -- Reports -------------------------------------------------------------- */

static const char head[] =
    "Samples: 100 of cpu-clock at 100 Hz, 1.05 s of CPU time in 3.00 s\n"
    "Coverage: 98.1%, 103 fired of 105 expected\n"
    "Dropped: 3 (2.9%): full 2, late 1\n"
    "Truncated: 5 (5.0%): norow 3, native 2\n"
    "Unsure: 2 (2.0%) function not proven, 22 (22.0%) line approximate\n"
    "\n";

/* A report of the sample must be HEAD and WANT. */
static void view(const char *format, const char *name, const char *sort,
                 const char *head, const char *want)
{
  LpReportOptions opt = {.sort = sort};
  LpBuf all = {0};
  Sample s;
  Run r;
  sample_cpu(&s);
  r = run_craft(&s.c);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  lp_buf_puts(&all, head);
  lp_buf_puts(&all, want);
  ck_assert_str_eq(run_report(&r, format, name, &opt), all.s);
  run_books(&r);
  run_close(&r);
  lp_buf_free(&all);
  craft_close(&s.c);
}

/* Totals have a stack once, however often the function is in it. */
START_TEST(test_functions)
{
  static const char self[] =
      "        self      %        total      %  FUNCTION\n"
      "          64  64.0%           82  82.0%  @app.lua:10 (f)\n"
      "          15  15.0%           15  15.0%  0x4d0 (lpeg.so)\n"
      "          10  10.0%           10  10.0%  string.rep\n"
      "           5   5.0%            5   5.0%  do_syscall_64_[k]\n"
      "           3   3.0%            8   8.0%  malloc (libc.so.6)\n"
      "           2   2.0%           17  17.0%  ~app:20 (g;h)\n"
      "           1   1.0%            1   1.0%  (unknown)\n"
      "           0   0.0%           94  94.0%  @app.lua:0\n"
      "           0   0.0%            3   3.0%  (truncated: no row)\n"
      "           0   0.0%            2   2.0%  (cut)\n";
  static const char total[] =
      "        self      %        total      %  FUNCTION, sorted by "
      "total\n"
      "           0   0.0%           94  94.0%  @app.lua:0\n"
      "          64  64.0%           82  82.0%  @app.lua:10 (f)\n"
      "           2   2.0%           17  17.0%  ~app:20 (g;h)\n"
      "          15  15.0%           15  15.0%  0x4d0 (lpeg.so)\n"
      "          10  10.0%           10  10.0%  string.rep\n"
      "           3   3.0%            8   8.0%  malloc (libc.so.6)\n"
      "           5   5.0%            5   5.0%  do_syscall_64_[k]\n"
      "           0   0.0%            3   3.0%  (truncated: no row)\n"
      "           0   0.0%            2   2.0%  (cut)\n"
      "           1   1.0%            1   1.0%  (unknown)\n";
  view("text", NULL, NULL, head, self);
  view("text", "functions", "total", head, total);
}
END_TEST

START_TEST(test_lines)
{
  static const char want[] =
      "        self      %        total      %  LINE\n"
      "          40  40.0%           78  78.0%  @app.lua:10, line 14 (f)\n"
      "          20  20.0%           20  20.0%  @app.lua:10, ~line 15 (f)\n"
      "          15  15.0%           15  15.0%  0x4d0 (lpeg.so)\n"
      "          10  10.0%           10  10.0%  string.rep\n"
      "           5   5.0%            5   5.0%  do_syscall_64_[k]\n"
      "           4   4.0%            4   4.0%  @app.lua:10, line ? (f)\n"
      "           3   3.0%            8   8.0%  malloc (libc.so.6)\n"
      "           2   2.0%           17  17.0%  app:20?, ~line 26 (g;h)\n"
      "           1   1.0%            1   1.0%  (unknown)\n"
      "           0   0.0%           94  94.0%  @app.lua:0, line 3\n"
      "           0   0.0%            3   3.0%  (truncated: no row)\n"
      "           0   0.0%            2   2.0%  (cut)\n";
  view("text", "lines", NULL, head, want);
}
END_TEST

START_TEST(test_tree)
{
  static const char want[] =
      "       total      %         self      %  CALL TREE\n"
      "         100 100.0%            0   0.0%  (all)\n"
      "          94  94.0%            0   0.0%    @app.lua:0, line 3\n"
      "          75  75.0%           40  40.0%      @app.lua:10, line 14 (f)\n"
      "          20  20.0%            0   0.0%        @app.lua:10, ~line 15"
      " (f)\n"
      "          20  20.0%            0   0.0%          @app.lua:10, line 14"
      " (f)\n"
      "          20  20.0%           20  20.0%            @app.lua:10, ~line 15"
      " (f)\n"
      "          10  10.0%           10  10.0%        string.rep\n"
      "           5   5.0%            0   0.0%        malloc (libc.so.6)\n"
      "           5   5.0%            5   5.0%          do_syscall_64_[k]\n"
      "          15  15.0%            0   0.0%      app:20?, ~line 26 (g;h)\n"
      "          15  15.0%           15  15.0%        0x4d0 (lpeg.so)\n"
      "           4   4.0%            4   4.0%      @app.lua:10, line ? (f)\n"
      "           3   3.0%            0   0.0%    (truncated: no row)\n"
      "           3   3.0%            0   0.0%      @app.lua:10, line 14 (f)\n"
      "           3   3.0%            3   3.0%        malloc (libc.so.6)\n"
      "           2   2.0%            0   0.0%    (cut)\n"
      "           2   2.0%            2   2.0%      app:20?, ~line 26 (g;h)\n"
      "           1   1.0%            1   1.0%    (unknown)\n";
  view("text", "tree", NULL, head, want);
}
END_TEST

START_TEST(test_threads)
{
  static const char want[] =
      "     samples      %        pid        tid  THREAD\n"
      "          64  64.0%       4711       4711  luajit (luajit app.lua)\n"
      "          35  35.0%       4711       4712  worker (luajit app.lua)\n"
      "           1   1.0%          0          0  (unknown)\n";
  view("text", "threads", NULL, head, want);
}
END_TEST

/* Approximate and exact lines are one frame; nothing in a name ends one. */
START_TEST(test_folded)
{
  static const char want[] =
      "(cut);g\\x3bh@app:26 2\n"
      "(truncated: no row);f@app.lua:14;malloc (libc.so.6) 3\n"
      "(unknown) 1\n"
      "@app.lua:3;f@app.lua:14 40\n"
      "@app.lua:3;f@app.lua:14;f@app.lua:15;f@app.lua:14;f@app.lua:15 20\n"
      "@app.lua:3;f@app.lua:14;malloc (libc.so.6);do_syscall_64_[k] 5\n"
      "@app.lua:3;f@app.lua:14;string.rep 10\n"
      "@app.lua:3;f@app.lua:? 4\n"
      "@app.lua:3;g\\x3bh@app:26;0x4d0 (lpeg.so) 15\n";
  view("folded", NULL, NULL, "", want);
}
END_TEST

/* What is small goes, and what is left keeps its place. */
START_TEST(test_min)
{
  LpReportOptions opt = {.min = 17};
  Sample s;
  Run r;
  sample_cpu(&s);
  r = run_craft(&s.c);
  ck_assert_ptr_nonnull(
      strstr(run_report(&r, "text", NULL, &opt), "~app:20 (g;h)\n"));
  ck_assert_ptr_null(strstr(r.text.s, "lpeg"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "  FUNCTION, without what has less than 17%\n"));
  run_report(&r, "text", "tree", &opt);
  ck_assert_ptr_nonnull(strstr(r.text.s, "(all)"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "@app.lua:10, ~line 15"));
  ck_assert_ptr_null(strstr(r.text.s, "app:20"));
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* The same stream twice: all numbers are twice as large, nothing is new. */
START_TEST(test_twice)
{
  Sample s;
  LpInput in;
  Run r;
  sample_cpu(&s);
  r = run_craft(&s.c);
  lp_input_memory(&in, s.c.out.s, s.c.out.n);
  run_add(&r, &in);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.prof->cpu.threads.n, 3);
  run_report(&r, "text", NULL, &run_plain);
  ck_assert_ptr_nonnull(strstr(
      r.text.s, "Samples: 200 of cpu-clock at 100 Hz, 2.10 s of CPU time in "
                "6.00 s\nCoverage: 98.1%, 206 fired of 210 expected\n"));
  ck_assert_ptr_nonnull(
      strstr(r.text.s, "\n         128  64.0%          164  82.0%  @app"));
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* Memory and CPU in one profile: both keep their numbers, and one tree. */
START_TEST(test_both)
{
  LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_BYTES) |
                     LP_METRIC_BIT(LP_METRIC_SAMPLES),
                 LP_MERGE_NONE, NULL, 0, 0};
  Sample s, m;
  LpInput in;
  LpTree t;
  Run r;
  sample_cpu(&s);
  sample_stacks(&m, 0);
  r = run_craft(&m.c);
  lp_input_memory(&in, s.c.out.s, s.c.out.n);
  run_add(&r, &in);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.prof->of, LP_OF_MEMORY | LP_OF_CPU);
  lp_tree_open(&t, r.prof, &of);
  lp_tree_total(&t);
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_SAMPLES), 100);
  ck_assert_uint_eq(lp_tree_totals(&t, 0, LP_METRIC_BYTES), 4888);
  lp_tree_close(&t);
  run_close(&r);
  craft_close(&s.c);
  craft_close(&m.c);
}
END_TEST

/* -- Damage --------------------------------------------------------------- */

/* The first block is lost with all that it defined. */
START_TEST(test_gap)
{
  Sample s;
  LpBuf b;
  Run r;
  sample_cpu(&s);
  b = harm_bytes(s.c.out.s, s.c.out.n, s.at[0], s.at[1], HARM_GONE);
  r = run_memory(b.s, b.n);
  ck_assert_uint_eq(r.st.ndamage, 1);
  ck_assert_uint_eq(r.st.lost, 4);
  ck_assert_str_eq(run_report(&r, "folded", NULL, &run_plain),
                   "(cut);(lost) 2\n"
                   "(lost);(lost) 4\n"
                   "(lost);(lost);(lost) 18\n"
                   "(unknown) 1\n");
  run_report(&r, "text", "threads", &run_plain);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\nLost: 4 records of samples\n"));
  ck_assert_ptr_nonnull(strstr(r.text.s, "          25 100.0%          0"));
  run_books(&r);
  run_close(&r);
  lp_buf_free(&b);
  craft_close(&s.c);
}
END_TEST

/* Killed: the books are missing, and the report says so. */
START_TEST(test_killed)
{
  static const char want[] =
      "Samples: 96 of cpu-clock at 100 Hz\n"
      "Truncated: 5 (5.2%)\n"
      "Unsure: 2 (2.1%) function not proven, 22 (22.9%) line approximate\n"
      "Statistics: missing, so it is unknown what was dropped\n"
      "\n";
  Sample s;
  Run r;
  sample_cpu(&s);
  r = run_memory(s.c.out.s, s.at[2]);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what,
                   "expected a block or the statistics, the stream ends");
  ck_assert_ptr_eq(strstr(run_report(&r, "text", NULL, &run_plain), want),
                   r.text.s);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* A stream whose second block has these bytes must be damaged like this. */
static void contents(const void *p, size_t n, const char *what)
{
  Craft c;
  Run r;
  craft_open_cpu(&c);
  craft_time(&c, 0);
  craft_meta_cpu(&c, 99);
  craft_sample(&c, 0, 0, 7);
  craft_flush(&c);
  lp_buf_add(&c.block, p, n);
  craft_flush(&c);
  craft_books(&c, NULL, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, *what ? LP_PART : LP_WHOLE);
  ck_assert_str_eq(r.st.damage.what, what);
  run_books(&r);
  run_reports(&r);
  run_close(&r);
  craft_close(&c);
}

#define CONTENTS(s, what) contents(s, sizeof(s) - 1, what)

START_TEST(test_contents)
{
  CONTENTS("\x09\x01\x02", "an event of memory in a CPU profile, found 0x09");
  CONTENTS("\x1c\x01\x00", ""); /* TOTALS are nothing here. */
  CONTENTS("\x30\x01\x00", ""); /* VM is of the future. */
  CONTENTS("\x34\x03\x00\x05\x01", "thread 5 is not defined");
  CONTENTS("\x34\x02\x00\x00",
           "a record of kind 13 is too short for its fields");
  CONTENTS("\x2c\x05\x01\x00\x03\x01\x00", "process 3 is not defined");
  CONTENTS("\x2c\x04\x01\x00\x00\x01",
           "a record of kind 11 is too short for its fields");
  CONTENTS("\x28\x05\x01\x00\x00\x01\x00",
           "a record of kind 10 is too short for its fields");
  CONTENTS("\x24\x05\x01\x00\x04\x01\x00", "module 4 is not defined");
  CONTENTS("\x24\x05\x01\x00\x00\x01\x07",
           "a record of kind 9 is too short for its fields");
  CONTENTS("\x20\x04\x01\x00\x00\x07",
           "a record of kind 8 is too short for its fields");
  CONTENTS("\x34\x0c\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
           "more samples than there can be");
}
END_TEST

/* The other kind has nothing of this. */
START_TEST(test_memory)
{
  Craft c;
  Run r;
  craft_open(&c, 1);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_sample(&c, 0, 0, 7);
  c.fresh--;
  craft_books(&c, NULL, 0);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.prof->of, LP_OF_MEMORY);
  ck_assert_uint_eq(r.prof->cpu.samples, 0);
  run_books(&r);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Books that do not match. */
static void books(uint64_t fired, uint64_t delivered, uint64_t dropped,
                  const char *what)
{
  const CraftBook book[] = {
      {"fired", fired}, {"delivered", delivered}, {"dropped", dropped}};
  Craft c;
  Run r;
  craft_open_cpu(&c);
  craft_time(&c, 0);
  craft_meta_cpu(&c, 99);
  craft_sample(&c, 0, 0, 7);
  craft_books(&c, book, 3);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_str_eq(r.st.damage.what, what);
  ck_assert_int_eq(r.status, *what ? LP_PART : LP_WHOLE);
  run_close(&r);
  craft_close(&c);
}

START_TEST(test_books)
{
  books(9, 7, 2, "");
  books(9, 8, 1, "the statistics count 8 samples, 7 were read");
  books(9, 6, 3, "the statistics count 6 samples, 7 were read");
  books(9, 7, 1,
        "the statistics count 9 samples fired, 7 delivered, 1 dropped");
}
END_TEST

/* Ids and counts as they come: memory does not follow their value. */
START_TEST(test_values)
{
  Craft c;
  Run r;
  uint64_t i, id = UINT64_MAX;
  const CraftBook book[] = {{"fired", id},    {"cpu_ns", id},
                            {"dropped_", id}, {"dropped_\n", id},
                            {"complete", id}, {"ns", id}};
  craft_open_cpu(&c);
  craft_time(&c, id);
  craft_meta_cpu(&c, id);
  craft_module(&c, id, "x", "y");
  craft_native(&c, id, ~0u, id, id, "\n");
  craft_named(&c, id - 1, ~0u, "");
  craft_named(&c, id - 2, LJM_CFUNC_BUILTIN, "");
  craft_process(&c, id, id, "");
  craft_thread(&c, id, id, id, "");
  for (i = 0; i < 3; i++)
    craft_site(&c, id - i, ~0u, id - i, id);
  for (i = 0; i < 100000; i++) {
    craft_change(&c, i % 1000 ? i % 3 : 0, id, id - 1, id - 2);
    craft_sample(&c, ~0u, id, i % 1000 ? 1 : id);
    if (i % 1000 == 999)
      craft_stack(&c, 0);
  }
  craft_books(&c, book, 6);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_uint_eq(r.events, 100000);
  ck_assert_uint_eq(r.prof->cpu.samples, 99900);
  ck_assert_uint_eq(r.st.ndamage, 100);
  run_books(&r);
  run_reports(&r);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* A second prologue that is broken: META tells what it is. */
START_TEST(test_prologue)
{
  Sample s;
  Run r;
  sample_cpu(&s);
  s.c.out.s[11] = '?';
  r = run_craft(&s.c);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_uint_eq(r.prof->of, LP_OF_CPU);
  ck_assert_uint_eq(r.prof->cpu.samples, 100);
  run_report(&r, "folded", NULL, &run_plain);
  ck_assert_ptr_nonnull(strstr(r.text.s, "\n@app.lua:3;f@app.lua:14 40\n"));
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

Suite *suite_cpu(void)
{
  const TTest *tests[] = {
      test_functions, test_lines,  test_tree,     test_threads,
      test_folded,    test_min,    test_twice,    test_both,
      test_gap,       test_killed, test_contents, test_memory,
      test_books,     test_values, test_prologue, NULL};
  return suite_of("cpu", tests);
}

/*
** What options make of reports: golden/NAME.txt, to the character.
*/

#include <regex.h>
#include <string.h>

#include "run.h"
#include "sample.h"
#include "suites.h"

/* What a report is of. */
typedef enum Of { WHOLE, SAMPLED, CPU, DIFF, DIFF_SAMPLED, DIFF_CPU } Of;

typedef struct Case {
  const char *name; /* Of the file in golden/. */
  Of of;
  const char *format, *view;
  LpReportOptions opt;
} Case;

#define PLAIN(...)                                                             \
  {                                                                            \
    .metric = LP_METRIC_BYTES, ##__VA_ARGS__                                   \
  }
#define METRIC(m, ...)                                                         \
  {                                                                            \
    .metric = LP_METRIC_##m, .chosen = 1, ##__VA_ARGS__                        \
  }
#define AGAINST(...)                                                           \
  {                                                                            \
    .base = "old", ##__VA_ARGS__                                               \
  }
#define CHANGE(m, ...)                                                         \
  {                                                                            \
    .metric = LP_METRIC_##m, .chosen = 1, .base = "old", ##__VA_ARGS__         \
  }

static const Case cases[] = {
    {"tree-live", WHOLE, "text", "tree", METRIC(LIVE)},
    {"functions-live", WHOLE, "text", "functions",
     METRIC(LIVE, .sort = "total")},
    {"types-freed", WHOLE, "text", "types", METRIC(FREED, .human = 1)},
    {"callers-samples-live", SAMPLED, "text", "callers", METRIC(LIVE)},
    {"lines-focus", WHOLE, "text", "lines", PLAIN(.focus = "line 3$")},
    {"tree-ignore", WHOLE, "text", "tree",
     PLAIN(.focus = "^@app", .ignore = "g;h|cut")},
    {"sites-ignore", WHOLE, "text", "sites",
     PLAIN(.ignore = "^@app\\.lua:10", .human = 1)},
    {"types-focus", WHOLE, "text", "types", PLAIN(.focus = "\\(f\\)")},
    {"folded-focus", WHOLE, "folded", NULL, PLAIN(.focus = "line 26")},
    {"sites-top", WHOLE, "text", "sites", PLAIN(.top = 1)},
    {"tree-top", WHOLE, "text", "tree", PLAIN(.top = 2)},
    {"lines-top", WHOLE, "text", "lines", PLAIN(.top = 3, .sort = "live")},
    {"types-top", WHOLE, "text", "types", PLAIN(.top = 2, .sort = "type")},
    {"tree-least", WHOLE, "text", "tree", PLAIN(.least = 512, .sort = "name")},
    {"functions-cpu-top", CPU, "text", "functions", {.top = 2, .sort = "name"}},
    {"callers-cpu", CPU, "text", "callers", {.least = 5}},
    {"threads-cpu-top", CPU, "text", "threads", {.top = 1, .sort = "tid"}},
    {"tree-cpu-self", CPU, "text", "tree", {.sort = "self", .focus = "malloc"}},
    {"functions-diff", DIFF, "text", "functions",
     AGAINST(.metric = LP_METRIC_BYTES)},
    {"lines-diff", DIFF, "text", "lines", CHANGE(LIVE, .min = 1)},
    {"types-diff", DIFF, "text", "types", CHANGE(ALLOCATIONS)},
    {"tree-diff", DIFF, "text", "tree", CHANGE(LIVE)},
    {"callers-diff", DIFF, "text", "callers", CHANGE(BYTES, .top = 3)},
    {"folded-diff", DIFF, "folded", NULL, CHANGE(LIVE)},
    {"csv-diff", DIFF, "csv", NULL, CHANGE(LIVE)},
    {"functions-diff-samples", DIFF_SAMPLED, "text", "functions",
     CHANGE(BYTES)},
    {"functions-diff-cpu", DIFF_CPU, "text", "functions",
     AGAINST(.sort = "total")},
    {"tree-diff-cpu", DIFF_CPU, "text", "tree", AGAINST(.least = 10)},
};

/* Add one of the sample streams. */
static void add(Run *r, Of of, int other)
{
  Sample s = {0};
  LpInput in;
  if (other)
    sample_open(&s);
  else if (of == CPU || of == DIFF_CPU)
    sample_cpu(&s);
  else
    sample_stacks(&s, of == SAMPLED || of == DIFF_SAMPLED ? 100 : 0);
  lp_input_memory(&in, s.c.out.s, s.c.out.n);
  run_add(r, &in);
  ck_assert_int_eq(r->status, LP_WHOLE);
  craft_close(&s.c);
}

/* What a report is of. In a diff there was one thing, and there is another, and
** more of something else.
*/
static Run make(Of of)
{
  Run r = {.prof = run_profile()};
  if (of >= DIFF) {
    add(&r, of, 0);
    if (of == DIFF)
      add(&r, of, 1);
    lp_profile_set_baseline(r.prof);
    add(&r, of, 0);
  }
  add(&r, of, 0);
  return r;
}

static void check(const Case *c)
{
  LpReportOptions opt = c->opt;
  Run r = make(c->of);
  LpBuf want = run_golden("%s", c->name);
  regex_t focus, ignore;
  LpShape shape;
  if (opt.focus)
    ck_assert_int_eq(regcomp(&focus, opt.focus, REG_EXTENDED), 0);
  if (opt.ignore)
    ck_assert_int_eq(regcomp(&ignore, opt.ignore, REG_EXTENDED), 0);
  lp_shape_open(&shape, r.prof, opt.focus ? &focus : NULL,
                opt.ignore ? &ignore : NULL);
  opt.shape = &shape;
  ck_assert_str_eq(run_report(&r, c->format, c->view, &opt), want.s);
  if (opt.focus)
    regfree(&focus);
  if (opt.ignore)
    regfree(&ignore);
  lp_shape_close(&shape);
  lp_buf_free(&want);
  run_close(&r);
}

START_TEST(test_golden)
{
  size_t i;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    check(&cases[i]);
}
END_TEST

/* Rows add up, whatever is counted; callers share what was called. */
START_TEST(test_sums)
{
  Of of;
  LpMetric m;
  for (of = WHOLE; of <= CPU; of++) {
    Run r = make(of);
    for (m = 0; m < LP_NMETRIC; m++) {
      run_rows(&r, "functions", m);
      run_rows(&r, "lines", m);
    }
    if (of != SAMPLED)
      run_callers(&r);
    run_close(&r);
  }
}
END_TEST

/* What is less what was is the change; of the same, nothing has changed. */
START_TEST(test_diff)
{
  Of of;
  for (of = DIFF; of <= DIFF_CPU; of++) {
    Run r = make(of);
    run_change(&r, 0);
    lp_profile_set_baseline(r.prof);
    add(&r, of, 0);
    lp_profile_set_baseline(r.prof);
    add(&r, of, 0);
    run_change(&r, 1);
    run_close(&r);
  }
}
END_TEST

/* A diff counts anew what a profile alone counts. */
START_TEST(test_turn)
{
  Run r = make(WHOLE), d = make(DIFF);
  LpTreeOf of = {LP_METRIC_BIT(LP_METRIC_BYTES) | LP_METRIC_BIT(LP_METRIC_LIVE),
                 LP_MERGE_NONE, NULL, 0, 0};
  LpTree a, b;
  lp_tree_open(&a, r.prof, &of);
  lp_tree_open(&b, d.prof, &of);
  lp_tree_total(&a);
  lp_tree_total(&b);
  ck_assert_uint_eq(lp_tree_totals(&b, 0, LP_METRIC_BYTES),
                    2 * lp_tree_totals(&a, 0, LP_METRIC_BYTES));
  ck_assert_uint_eq(lp_tree_totals(&b, 0, LP_METRIC_LIVE),
                    2 * lp_tree_totals(&a, 0, LP_METRIC_LIVE));
  lp_tree_close(&a);
  lp_tree_close(&b);
  run_close(&d);
  run_close(&r);
}
END_TEST

Suite *suite_shape(void)
{
  const TTest *tests[] = {test_golden, test_sums, test_diff, test_turn, NULL};
  return suite_of("shape", tests);
}

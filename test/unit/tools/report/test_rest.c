/*
** Reports that keep to a bound, or to --min: what they leave out is in one
** stack, the rest, and all sums stay what they are.
*/

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "sample.h"
#include "suites.h"

#define SLACK 200 /* Bytes of the rest, and of what is around stacks. */

/* Profiles: of memory, of CPU time, and the difference of two. */
typedef enum Of { MEMORY, CPU, DIFF, NOF } Of;

/* What is reported of them. */
static const LpReportOptions plain[NOF] = {
    {.metric = LP_METRIC_BYTES},
    {.metric = LP_METRIC_SAMPLES},
    {.metric = LP_METRIC_LIVE, .chosen = 1, .base = "old"}};

/* Bounds and amounts from nothing to all. */
static const uint64_t steps[] = {1,   30,  60,   100,  150,  250,      400,
                                 600, 900, 1300, 2000, 5000, 100000000};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* Read a stream once more. */
static void add(Run *r, const Craft *c)
{
  LpInput in;
  lp_input_memory(&in, c->out.s, c->out.n);
  run_add(r, &in);
}

static Run make(Of of)
{
  Run r = {.prof = run_profile()};
  Sample s = {0};
  if (of == CPU)
    sample_cpu(&s);
  else
    sample_stacks(&s, 0);
  if (of == DIFF) {
    add(&r, &s.c);
    lp_profile_set_baseline(r.prof);
    add(&r, &s.c);
  }
  add(&r, &s.c);
  craft_close(&s.c);
  return r;
}

/* As run_report. Returns whether the report was cut to its bound. */
static int report(Run *r, const char *format, const char *view,
                  const LpReportOptions *opt)
{
  const LpSubject subject = {.prof = r->prof};
  LpOut out;
  lp_buf_free(&r->text);
  lp_out_open(&out, -1);
  lp_report_write(format, view, &out, &subject, opt);
  r->text = out.buf;
  return out.cut != NULL;
}

/* The sums of the numbers of folded stacks: now, and of the baseline. */
typedef struct Sums {
  uint64_t now, base;
  size_t lines;
} Sums;

static Sums folded(const Run *r, Of of)
{
  const char *s = r->text.s, *end;
  Sums sums = {0, 0, 0};
  for (; s && *s; s = end + 1) {
    const char *p;
    end = strchr(s, '\n');
    ck_assert_ptr_nonnull(end);
    p = memrchr(s, ' ', (size_t)(end - s));
    sums.now += strtoull(p, NULL, 10);
    if (of == DIFF)
      sums.base += strtoull((const char *)memrchr(s, ' ', (size_t)(p - s)) + 1,
                            NULL, 10);
    sums.lines++;
  }
  return sums;
}

/* Is there a rest, in the last line? */
static int has_rest(const Run *r)
{
  const char *rest = strstr(r->text.s, "(rest) ");
  return rest && (rest == r->text.s || rest[-1] == '\n') &&
         strchr(rest, '\n')[1] == '\0';
}

/* Folded stacks keep to any bound, and what they have in all is what it was. */
START_TEST(test_folded)
{
  LpReportOptions opt = plain[_i];
  Run r = make((Of)_i);
  Sums all, some;
  size_t i, n, before = 0;
  ck_assert(!report(&r, "folded", NULL, &opt));
  all = folded(&r, (Of)_i);
  n = r.text.n;
  ck_assert(!strstr(r.text.s, "(rest)"));
  for (i = 0; i < STEPS; i++) {
    opt.most = steps[i];
    ck_assert_int_eq(report(&r, "folded", NULL, &opt), has_rest(&r));
    some = folded(&r, (Of)_i);
    ck_assert_uint_eq(some.now, all.now);
    ck_assert_uint_eq(some.base, all.base);
    ck_assert_uint_le(r.text.n, steps[i] + SLACK);
    ck_assert_uint_ge(some.lines, before);
    before = some.lines;
  }
  ck_assert_uint_eq(r.text.n, n);
  run_close(&r);
}
END_TEST

/* The same of --min: no line but the rest has less. */
START_TEST(test_min)
{
  LpReportOptions opt = plain[_i];
  Run r = make((Of)_i);
  Sums all, some;
  size_t i;
  report(&r, "folded", NULL, &opt);
  all = folded(&r, (Of)_i);
  for (i = 0; i < STEPS; i++) {
    opt.least = steps[i];
    ck_assert(!report(&r, "folded", NULL, &opt));
    some = folded(&r, (Of)_i);
    ck_assert_uint_eq(some.now, all.now);
    ck_assert_uint_eq(some.base, all.base);
    ck_assert(some.lines < all.lines ? has_rest(&r) : i < STEPS);
  }
  ck_assert_uint_eq(some.lines, 1);
  opt.least = 0;
  opt.min = 100;
  report(&r, "folded", NULL, &opt);
  ck_assert_uint_eq(folded(&r, (Of)_i).lines, 1);
  run_close(&r);
}
END_TEST

/* The sum of a profile's weights, which belong to its samples, whose frames
** exist.
*/
static uint64_t scope_sum(const json_t *root, const json_t *profile)
{
  const json_t *frames =
      json_object_get(json_object_get(root, "shared"), "frames");
  const json_t *samples = json_object_get(profile, "samples");
  const json_t *weights = json_object_get(profile, "weights");
  uint64_t sum = 0;
  size_t i, k;
  ck_assert_uint_eq(json_array_size(samples), json_array_size(weights));
  for (i = 0; i < json_array_size(weights); i++) {
    const json_t *stack = json_array_get(samples, i);
    sum += (uint64_t)json_integer_value(json_array_get(weights, i));
    for (k = 0; k < json_array_size(stack); k++)
      ck_assert_uint_lt((uint64_t)json_integer_value(json_array_get(stack, k)),
                        json_array_size(frames));
  }
  ck_assert_uint_eq(
      sum, (uint64_t)json_integer_value(json_object_get(profile, "endValue")));
  return sum;
}

/* Each profile has its sum in all of these documents. */
static void scope_same(const Run *r, const char *whole)
{
  json_t *want = json_loads(whole, 0, NULL);
  json_t *root = json_loads(r->text.s, 0, NULL);
  const json_t *profiles = json_object_get(want, "profiles");
  size_t i;
  ck_assert_ptr_nonnull(root);
  ck_assert_uint_gt(json_array_size(profiles), 0);
  for (i = 0; i < json_array_size(profiles); i++)
    ck_assert_uint_eq(
        scope_sum(root, json_array_get(json_object_get(root, "profiles"), i)),
        scope_sum(want, json_array_get(profiles, i)));
  json_decref(root);
  json_decref(want);
}

/* speedscope's profiles keep to a bound and to --min, too. */
START_TEST(test_speedscope)
{
  LpReportOptions opt = plain[_i];
  Run r = make((Of)_i);
  size_t i, base;
  char *whole;
  opt.most = 1;
  report(&r, "speedscope", NULL, &opt);
  base = r.text.n;
  opt.most = 0;
  ck_assert(!report(&r, "speedscope", NULL, &opt));
  whole = strdup(r.text.s);
  for (i = 0; i < STEPS; i++) {
    int cut;
    opt.most = steps[i];
    cut = report(&r, "speedscope", NULL, &opt);
    ck_assert_int_eq(cut, strstr(r.text.s, "\"(rest)\"") != NULL);
    ck_assert_uint_le(r.text.n, base + steps[i]);
    scope_same(&r, whole);
  }
  ck_assert_str_eq(r.text.s, whole);
  opt.most = 0;
  for (i = 0; i < STEPS; i++) {
    opt.least = steps[i];
    ck_assert(!report(&r, "speedscope", NULL, &opt));
    scope_same(&r, whole);
  }
  free(whole);
  run_close(&r);
}
END_TEST

/* Trees lose their deepest levels: every line is one of the whole tree, but for
** the heading.
*/
START_TEST(test_trees)
{
  static const char *const view[] = {"tree", "callers"};
  LpReportOptions opt = plain[_i % NOF];
  const char *name = view[_i / NOF];
  Run r = make((Of)(_i % NOF));
  char *whole, *line, *rest;
  size_t i, n;
  ck_assert(!report(&r, "text", name, &opt));
  whole = strdup(r.text.s);
  n = r.text.n;
  for (i = 0; i < STEPS; i++) {
    int cut;
    opt.most = steps[i];
    cut = report(&r, "text", name, &opt);
    ck_assert_int_eq(cut, strstr(r.text.s, ", only the first ") != NULL);
    for (line = strtok_r(strstr(r.text.s, "(all)"), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
      ck_assert_ptr_nonnull(strstr(whole, line));
  }
  ck_assert_uint_eq(r.text.n, n);
  free(whole);
  run_close(&r);
}
END_TEST

Suite *suite_rest(void)
{
  Suite *s = suite_create("rest");
  TCase *tc = tcase_create("rest");
  tcase_add_loop_test(tc, test_folded, 0, NOF);
  tcase_add_loop_test(tc, test_min, 0, NOF);
  tcase_add_loop_test(tc, test_speedscope, 0, DIFF);
  tcase_add_loop_test(tc, test_trees, 0, 2 * NOF);
  suite_add_tcase(s, tc);
  return s;
}

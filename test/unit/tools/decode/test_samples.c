/*
** Samples: what they stand for.
*/

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "suites.h"

/* What the document says. */
static long double weight(uint64_t sample, uint64_t size)
{
  return 1 / (1 - expl(-(long double)size / (long double)sample));
}

/* A number and its parts are X, as near as was promised. */
static void near(uint64_t n, uint64_t part, long double x)
{
  long double y = (long double)n + (long double)part * 0x1p-32L;
  if (!(fabsl(x - y) <= 1e-9L * x))
    ck_abort_msg("%.12Lg is not %.12Lg", y, x);
}

/* Begin a stream of samples: sites 2 to 9, whose lines are their numbers. */
static void begin(Craft *c, uint64_t sample)
{
  uint64_t i;
  craft_open(c, 1);
  c->sample = sample;
  craft_time(c, 0);
  craft_meta(c, 7000);
  craft_proto(c, 1, 0, 9, 0, "=s", "");
  for (i = 2; i < 10; i++)
    craft_site(c, i, 0, 1, i);
}

/* End it. */
static Run end(Craft *c)
{
  Run r;
  craft_totals(c, LJM_TOTALS_SAMPLED, 0);
  craft_flush(c);
  r = run_craft(c);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  run_books(&r);
  craft_close(c);
  return r;
}

/* All of a site. */
static LpFigures site(const Run *r, uint64_t line)
{
  const LpOrigins *o = &r->prof->origins;
  LpFigures all = {0};
  uint32_t i;
  for (i = 0; i < o->n; i++) {
    LpFigures f = lp_origins_figures(o, i);
    const LpRow *row = &r->prof->row[lp_cell_site(&o->cell[i])];
    if (row->func != LP_FUNC_NONE && row->line == line)
      lp_figures_add(&all, &f);
  }
  return all;
}

/* Weights from the smallest to the largest objects. */
START_TEST(test_weights)
{
  static const uint64_t sample[] = {1, 2, 100, 4096, 524288, 1ull << 40};
  size_t i;
  for (i = 0; i < sizeof(sample) / sizeof(sample[0]); i++) {
    LpScale scale;
    uint64_t size;
    lp_scale_open(&scale, sample[i]);
    for (size = 1; size < 1ull << 50; size += 1 + size / 3) {
      LpWeight w = lp_weigh(&scale, size), again = lp_weigh(&scale, size);
      ck_assert_int_eq(memcmp(&w, &again, sizeof(w)), 0);
      near(w.n, w.npart, weight(sample[i], size));
      near(w.bytes, w.bytespart, weight(sample[i], size) * (long double)size);
      ck_assert_uint_lt(w.npart, 1ull << 32);
      ck_assert_uint_lt(w.bytespart, 1ull << 32);
    }
  }
}
END_TEST

/* No objects, and distances that nobody would ask for. */
START_TEST(test_extremes)
{
  static const uint64_t sample[] = {1, 1ull << 62, UINT64_MAX};
  static const uint64_t size[] = {0, 1, 1ull << 62, UINT64_MAX};
  size_t i, k;
  for (i = 0; i < 3; i++) {
    LpScale scale;
    lp_scale_open(&scale, sample[i]);
    for (k = 0; k < 4; k++)
      ck_assert_uint_ge(lp_weigh(&scale, size[k]).n, 1);
    ck_assert_uint_eq(lp_weigh(&scale, 0).n, 1);
    ck_assert_uint_eq(lp_weigh(&scale, 0).npart, 0);
  }
}
END_TEST

/* Allocations and deallocations: what comes and goes leaves nothing at all. */
START_TEST(test_cancel)
{
  Craft c;
  Run r;
  LpFigures f;
  uint64_t i;
  begin(&c, 524288);
  for (i = 0; i < 1000; i++)
    craft_alloc(&c, 2, 0x100000 + i * 64, 1 + i % 50);
  craft_alloc(&c, 2, 0x1000, 100);
  for (i = 0; i < 1000; i++)
    craft_free(&c, 3, 0x100000 + i * 64, 1 + i % 50);
  r = end(&c);
  f = site(&r, 2);
  near(f.n[LP_ALLOC_BYTES] - f.n[LP_LEFT_BYTES],
       f.part[LP_ALLOC_BYTES] - f.part[LP_LEFT_BYTES],
       100 * weight(524288, 100));
  ck_assert_uint_eq(run_figure_live(&f), 5243);
  ck_assert_uint_eq(f.n[LP_ALLOCS] - f.n[LP_FREES], 5243);
  ck_assert_uint_eq(run_row(&r, "s:0, line 3")->frees, lp_figure(&f, LP_FREES));
  ck_assert_ptr_nonnull(
      strstr(run_text(&r, &run_plain),
             "HEAP SUMMARY\ns:0, line 2 holds 524338 bytes: "));
  run_close(&r);
}
END_TEST

/* The four kinds of reallocations; the fourth, of no samples, is damage. */
START_TEST(test_realloc)
{
  unsigned flags;
  for (flags = 0x10; flags <= 0x30; flags += 0x10) {
    Craft c;
    Run r;
    LpFigures a, b;
    begin(&c, 1000);
    c.type = LJM_TYPE_STRING;
    if (flags & LJM_SAMPLED_OLD)
      craft_alloc(&c, 2, 0x1000, 100);
    c.sampled = flags;
    craft_realloc(&c, 3, 0x1000, 100, 0x2000, 300);
    if (flags & LJM_SAMPLED_NEW)
      craft_free(&c, 4, 0x2000, 300);
    r = end(&c);
    a = site(&r, 2);
    b = site(&r, 3);
    ck_assert_uint_eq(r.st.sums.reallocs, 1);
    ck_assert_uint_eq(lp_figure(&a, LP_MOVES),
                      flags & LJM_SAMPLED_OLD ? 11 : 0); /* 10.508 */
    ck_assert_uint_eq(lp_figure(&a, LP_LEFT_BYTES),
                      flags & LJM_SAMPLED_OLD ? 1051 : 0);
    ck_assert_uint_eq(lp_figure(&b, LP_REALLOCS),
                      flags & LJM_SAMPLED_NEW ? 4 : 0); /* 3.858 */
    ck_assert_uint_eq(lp_figure(&b, LP_LEFT_BYTES),
                      flags & LJM_SAMPLED_NEW ? 1157 : 0);
    ck_assert_uint_eq(lp_figure_live_bytes(&a), 0);
    ck_assert_uint_eq(lp_figure_live_bytes(&b), 0);
    ck_assert_uint_eq(run_row(&r, "s:0, line 3")->realloc_out,
                      flags & LJM_SAMPLED_OLD ? 1051 : 0);
    run_close(&r);
  }
}
END_TEST

START_TEST(test_broken)
{
  static const unsigned flags[] = {0, 0x40, 0xf0};
  size_t i;
  for (i = 0; i < 3; i++) {
    Craft c;
    Run r;
    char what[64];
    begin(&c, 1000);
    c.sampled = flags[i];
    craft_realloc(&c, 3, 0x1000, 100, 0x2000, 300);
    craft_flush(&c);
    r = run_craft(&c);
    ck_assert_int_eq(r.status, LP_PART);
    snprintf(what, sizeof(what), "a broken event, found 0x%02x",
             LJM_REALLOC | flags[i]);
    ck_assert_str_eq(r.st.damage.what, what);
    ck_assert_uint_eq(r.events, 0);
    run_close(&r);
    craft_close(&c);
  }
}
END_TEST

/* A reallocated object keeps its type; one that was no sample has none. */
START_TEST(test_types)
{
  LpReportOptions opt = run_plain;
  Craft c;
  Run r;
  begin(&c, 1);
  c.type = LJM_TYPE_ARRAY;
  craft_alloc(&c, 2, 0x1000, 100);
  c.sampled = LJM_SAMPLED_OLD | LJM_SAMPLED_NEW;
  craft_realloc(&c, 3, 0x1000, 100, 0x2000, 200);
  c.sampled = LJM_SAMPLED_NEW;
  craft_realloc(&c, 3, 0x3000, 100, 0x4000, 400);
  r = end(&c);
  ck_assert_ptr_nonnull(strstr(run_report(&r, "text", "types", &opt),
                               "unknown            "
                               "1              400              1  "));
  ck_assert_ptr_nonnull(strstr(r.text.s, "array              2"
                                         "              300              1  "));
  run_close(&r);
}
END_TEST

/* An object that goes and was no sample is a contradiction, unless something
** was lost; so is one that comes where another lives.
*/
START_TEST(test_contradictions)
{
  unsigned i;
  for (i = 0; i < 3; i++) {
    Craft c;
    Run r;
    begin(&c, 1000);
    if (i == 1)
      craft_alloc(&c, 2, 0x1000, 100);
    if (i == 1)
      craft_alloc(&c, 2, 0x1000, 100);
    else
      craft_free(&c, 2, 0x1000, 100);
    craft_totals(&c, LJM_TOTALS_SAMPLED | (i == 2 ? LJM_TOTALS_LOST : 0),
                 i == 2);
    craft_flush(&c);
    r = run_craft(&c);
    ck_assert_int_eq(r.status, i == 2 ? LP_WHOLE : LP_PART);
    ck_assert_str_eq(r.st.damage.what,
                     i == 0   ? "1 objects went away that were no samples"
                     : i == 1 ? "1 allocations came where an object still lives"
                              : "");
    run_close(&r);
    craft_close(&c);
  }
}
END_TEST

/* The totals count what was told. */
START_TEST(test_totals)
{
  Craft c;
  Run r;
  begin(&c, 1000);
  craft_alloc(&c, 2, 0x1000, 100);
  c.in++;
  craft_totals(&c, LJM_TOTALS_SAMPLED, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_str_eq(r.st.damage.what,
                   "the recorder counted 101 bytes in, but 100 were read");
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* Streams of several kinds in one report. */
START_TEST(test_together)
{
  static const uint64_t sample[] = {0, 1000, 5000};
  Run r = {.prof = run_profile()};
  LpFigures f;
  size_t i;
  for (i = 0; i < 3; i++) {
    Craft c;
    LpInput in;
    begin(&c, sample[i]);
    craft_alloc(&c, 2, 0x1000, 100);
    craft_totals(&c, sample[i] ? LJM_TOTALS_SAMPLED : 0, 0);
    craft_flush(&c);
    lp_input_memory(&in, c.out.s, c.out.n);
    run_add(&r, &in);
    ck_assert_int_eq(r.status, LP_WHOLE);
    craft_close(&c);
  }
  f = site(&r, 2);
  near(f.n[LP_ALLOCS], f.part[LP_ALLOCS],
       1 + weight(1000, 100) + weight(5000, 100));
  ck_assert_int_eq(
      strncmp(run_text(&r, &run_plain),
              "Sampled every 1000 to 5000 bytes on average: all figures are"
              " estimates\n\nALLOCATIONS\ns:0, line 2: 62 6201 0\n",
              90),
      0);
  run_close(&r);
}
END_TEST

/* Many sums, against sums of long doubles. */
START_TEST(test_model)
{
  static const uint64_t sample = 4096;
  static uint64_t size[1000];
  long double n[10] = {0}, bytes[10] = {0}, live[10] = {0};
  static uint64_t owner[1000];
  uint64_t i, s = 12345;
  Craft c;
  Run r;
  begin(&c, sample);
  for (i = 0; i < 200000; i++) {
    uint64_t k = (s = s * 6364136223846793005u + 1442695040888963407u) >> 54;
    uint64_t at = k % 1000, now = 1 + (s >> 33) % (k % 7 ? 200 : 20000);
    uint64_t by = 2 + (s >> 45) % 8;
    if (size[at]) {
      craft_free(&c, 1, (at + 1) << 16, size[at]);
      live[owner[at]] -= weight(sample, size[at]) * (long double)size[at];
      size[at] = 0;
      continue;
    }
    craft_alloc(&c, by, (at + 1) << 16, now);
    size[at] = now;
    owner[at] = by;
    n[by] += weight(sample, now);
    bytes[by] += weight(sample, now) * (long double)now;
    live[by] += weight(sample, now) * (long double)now;
  }
  r = end(&c);
  for (i = 2; i < 10; i++) {
    LpFigures f = site(&r, i);
    near(f.n[LP_ALLOCS], f.part[LP_ALLOCS], n[i]);
    near(f.n[LP_ALLOC_BYTES], f.part[LP_ALLOC_BYTES], bytes[i]);
    near(lp_figure_live_bytes(&f) * 1000000000, 0,
         roundl(live[i]) * 1000000000);
  }
  run_close(&r);
}
END_TEST

Suite *suite_samples(void)
{
  const TTest *tests[] = {test_weights,        test_extremes, test_cancel,
                          test_realloc,        test_broken,   test_types,
                          test_contradictions, test_totals,   test_together,
                          test_model,          NULL};
  return suite_of("samples", tests);
}

/*
** Slices: what happened in steps of time never changes in sum, whatever is done
** to keep them few.
*/

#include "slices.h"
#include "suites.h"

#define WIDTH UINT64_C(10000000) /* Nanoseconds of the first steps. */

/* The sum of a counter over all entries. */
static uint64_t sum(const LpSlices *s, int k)
{
  uint64_t n = 0;
  size_t i, e;
  for (i = 0; i < s->n; i++)
    for (e = 0; e < s->step[i].n; e++)
      n += s->step[i].list[e].n[k];
  return n;
}

/* How many entries there are. */
static size_t entries(const LpSlices *s)
{
  size_t n = 0, i;
  for (i = 0; i < s->n; i++)
    n += s->step[i].n;
  return n;
}

/* Steps become longer, and no more. Those of an id in a step are one. */
START_TEST(bounded)
{
  static LpSlices s;
  uint64_t n[LP_NSLICE] = {1, 2, 3, 4}, i, ids = 40000, times = 40;
  int k;
  for (i = 0; i < times * ids; i++)
    lp_slices_add(&s, i / ids * 3 * WIDTH, (uint32_t)(i % ids), n);
  ck_assert_uint_eq(s.full, 0);
  ck_assert_uint_eq(entries(&s), s.entries);
  ck_assert_uint_lt(s.entries, SLICES_MOST + SLICES_EACH * ids);
  ck_assert_uint_gt(s.width, WIDTH);
  for (k = 0; k < LP_NSLICE; k++)
    ck_assert_uint_eq(sum(&s, k), times * ids * n[k]);
  lp_slices_add(&s, 1000000 * WIDTH, 7, n);
  ck_assert_uint_le(s.n, SLICES_MAX);
  lp_slices_sort(&s);
  ck_assert_uint_eq(entries(&s), s.entries);
  ck_assert_uint_eq(sum(&s, 1), (times * ids + 1) * n[1]);
  ck_assert_uint_eq(s.step[s.n - 1].list[s.step[s.n - 1].n - 1].id, 7);
  lp_slices_free(&s);
}
END_TEST

/* Samples of an interval are spread over its steps: none is lost, and few ids
** with one sample each do not all fall into one step.
*/
START_TEST(spread)
{
  static LpSlices s;
  uint32_t id, some = 0;
  size_t i;
  for (id = 1; id <= 100; id++)
    lp_slices_spread(&s, 3 * WIDTH, 13 * WIDTH, id, 1);
  ck_assert_uint_eq(sum(&s, LP_SLICE_SAMPLES), 100);
  ck_assert_uint_eq(s.n, 13);
  for (i = 0; i < s.n; i++) {
    ck_assert(i >= 3 || s.step[i].n == 0);
    ck_assert_uint_le(s.step[i].n, 20);
    some += s.step[i].n > 0;
  }
  ck_assert_uint_ge(some, 9);
  lp_slices_spread(&s, 3 * WIDTH, 13 * WIDTH, 5, 1000000);
  lp_slices_spread(&s, UINT64_MAX - 5, UINT64_MAX, 6, UINT64_C(1) << 60);
  lp_slices_spread(&s, 9, 3, 6, 2);
  ck_assert_uint_eq(sum(&s, LP_SLICE_SAMPLES), 1000102 + (UINT64_C(1) << 60));
  lp_slices_free(&s);
}
END_TEST

/* Streams that began at other times, with other widths. */
START_TEST(joined)
{
  static LpSlices a, b;
  uint64_t n[LP_NSLICE] = {1, 1, 1, 1};
  lp_slices_add(&a, 5000 * WIDTH, 1, n);
  lp_slices_add(&b, 2 * WIDTH, 2, n);
  lp_slices_shift(&b, 4000 * WIDTH);
  lp_slices_join(&a, &b);
  ck_assert_uint_eq(b.n, 0);
  lp_slices_sort(&a);
  ck_assert_uint_eq(sum(&a, 0), 2);
  ck_assert_uint_eq(a.step[4002 * WIDTH / a.width].list[0].id, 2);
  ck_assert_uint_eq(a.step[5000 * WIDTH / a.width].list[0].id, 1);
  lp_slices_free(&a);
}
END_TEST

Suite *suite_slices(void)
{
  const TTest *tests[] = {bounded, spread, joined, NULL};
  return suite_of("slices", tests);
}

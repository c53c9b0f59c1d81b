/*
** The live map against a naive one.
*/

#include <stdlib.h>

#include "object_age.h"
#include "origin.h"
#include "live.h"
#include "mem.h"
#include "suites.h"

#define NADDR 6000

/* ck_assert, for where there are millions: check notes each of them. */
#define must(cond)                                                             \
  do {                                                                         \
    if (!(cond))                                                               \
      ck_abort_msg("%s", #cond);                                               \
  } while (0)

/* How many objects there are. */
static size_t live_count(const LpLive *m)
{
  return m->nslot + m->nover;
}

/* Bytes that the map takes. */
static size_t live_bytes(const LpLive *m)
{
  size_t n = 0, i;
  for (i = 0; i < 1u << LIVE_OVER; i++)
    n += m->over[i].nplace * (sizeof(uint64_t) + sizeof(uint32_t));
  return n + m->nleaf * (sizeof(uint32_t) << LIVE_LEAF) +
         m->regions.nslot * sizeof(LpIdSlot) + m->leaves * sizeof(uint32_t *);
}

/* Bytes that it takes. */
static size_t ages_bytes(const LpObjectAges *a)
{
  size_t i, n = a->nchunk * sizeof(LpObjectAge *);
  for (i = 0; i < a->nchunk; i++)
    n += a->chunk[i] ? sizeof(LpObjectAge) << OBJECT_AGE_CHUNK : 0;
  return n;
}

/* Neighbours, collisions, odd addresses, sparse ones, the ends of the world. */
static uint64_t address(unsigned i)
{
  switch (i % 6) {
  case 0:
    return 0x7f0000000000 + i * 16; /* 32 or more apart. */
  case 1:
    return 0x550000000000 + i * 8 / 6 * 8; /* Several in a slot. */
  case 2:
    return 0x7f0000000001 + i * 5; /* Misaligned. */
  case 3:
    return (uint64_t)i << 22; /* Each in a region of its own. */
  case 4:
    return i * 8; /* The lowest. */
  default:
    return 0 - (uint64_t)i * 8; /* The highest. */
  }
}

static uint64_t rnd(void)
{
  static uint64_t s = 88172645463325252u;
  s ^= s << 13;
  s ^= s >> 7;
  return s ^= s << 17;
}

/* The owner in the model, by address: several I may be the same address. */
static uint32_t *model(const uint64_t *addr, uint32_t *owner, uint64_t a)
{
  unsigned i;
  for (i = 0; addr[i] != a; i++)
    ;
  return &owner[i];
}

/* Two million random puts and takes. */
START_TEST(test_model)
{
  static uint64_t addr[NADDR];
  static uint32_t owner[NADDR], of[NADDR];
  LpLive m = {0};
  size_t live = 0, i;
  for (i = 0; i < NADDR; i++) {
    addr[i] = address((unsigned)i);
    owner[i] = LP_NONE;
    of[i] = (uint32_t)(model(addr, owner, addr[i]) - owner);
  }
  for (i = 0; i < 2000000; i++) {
    unsigned k = (unsigned)(rnd() % NADDR);
    uint32_t *o = &owner[of[k]];
    /* Mostly births for a while, then mostly deaths. */
    if (rnd() % 8 < (i / 200000 % 2 ? 3 : 5)) {
      uint32_t site = (uint32_t)(rnd() % 7 ? rnd() % 100 : LP_ORIGIN_MAX);
      live += *o == LP_NONE;
      lp_live_prefetch(&m, addr[k]);
      must(lp_live_put(&m, addr[k], site) == *o);
      *o = site;
    } else {
      live -= *o != LP_NONE;
      must(lp_live_take(&m, addr[k]) == *o);
      *o = LP_NONE;
    }
    must(live_count(&m) == live);
  }
  for (i = 0; i < NADDR; i++) {
    ck_assert_uint_eq(lp_live_take(&m, addr[i]), owner[of[i]]);
    owner[of[i]] = LP_NONE;
  }
  ck_assert_uint_eq(live_count(&m), 0);
  lp_live_free(&m);
}
END_TEST

/* Objects GAP bytes apart never cost more than is promised. */
static void bound(uint64_t gap, size_t n)
{
  LpLive m = {0};
  size_t i;
  for (i = 0; i < n; i++) {
    must(lp_live_put(&m, 0x100000 + i * gap, 7) == LP_NONE);
    must(live_bytes(&m) <= (8u << 20) + (64u << 10) + 16 * i);
  }
  for (i = 0; i < n; i++)
    must(lp_live_take(&m, 0x100000 + i * gap) == 7);
  ck_assert_uint_eq(live_count(&m), 0);
  lp_live_free(&m);
}

START_TEST(test_bound)
{
  static const uint64_t gap[] = {
      1,    8,    16,       32,       48,       80,       128,       200,
      1000, 4096, 1u << 16, 1u << 20, 1u << 22, 3u << 22, 1ull << 40};
  size_t i;
  for (i = 0; i < sizeof(gap) / sizeof(gap[0]); i++)
    bound(gap[i], 1000000);
}
END_TEST

/* Where objects are as dense as in a Lua heap, the page table is used and takes
** what was promised for it.
*/
START_TEST(test_dense)
{
  LpLive m = {0};
  size_t i, n = 1200000;
  for (i = 0; i < n; i++)
    lp_live_put(&m, 0x7f0000000010 + i * 80, 7);
  ck_assert_uint_eq(m.nover, 0);
  ck_assert_uint_le(live_bytes(&m), 16 * n);
  lp_live_free(&m);
}
END_TEST

/* Ages of N objects that are live cost 16 bytes each. */
START_TEST(test_ages)
{
  const uint32_t n = 1000000;
  LpObjectAges a;
  uint32_t i, round;
  lp_object_age_open(&a);
  for (round = 0; round < 3; round++) {
    for (i = 1; i <= n; i++)
      must(lp_object_age_new(&a, i, i * 3, i + round) <= n);
    must(ages_bytes(&a) <= (128u << 10) + 16 * (size_t)n);
    for (i = 1; i <= n; i++) {
      LpObjectAge *age = lp_object_age_get(&a, i);
      must(age->size == age->origin * 3ull);
      must(lp_object_age_ticks(&a, age, 2 * n) == 2 * n - age->origin - round);
    }
    for (i = n; i; i--)
      lp_object_age_drop(&a, i);
  }
  lp_object_age_close(&a);
}
END_TEST

/* More births than there are ticks: ages are right to one tick. */
START_TEST(test_old)
{
  static const uint64_t birth[] = {
      0,          1,          1000,       UINT32_MAX - 1ull, UINT32_MAX,
      1ull << 32, 3ull << 32, 1ull << 40, (1ull << 40) + 99, 1ull << 62,
      UINT64_MAX};
  const size_t n = sizeof(birth) / sizeof(birth[0]);
  uint32_t number[sizeof(birth) / sizeof(birth[0])];
  size_t i, k;
  LpObjectAges a;
  lp_object_age_open(&a);
  for (i = 0; i < n; i++) {
    number[i] = lp_object_age_new(&a, 7, 1, birth[i]);
    for (k = 0; k <= i; k++) {
      LpObjectAge *age = lp_object_age_get(&a, number[k]);
      uint64_t was = birth[k] >> a.shift, ticks = birth[i] >> a.shift;
      ck_assert_uint_eq(lp_object_age_ticks(&a, age, birth[i]), ticks - was);
    }
    ck_assert_int_eq(a.shift > 0, birth[i] > UINT32_MAX);
  }
  lp_object_age_drop(&a, number[3]);
  ck_assert_uint_eq(lp_object_age_new(&a, 8, 1, UINT64_MAX), number[3]);
  lp_object_age_close(&a);
}
END_TEST

Suite *suite_live(void)
{
  const TTest *tests[] = {test_model, test_bound, test_dense,
                          test_ages,  test_old,   NULL};
  return suite_of("live", tests);
}

/*
** The live map against a naive one.
*/

#include <stdlib.h>

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
      uint32_t site = (uint32_t)(rnd() % 7 ? rnd() % 100 : LP_LIVE_MAX);
      live += *o == LP_NONE;
      lp_live_prefetch(&m, addr[k]);
      must(lp_live_put(&m, addr[k], site) == *o);
      *o = site;
    } else {
      live -= *o != LP_NONE;
      must(lp_live_take(&m, addr[k]) == *o);
      *o = LP_NONE;
    }
    must(lp_live_count(&m) == live);
  }
  for (i = 0; i < NADDR; i++) {
    ck_assert_uint_eq(lp_live_take(&m, addr[i]), owner[of[i]]);
    owner[of[i]] = LP_NONE;
  }
  ck_assert_uint_eq(lp_live_count(&m), 0);
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
    must(lp_live_bytes(&m) <= (8u << 20) + (64u << 10) + 40 * i);
  }
  for (i = 0; i < n; i++)
    must(lp_live_take(&m, 0x100000 + i * gap) == 7);
  ck_assert_uint_eq(lp_live_count(&m), 0);
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
  ck_assert_uint_le(lp_live_bytes(&m), 16 * n);
  lp_live_free(&m);
}
END_TEST

Suite *suite_live(void)
{
  const TTest *tests[] = {test_model, test_bound, test_dense, NULL};
  return suite_of("live", tests);
}

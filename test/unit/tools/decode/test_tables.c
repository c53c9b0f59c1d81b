/*
** The hash table, and what keeps its entries elsewhere.
*/

#include <string.h>

#include "intern.h"
#include "overrides.h"
#include "suites.h"

#define NKEY 100000

/* Every number is found by its key, others are not. */
START_TEST(test_map)
{
  LpIdMap m = {0};
  uint32_t i;
  ck_assert_uint_eq(lp_idmap_get(&m, 0), LP_NONE);
  for (i = 0; i < NKEY; i++)
    ck_assert_uint_eq(lp_idmap_put(&m, (uint64_t)i << 40, i), LP_NONE);
  ck_assert_uint_eq(m.n, NKEY);
  for (i = 0; i < NKEY; i++) {
    ck_assert_uint_eq(lp_idmap_get(&m, (uint64_t)i << 40), i);
    ck_assert_uint_eq(lp_idmap_get(&m, (uint64_t)i << 40 | 1), LP_NONE);
  }
  ck_assert_uint_eq(lp_idmap_put(&m, 0, 7), 0);
  ck_assert_uint_eq(lp_idmap_get(&m, 0), 7);
  ck_assert_uint_eq(m.n, NKEY);
  lp_idmap_free(&m);
  ck_assert_uint_eq(lp_idmap_get(&m, 0), LP_NONE);
}
END_TEST

/* What lp_hash_bytes mixes into the second half of 16 bytes. */
static uint64_t mixed(uint64_t first)
{
  uint64_t h = lp_hash(16 + 1);
  h = lp_hash(h ^ h >> 32 ^ first);
  return h ^ h >> 32;
}

/* Strings of the same hash are different strings, in tables that have grown as
** well.
*/
START_TEST(test_collisions)
{
  LpIntern t = {0};
  const uint64_t same[2] = {0, 0};
  uint32_t i, round;
  for (round = 0; round < 2; round++) {
    for (i = 0; i < 1000; i++) {
      uint64_t s[2] = {i, mixed(i) ^ mixed(0)}, got[2];
      size_t n;
      ck_assert_uint_eq(lp_hash_bytes(s, 16), lp_hash_bytes(same, 16));
      ck_assert_uint_eq(lp_intern(&t, s, 16), i);
      memcpy(got, lp_intern_get(&t, i, &n), 16);
      ck_assert_uint_eq(n, 16);
      ck_assert_uint_eq(got[0], i);
    }
  }
  ck_assert_uint_eq(t.n, 1000);
  ck_assert_uint_eq(lp_intern(&t, "", 0), 1000);
  ck_assert_uint_eq(lp_intern(&t, NULL, 0), 1000);
  lp_intern_free(&t);
}
END_TEST

/* Entries are in the order they came, whatever the secret of the hash is. */
START_TEST(test_overrides)
{
  const uint64_t secret = lp_hash_secret;
  LpOverrides t = {0};
  uint32_t i;
  for (lp_hash_secret = 3; lp_hash_secret < 9; lp_hash_secret += 2) {
    for (i = 0; i < 3000; i++)
      lp_overrides_add(&t, LP_OVERRIDE_KEY(i % 1000, 5), i);
    ck_assert_uint_eq(t.n, 1000);
    for (i = 0; i < t.n; i++) {
      ck_assert_uint_eq(t.entry[i].key, LP_OVERRIDE_KEY(i, 5));
      ck_assert_uint_eq(t.entry[i].w.n, 3);
      ck_assert_uint_eq(t.entry[i].w.bytes, 3000u + 3 * i);
    }
    lp_overrides_free(&t);
  }
  lp_hash_secret = secret;
}
END_TEST

Suite *suite_tables(void)
{
  const TTest *tests[] = {test_map, test_collisions, test_overrides, NULL};
  return suite_of("tables", tests);
}

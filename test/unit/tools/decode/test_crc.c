/*
** CRC32C: known values, and both ways to compute it.
*/

#include <stdint.h>

#include "ljm_crc32c.h"
#include "suites.h"

/* The check value, and RFC 3720's examples. */
START_TEST(test_known)
{
  uint8_t b[32];
  int i;
  ck_assert_uint_eq(ljm_crc32c(0, "123456789", 9), 0xe3069283);
  ck_assert_uint_eq(ljm_crc32c(0, "", 0), 0);
  memset(b, 0, sizeof(b));
  ck_assert_uint_eq(ljm_crc32c(0, b, sizeof(b)), 0x8a9136aa);
  memset(b, 0xff, sizeof(b));
  ck_assert_uint_eq(ljm_crc32c(0, b, sizeof(b)), 0x62a8ab43);
  for (i = 0; i < 32; i++)
    b[i] = (uint8_t)i;
  ck_assert_uint_eq(ljm_crc32c(0, b, sizeof(b)), 0x46dd794e);
}
END_TEST

/* The machine's instruction and the tables say the same, at any place. */
START_TEST(test_paths)
{
  uint8_t b[1024];
  size_t i, n;
  for (i = 0; i < sizeof(b); i++)
    b[i] = (uint8_t)(i * 167 + (i >> 3) * 13);
  if (!ljm_crc32c_have())
    return;
  for (i = 0; i < 16; i++)
    for (n = 0; n + i <= sizeof(b); n += n < 64 ? 1 : 61)
      ck_assert_uint_eq(ljm_crc32c_hard((uint32_t)n, b + i, n),
                        ljm_crc32c_soft((uint32_t)n, b + i, n));
}
END_TEST

/* In pieces it is the same as in one. */
START_TEST(test_pieces)
{
  const char *s = "All the world's a stage, and all the men and women";
  size_t n = strlen(s), i;
  uint32_t whole = ljm_crc32c(0, s, n);
  for (i = 0; i <= n; i++)
    ck_assert_uint_eq(ljm_crc32c(ljm_crc32c(0, s, i), s + i, n - i), whole);
}
END_TEST

Suite *suite_crc(void)
{
  const TTest *tests[] = {test_known, test_paths, test_pieces, NULL};
  return suite_of("crc", tests);
}

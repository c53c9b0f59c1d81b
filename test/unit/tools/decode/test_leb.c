/*
** Integers and blocks of the stream, as all who write and read them have them.
*/

#include <string.h>

#include "ljm_block.h"
#include "suites.h"

/* Numbers of every length, written and read in both ways. */
START_TEST(there_and_back)
{
  unsigned bit;
  int add;
  for (bit = 0; bit < 64; bit++) {
    for (add = -1; add <= 1; add++) {
      uint64_t v = ((uint64_t)1 << bit) + (uint64_t)(int64_t)add;
      uint8_t b[LJM_ULEB_MAX], *end = ljm_putuleb(b, v);
      const uint8_t *p = b;
      unsigned bad = 0;
      ck_assert_uint_eq(end - b, ljm_uleblen(v));
      ck_assert_uint_eq(ljm_getuleb(&p, end, &bad), v);
      ck_assert_ptr_eq(p, end);
      p = b;
      ck_assert_uint_eq(ljm_getuleb_fast(&p, &bad), v);
      ck_assert_ptr_eq(p, end);
      ck_assert_uint_eq(bad, 0);
      ck_assert_uint_eq(ljm_unzigzag(ljm_zigzag(v)), v);
      ck_assert_uint_eq(ljm_unturn(ljm_turn(v)), v);
    }
  }
}
END_TEST

/* A number without its end is none, wherever it is cut. */
START_TEST(cut_short)
{
  uint8_t b[LJM_ULEB_MAX], *end = ljm_putuleb(b, UINT64_MAX);
  const uint8_t *cut;
  ck_assert_uint_eq(end - b, LJM_ULEB_MAX);
  for (cut = b; cut < end; cut++) {
    const uint8_t *p = b;
    unsigned bad = 0;
    ck_assert_uint_eq(ljm_getuleb(&p, cut, &bad), 0);
    ck_assert_uint_eq(bad, 1);
    ck_assert_ptr_eq(p, cut);
  }
}
END_TEST

/* More than 64 bits; zeros that only make a number longer are read. */
START_TEST(too_long)
{
  static const uint8_t padded[] = {0x85, 0x80, 0x80, 0x00};
  uint8_t b[LJM_ULEB_MAX + 1];
  const uint8_t *p = padded;
  unsigned bad = 0, last;
  ck_assert_uint_eq(ljm_getuleb(&p, padded + sizeof(padded), &bad), 5);
  ck_assert_uint_eq(bad, 0);
  memset(b, 0x80, sizeof(b));
  for (last = 0; last < 256; last++) {
    b[LJM_ULEB_MAX - 1] = (uint8_t)last;
    p = b;
    bad = 0;
    ljm_getuleb(&p, b + sizeof(b), &bad);
    ck_assert_uint_eq(bad, last > 1);
    p = b;
    bad = 0;
    ljm_getuleb_fast(&p, &bad);
    ck_assert_uint_eq(bad, last > 1);
  }
}
END_TEST

/* A block is whole as it was sealed, and with no byte changed. */
START_TEST(sealed)
{
  uint8_t b[LJM_BLOCK_HEADER + 40];
  unsigned i;
  for (i = 0; i < sizeof(b); i++)
    b[i] = (uint8_t)(i * 7);
  ljm_block_seal(b, 40, 0x123456789abcdef0);
  ck_assert_int_eq(memcmp(b, LJM_BLOCK_MAGIC, 4), 0);
  ck_assert_uint_eq(ljm_block_length(b), 40);
  ck_assert_uint_eq(ljm_block_first(b), 0x123456789abcdef0);
  for (i = LJM_BLOCK_CRC; i < sizeof(b); i++) {
    ck_assert(ljm_block_iswhole(b, 40));
    b[i] ^= 4;
    ck_assert(!ljm_block_iswhole(b, 40));
    b[i] ^= 4;
  }
}
END_TEST

Suite *suite_leb(void)
{
  const TTest *tests[] = {there_and_back, cut_short, too_long, sealed, NULL};
  return suite_of("leb", tests);
}

/*
** Which segment a file is, from its first bytes.
*/

#include <stdio.h>
#include <unistd.h>

#include "craft.h"
#include "ljm_format.h"
#include "segment.h"
#include "suites.h"

/* Adds a number to META. */
static void number(LpBuf *b, const char *key, uint64_t v)
{
  craft_str(b, key);
  craft_byte(b, LJM_META_UINT);
  craft_uleb(b, v);
}

/* A stream whose META has these keys, one bit each, between others. */
static void stream(Craft *c, unsigned keys)
{
  LpBuf b = {0};
  craft_open(c, 1);
  number(&b, "live", 4096);
  if (keys & 1)
    number(&b, "recording", UINT64_MAX);
  craft_str(&b, "host");
  craft_byte(&b, LJM_META_STRING);
  craft_str(&b, "segment");
  if (keys & 2)
    number(&b, "segment", 300);
  if (keys & 4)
    number(&b, "monotonic", 1ull << 40);
  craft_record(c, LJM_REC_META, b.s, b.n);
  lp_buf_free(&b);
  craft_flush(c);
}

/* The first N bytes of a stream. */
static int find(const Craft *c, size_t n, LpSegment *s)
{
  return lp_segment_find((const uint8_t *)c->out.s, n, s);
}

/* All three keys make a segment. */
START_TEST(test_keys)
{
  unsigned keys;
  for (keys = 0; keys < 8; keys++) {
    LpSegment s;
    Craft c;
    stream(&c, keys);
    ck_assert_int_eq(find(&c, c.out.n, &s), keys == 7);
    if (keys == 7) {
      ck_assert_uint_eq(s.recording, UINT64_MAX);
      ck_assert_uint_eq(s.number, 300);
      ck_assert_uint_eq(s.monotonic, 1ull << 40);
    }
    craft_close(&c);
  }
}
END_TEST

/* A file that is cut, or has a wrong byte, in its first block. */
START_TEST(test_broken)
{
  LpSegment s;
  Craft c;
  size_t whole, n;
  stream(&c, 7);
  whole = c.out.n;
  for (n = 0; n < whole; n++)
    ck_assert_int_eq(find(&c, n, &s), 0);
  for (n = 0; n < whole; n++) {
    c.out.s[n] ^= 0x40;
    /* The address of the VM, and what the prologue reserves, may be any. */
    if (find(&c, whole, &s))
      ck_assert_uint_lt(n, 16);
    c.out.s[n] ^= 0x40;
  }
  ck_assert_int_eq(find(&c, whole, &s), 1);
  craft_alloc(&c, 1, 4096, 64); /* What comes behind is not looked at. */
  craft_flush(&c);
  ck_assert_uint_gt(c.out.n, whole);
  ck_assert_int_eq(find(&c, c.out.n - 1, &s), 1);
  craft_close(&c);
}
END_TEST

/* A block that begins with an event, and META behind it. */
START_TEST(test_late)
{
  LpSegment s;
  LpBuf b = {0};
  Craft c;
  craft_open(&c, 1);
  craft_alloc(&c, 1, 4096, 64);
  number(&b, "recording", 1);
  number(&b, "segment", 1);
  number(&b, "monotonic", 1);
  craft_record(&c, LJM_REC_META, b.s, b.n);
  craft_flush(&c);
  ck_assert_int_eq(find(&c, c.out.n, &s), 0);
  lp_buf_free(&b);
  craft_close(&c);
}
END_TEST

/* A file: its position stays where it is. */
START_TEST(test_peek)
{
  FILE *f = tmpfile();
  LpSegment s;
  Craft c;
  int ends[2];
  stream(&c, 7);
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(lp_segment_peek(fileno(f), &s), 0);
  ck_assert_int_eq(write(fileno(f), c.out.s, c.out.n), (ssize_t)c.out.n);
  ck_assert_int_eq(lseek(fileno(f), 5, SEEK_SET), 5);
  ck_assert_int_eq(lp_segment_peek(fileno(f), &s), 1);
  ck_assert_uint_eq(s.number, 300);
  ck_assert_int_eq(lseek(fileno(f), 0, SEEK_CUR), 5);
  fclose(f);
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(lp_segment_peek(ends[0], &s), 0);
  close(ends[0]);
  close(ends[1]);
  craft_close(&c);
}
END_TEST

START_TEST(test_follows)
{
  LpSegment a = {7, 3, 100}, b = {7, 4, 200};
  ck_assert_int_eq(lp_segment_follows(&a, &b), 1);
  ck_assert_int_eq(lp_segment_follows(&b, &a), 0);
  ck_assert_int_eq(lp_segment_follows(&a, &a), 0);
  b.recording = 8;
  ck_assert_int_eq(lp_segment_follows(&a, &b), 0);
}
END_TEST

Suite *suite_segment(void)
{
  const TTest *tests[] = {test_keys, test_broken,  test_late,
                          test_peek, test_follows, NULL};
  return suite_of("segment", tests);
}

/*
** Packed streams: whole, in several pieces, cut and broken at any byte.
*/

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "run.h"
#include "sample.h"
#include "suites.h"
#include "unpack.h"

/* Bytes that come STEP at a time, and perhaps end with an error. */
typedef struct Drip {
  const char *p;
  size_t n, step;
  int error;
} Drip;

static ssize_t drip_read(void *ctx, void *buf, size_t n)
{
  Drip *d = ctx;
  n = n < d->step ? n : d->step;
  n = n < d->n ? n : d->n;
  memcpy(buf, d->p, n);
  d->p += n;
  d->n -= n;
  errno = d->error;
  return n || !d->error ? (ssize_t)n : -1;
}

/* What comes out of N bytes, and why there is no more. */
typedef struct Out {
  LpBuf b;
  char why[160];
} Out;

static Out unpack(const void *p, size_t n, size_t step, size_t most, int error)
{
  Drip d = {p, n, step, error};
  LpUnpack *u = lp_unpack_open(drip_read, &d);
  char *to = lp_alloc(most);
  Out out = {0};
  ssize_t r;
  while ((r = lp_unpack_read(u, to, most)) > 0)
    lp_buf_add(&out.b, to, (size_t)r);
  ck_assert_int_eq(r < 0, error || lp_unpack_why(u) != NULL);
  if (lp_unpack_why(u))
    snprintf(out.why, sizeof(out.why), "%s", lp_unpack_why(u));
  else if (r < 0)
    ck_assert_int_eq(errno, error);
  lp_unpack_close(u);
  free(to);
  return out;
}

/* N bytes must give these, or the first of them, and then WHY. */
static void gives(const LpBuf *packed, size_t n, const LpBuf *plain, int all,
                  const char *why)
{
  Out out = unpack(packed->s, n, packed->n, 4096, 0);
  ck_assert_uint_le(out.b.n, plain->n);
  if (all)
    ck_assert_uint_eq(out.b.n, plain->n);
  if (out.b.n)
    ck_assert_mem_eq(out.b.s, plain->s, out.b.n);
  if (why)
    ck_assert_ptr_nonnull(strstr(out.why, why));
  else
    ck_assert_str_eq(out.why, "");
  lp_buf_free(&out.b);
}

/* Some thousand bytes that can be packed, but not to nothing. */
static LpBuf plain(void)
{
  LpBuf b = {0};
  Sample s;
  int i;
  sample_open(&s);
  for (i = 0; i < 4; i++)
    lp_buf_add(&b, s.c.out.s, s.c.out.n);
  craft_close(&s.c);
  return b;
}

/* However little comes or is asked for at a time. */
START_TEST(test_steps)
{
  static const size_t step[] = {1, 2, 3, 5, 999, 1u << 20};
  LpBuf b = plain();
  size_t i, j;
  int how;
  for (how = 0; how <= NPACK; how++) {
    LpBuf packed = {0};
    if (how < NPACK)
      pack_add(&packed, (Pack)how, b.s, b.n);
    else
      lp_buf_add(&packed, b.s, b.n);
    for (i = 0; i < 6; i++) {
      for (j = 0; j < 6; j++) {
        Out out = unpack(packed.s, packed.n, step[i], step[j], 0);
        ck_assert_uint_eq(out.b.n, b.n);
        ck_assert_mem_eq(out.b.s, b.s, b.n);
        ck_assert_str_eq(out.why, "");
        lp_buf_free(&out.b);
      }
    }
    lp_buf_free(&packed);
  }
  lp_buf_free(&b);
}
END_TEST

/* Nothing, or too little to be packed, comes out as it is. */
START_TEST(test_little)
{
  static const struct {
    const char *s;
    size_t n;
    const char *why; /* If it is taken for packed. */
  } t[] = {{"", 0, NULL},
           {"l", 1, NULL},
           {"\x1f", 1, NULL},
           {"\x1f\x8b", 2, "byte 2 of the gzip file: expected more of it"},
           {"\x28\xb5\x2f", 3, NULL},
           {"\x28\xb5\x2f\xfd", 4, "byte 4 of the zstd file: expected more"},
           {"\x50\x2a\x4d\x18", 4, "byte 4 of the zstd file: expected more"},
           {"\x1f\x8b\x07xxxxxxx", 10, "expected packed bytes, found"},
           {"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff", 10, "expected "}};
  size_t i;
  for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
    Out out = unpack(t[i].s, t[i].n, 100, 100, 0);
    ck_assert_uint_eq(out.b.n, t[i].why ? 0 : t[i].n);
    if (t[i].why)
      ck_assert_ptr_nonnull(strstr(out.why, t[i].why));
    else
      ck_assert_str_eq(out.why, "");
    lp_buf_free(&out.b);
  }
}
END_TEST

/* Several members or frames, one behind the other, some with nothing in them.
 */
START_TEST(test_several)
{
  LpBuf b = plain();
  int how;
  for (how = 0; how < NPACK; how++) {
    LpBuf packed = {0};
    size_t end;
    pack_add(&packed, (Pack)how, b.s, 1000);
    pack_add(&packed, (Pack)how, b.s + 1000, 0);
    if (how != PACK_GZIP) /* What zstd skips. */
      lp_buf_add(&packed, "\x5e\x2a\x4d\x18\3\0\0\0abc", 11);
    pack_add(&packed, (Pack)how, b.s + 1000, 1);
    pack_add(&packed, (Pack)how, b.s + 1001, b.n - 1001);
    gives(&packed, packed.n, &b, 1, NULL);
    end = packed.n;
    lp_buf_add(&packed, "l", 1);
    gives(&packed, packed.n, &b, 1, "expected its end, found 0x6c");
    packed.n = end;
    lp_buf_add(&packed, "\0\0\0\0\0\0\0", 7);
    gives(&packed, packed.n, &b, 1,
          how == PACK_GZIP ? NULL : "expected its end, found 0x00");
    pack_add(&packed, how == PACK_GZIP ? PACK_ZSTD : PACK_GZIP, "x", 1);
    gives(&packed, packed.n, &b, 1, "expected its end, found 0x");
    lp_buf_free(&packed);
  }
  lp_buf_free(&b);
}
END_TEST

/* Cut at every byte: what comes is the beginning of what was packed, and never
** less than from a shorter piece.
*/
START_TEST(test_cut)
{
  LpBuf b = plain(), packed = {0};
  size_t n, seen = 0, half;
  pack_add(&packed, (Pack)_i, b.s, 2000);
  half = packed.n;
  pack_add(&packed, (Pack)_i, b.s + 2000, b.n - 2000);
  for (n = 4; n < packed.n; n++) {
    Out out = unpack(packed.s, n, 4096, 4096, 0);
    ck_assert_uint_ge(out.b.n, seen);
    ck_assert_uint_le(out.b.n, b.n);
    if (out.b.n)
      ck_assert_mem_eq(out.b.s, b.s, out.b.n);
    if (n == half)
      ck_assert_str_eq(out.why, "");
    else
      ck_assert_ptr_nonnull(strstr(out.why, "expected "));
    seen = out.b.n;
    lp_buf_free(&out.b);
  }
  ck_assert_uint_gt(seen, b.n - 1100);
  lp_buf_free(&packed);
  lp_buf_free(&b);
}
END_TEST

/* A broken bit anywhere is noticed; but for few that nobody needs (the time in
** gzip's header, padding), and then all that comes out is right.
*/
START_TEST(test_broken)
{
  LpBuf b = plain(), packed = {0};
  size_t n, unnoticed = 0;
  pack_add(&packed, (Pack)_i, b.s, b.n);
  for (n = 32; n < 8 * packed.n; n++) {
    Out out;
    packed.s[n / 8] = (char)(packed.s[n / 8] ^ 1 << n % 8);
    out = unpack(packed.s, packed.n, 4096, 4096, 0);
    if (!out.why[0]) {
      ck_assert_uint_eq(out.b.n, b.n);
      ck_assert_mem_eq(out.b.s, b.s, b.n);
      unnoticed++;
    }
    packed.s[n / 8] = (char)(packed.s[n / 8] ^ 1 << n % 8);
    lp_buf_free(&out.b);
  }
  ck_assert_uint_le(unnoticed, 64);
  lp_buf_free(&packed);
  lp_buf_free(&b);
}
END_TEST

/* Of zstd, what is in whole blocks before a broken one. */
START_TEST(test_blocks)
{
  LpBuf b = plain(), packed = {0};
  Out out;
  pack_add(&packed, PACK_ZSTD, b.s, b.n);
  packed.s[packed.n - 5] ^= 1; /* The last block. */
  out = unpack(packed.s, packed.n, packed.n, 1u << 20, 0);
  ck_assert_uint_ge(out.b.n, b.n - 1100);
  ck_assert_mem_eq(out.b.s, b.s, out.b.n);
  ck_assert_str_ne(out.why, "");
  lp_buf_free(&out.b);
  lp_buf_free(&packed);
  lp_buf_free(&b);
}
END_TEST

/* An error of what is read comes through, behind all that came before it. */
START_TEST(test_error)
{
  LpBuf b = plain();
  int how;
  for (how = 0; how <= NPACK; how++) {
    LpBuf packed = {0};
    Out out;
    if (how < NPACK)
      pack_add(&packed, (Pack)how, b.s, b.n);
    else
      lp_buf_add(&packed, b.s, b.n);
    out = unpack(packed.s, packed.n, 100, 100, EIO);
    ck_assert_uint_eq(out.b.n, b.n);
    ck_assert_str_eq(out.why, "");
    lp_buf_free(&out.b);
    out = unpack(packed.s, packed.n - 1, 100, 100, EIO);
    ck_assert_uint_gt(out.b.n, b.n - 1100);
    ck_assert_str_eq(out.why, "");
    lp_buf_free(&out.b);
    lp_buf_free(&packed);
  }
  lp_buf_free(&b);
}
END_TEST

/* A window costs memory: 128 MiB is the most. */
START_TEST(test_window)
{
  LpBuf packed = {0}, one = {0};
  unsigned log;
  lp_buf_puts(&one, "l");
  for (log = 10; log <= 41; log++) {
    packed.n = 0;
    pack_window(&packed, log);
    gives(&packed, packed.n, &one, log <= 27,
          log <= 27 ? NULL : "expected a window of at most 128 MiB");
  }
  lp_buf_free(&packed);
  lp_buf_free(&one);
}
END_TEST

/* All the way to a report. */
START_TEST(test_report)
{
  int how;
  for (how = 0; how < NPACK; how++) {
    LpBuf packed = {0};
    LpUnpack *u;
    LpInput in;
    Sample s;
    Drip d;
    Run r;
    sample_open(&s);
    pack_add(&packed, (Pack)how, s.c.out.s, s.c.out.n);
    d = (Drip){packed.s, packed.n, 7, 0};
    u = lp_unpack_open(drip_read, &d);
    ck_assert_str_eq(lp_unpack_packer(u), how == PACK_GZIP ? "gzip" : "zstd");
    lp_input_open(&in, lp_unpack_read, u);
    r = run_input(&in);
    ck_assert_int_eq(r.status, LP_WHOLE);
    ck_assert_str_eq(run_text(&r, &run_plain), sample_text);
    run_books(&r);
    run_close(&r);
    lp_unpack_close(u);
    lp_buf_free(&packed);
    craft_close(&s.c);
  }
}
END_TEST

Suite *suite_unpack(void)
{
  const TTest *tests[] = {test_steps, test_little, test_several, test_blocks,
                          test_error, test_window, test_report,  NULL};
  Suite *s = suite_of("unpack", tests);
  TCase *tc = tcase_create("every byte");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, test_cut, 0, PACK_LONG); /* Which would take long. */
  tcase_add_loop_test(tc, test_broken, 0, PACK_LONG);
  suite_add_tcase(s, tc);
  return s;
}

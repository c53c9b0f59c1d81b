/*
** Hostile streams: whatever they claim, no more memory is taken than what
** lj-parse-memprof(1) says under LIMITS.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count.h"
#include "ljm_format.h"
#include "load.h"
#include "pack.h"
#include "run.h"
#include "suites.h"

/* What a stream really has. */
typedef struct Has {
  const char *what;
  size_t objects; /* Live at once. */
  size_t sites;   /* With its function each; threads and the like are less. */
  size_t names;   /* Their bytes. */
  size_t stacks;
  size_t pairs;   /* Of sites, of which one freed the other's objects. */
  size_t longest; /* Bytes of a block or a name. */
} Has;

/* The bound for it, as the manual has it. */
static size_t bound(const Has *h)
{
  return (9u << 20) + h->objects * 32 + h->sites * 700 + h->names * 2 +
         h->stacks * 350 + h->pairs * 240 + h->longest * 2;
}

/* Bytes of a stream, which come as they are asked for. */
typedef struct Bytes {
  const char *p;
  size_t n;
} Bytes;

static ssize_t bytes_read(void *ctx, void *buf, size_t n)
{
  Bytes *b = ctx;
  n = n < b->n ? n : b->n;
  memcpy(buf, b->p, n);
  b->p += n;
  b->n -= n;
  return (ssize_t)n;
}

/* Read a stream, and look at what that took; then all reports can be made. */
static void within(const LpBuf *b, const Has *h)
{
  Bytes src = {b->s, b->n};
  LpInput in;
  Run r;
  size_t peak;
  count_start();
  lp_input_open(&in, bytes_read, &src);
  r = run_input(&in);
  peak = count_peak();
  ck_assert_msg(peak <= bound(h), "%s: %zu KiB, not %zu", h->what, peak >> 10,
                bound(h) >> 10);
  run_books(&r);
  run_reports(&r);
  run_close(&r);
}

/* A number that looks like any. */
static uint64_t wild(uint64_t i)
{
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  return (i ^ i >> 29) * 0xbf58476d1ce4e5b9u;
}

/* -- Version 0x10 --------------------------------------------------------- */

static void begin(Craft *c)
{
  craft_open(c, UINT64_MAX);
  craft_time(c, UINT64_MAX);
  craft_meta(c, UINT64_MAX);
}

/* The end of it: what it has must be within its bound. */
static void end(Craft *c, const Has *h)
{
  craft_flush(c);
  within(&c->out, h);
  craft_close(c);
}

/* Blocks would be long otherwise. */
static void step(Craft *c)
{
  if (c->block.n > 60000)
    craft_flush(c);
}

/* Objects far apart, at any address or at multiples of 8, of any size. */
START_TEST(test_addresses)
{
  const uint64_t mask = _i ? UINT64_MAX : ~(uint64_t)7;
  Has h = {.what = "addresses", .objects = 100000};
  Craft c;
  uint64_t i;
  begin(&c);
  for (i = 0; i < h.objects; i++, step(&c))
    craft_alloc(&c, LJM_SITE_UNKNOWN, wild(i) & mask, wild(i + 7));
  end(&c, &h);
}
END_TEST

/* Events without end, but never more than one object. */
START_TEST(test_events)
{
  Has h = {.what = "events"};
  Craft c;
  uint64_t i;
  begin(&c);
  for (i = 0; i < 300000; i++, step(&c)) {
    craft_alloc(&c, LJM_SITE_UNKNOWN, wild(i), wild(i + 7));
    craft_free(&c, LJM_SITE_UNKNOWN, wild(i), wild(i + 7));
  }
  end(&c, &h);
}
END_TEST

/* Functions and sites with any ids, lines and names. */
START_TEST(test_ids)
{
  Has h = {.what = "ids", .sites = 30000, .pairs = 30000, .names = 30000 * 7};
  Craft c;
  uint64_t i;
  char name[16];
  begin(&c);
  for (i = 0; i < h.sites; i++, step(&c)) {
    snprintf(name, sizeof(name), "%06x", (unsigned)i);
    craft_proto(&c, wild(i), ~0u, wild(i), wild(i + 1), name, name);
    craft_site(&c, wild(i + 5), ~0u, wild(i), wild(i + 2));
    craft_alloc(&c, wild(i + 5), 0x1000, 1);
    craft_free(&c, wild(i + 5), 0x1000, 1);
  }
  end(&c, &h);
}
END_TEST

/* Every site frees objects of every other one. */
START_TEST(test_pairs)
{
  Has h = {.what = "pairs", .sites = 200, .pairs = 2 * 200 * 200};
  Craft c;
  uint64_t i, j;
  begin(&c);
  for (i = 0; i < h.sites; i++) {
    craft_proto(&c, i + 1, 0, 0, i, "@x", "");
    craft_site(&c, i + 1000, 0, i + 1, i);
  }
  for (i = 0; i < h.sites; i++) {
    for (j = 0; j < h.sites; j++, step(&c)) {
      craft_alloc(&c, i + 1000, 0x1000, 1);
      craft_realloc(&c, j + 1000, 0x1000, 1, 0x1000, 1);
      craft_free(&c, i + 1000, 0x1000, 1);
    }
  }
  end(&c, &h);
}
END_TEST

/* Lengths and counts that are claimed, with nothing behind them. */
START_TEST(test_claims)
{
  static const char *const claim[] = {
      "\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* A record. */
      "\x04\xff\xff\xff\x07",                         /* Of 16 MiB. */
      "\xf0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* Sites that return, */
      "\x8c\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* and that call. */
      "\x3c\xff\xff\xff\x07",                         /* A stack. */
      "\x04\x0e\1\1\1\1\1\xff\xff\xff\xff\xff\xff\xff\x01", /* A name. */
      "\x1c\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",   /* A key. */
  };
  Has h = {.what = "claims"};
  Craft c;
  size_t i;
  begin(&c);
  craft_flush(&c);
  for (i = 0; i < 70000; i++) {
    lp_buf_puts(&c.block, claim[i % 7]);
    craft_flush(&c);
  }
  end(&c, &h);
}
END_TEST

/* Blocks that claim 16 MiB, and what there is of the last one. */
START_TEST(test_blocks)
{
  Has h = {.what = "blocks", .longest = 16u << 20};
  static const char zeros[4096];
  Craft c;
  size_t i;
  begin(&c);
  craft_flush(&c);
  for (i = 0; i < 1000; i++)
    lp_buf_add(&c.out, "ljb\x10\1\2\3\4\0\0\0\1\0\0\0\0\0\0\0\0", 20);
  for (i = 0; i < 5000; i++)
    lp_buf_add(&c.out, zeros, sizeof(zeros));
  end(&c, &h);
}
END_TEST

/* Stacks, all different: as wide as can be, or as deep. With _i == 2 they are
** deeper than what events have, and the window is always another.
*/
START_TEST(test_stacks)
{
  Has h = {.what = "stacks", .sites = 1000, .stacks = 100000};
  Craft c;
  uint64_t i;
  craft_open(&c, 1);
  c.stack = _i == 2 ? 64 : 1 + LJM_STACK_MAX;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 1, 1, "@x", "");
  for (i = 0; i < h.sites; i++)
    craft_site(&c, i + 2, 0, 1, i);
  for (i = 0; i < (_i == 2 ? 3000 : 100000); i++) {
    uint64_t site = 2 + wild(i) % h.sites;
    craft_change_of(&c, _i == 0 && i % 2 ? 2 : 0, &site, 1);
    craft_alloc(&c, site, i * 16, 1);
    step(&c);
  }
  h.objects = 100000;
  if (_i == 2)
    h.stacks = 3000 * 63;
  end(&c, &h);
}
END_TEST

/* -- CPU profiles --------------------------------------------------------- */

/* Modules, processes, threads and books without end, counts as large as can be.
 */
START_TEST(test_cpu)
{
  static char name[10000][8];
  static CraftBook book[10000];
  Has h = {.what = "cpu", .sites = 20000, .names = 10000 * 7};
  Craft c;
  uint64_t i;
  craft_open_cpu(&c);
  craft_time(&c, 0);
  craft_meta_cpu(&c, UINT64_MAX);
  for (i = 0; i < 10000; i++, step(&c)) {
    char *s = name[i];
    snprintf(s, sizeof(name[i]), "%06x", (unsigned)i);
    book[i] = (CraftBook){s, UINT64_MAX};
    craft_module(&c, wild(i), s, s);
    craft_process(&c, wild(i), wild(i), s);
    craft_thread(&c, wild(i), wild(i), wild(i), s);
    craft_native(&c, wild(i), 0, wild(i), wild(i), s);
    craft_site(&c, wild(i), 0, wild(i), 0);
    craft_sample(&c, 0, wild(i), i % 2 ? UINT64_MAX : 1);
  }
  craft_books(&c, book, 10000);
  end(&c, &h);
}
END_TEST

/* -- The old versions ----------------------------------------------------- */

/* Functions, traces and lines without end; an address has another name every
** time.
*/
START_TEST(test_old)
{
  Has h = {.what = "old", .sites = 60000, .pairs = 60000, .names = 30000 * 7};
  LpBuf b = {0};
  uint64_t i;
  craft_old_open(&b, 3);
  for (i = 0; i < 30000; i++)
    craft_old_event(&b, 2, i, UINT64_MAX, UINT64_MAX);
  craft_old_body(&b, 3);
  for (i = 0; i < 30000; i++) {
    char name[16];
    snprintf(name, sizeof(name), "%06x", (unsigned)i);
    craft_old_lua(&b, 8, i % 2 ? wild(i) : 7, name, UINT64_MAX);
    craft_old_event(&b, 0x09, i % 2 ? wild(i) : 7, wild(i), 0x1000, 8);
    craft_old_event(&b, 0x06, 0x1000, 8);
    craft_old_event(&b, 0x11, i, 0x1000, 8);
    craft_old_event(&b, 0x06, 0x1000, 8);
  }
  within(&b, &h);
  lp_buf_free(&b);
}
END_TEST

/* A name of 16 MiB that is not there, and one that is. */
START_TEST(test_old_name)
{
  Has h = {.what = "name", .sites = 2, .names = 2 * LJM_NAME_MAX};
  static char name[16u << 20];
  LpBuf b = {0};
  craft_old_open(&b, 3);
  craft_old_body(&b, 3);
  craft_old_event(&b, 8, 7, 16u << 20);
  lp_buf_puts(&b, "@x");
  within(&b, &h);
  b.n = 0;
  memset(name, 'x', sizeof(name) - 1);
  craft_old_open(&b, 3);
  craft_old_body(&b, 3);
  craft_old_lua(&b, 8, 7, name, 1);
  h.longest = sizeof(name);
  within(&b, &h);
  lp_buf_free(&b);
}
END_TEST

/* -- Many files ----------------------------------------------------------- */

#define FLEET_FILES 200

static void fleet_body(LpProfile *prof)
{
  prof->wanted.what |= LP_WANT_PEAK | LP_WANT_TEMPORARY | LP_WANT_TIME;
}

/* Most memory that it takes to read N files, or a file N times. */
static size_t fleet_peak(const char *const *name, size_t n)
{
  LpLoad l = {.body = fleet_body};
  size_t got, peak;
  count_start();
  l.prof = lp_profile_new();
  ck_assert_int_eq(lp_load_files(&l, name, n, &got), LP_WHOLE);
  ck_assert_uint_eq(got, n);
  peak = count_peak();
  lp_profile_free(l.prof);
  return peak;
}

/* As if of HOST: the same program, but objects are elsewhere, and many are live
** at the end.
*/
static void fleet_write(const char *name, uint64_t host)
{
  FILE *f = fopen(name, "wb");
  LpBuf packed = {0};
  Craft c;
  uint64_t i;
  ck_assert_ptr_nonnull(f);
  craft_open(&c, 1);
  c.stack = 64;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 1, 1, "@app.lua", "f");
  for (i = 0; i < 500; i++)
    craft_site(&c, i + 2, 0, 1, i);
  for (i = 0; i < 5000; i++, step(&c)) {
    uint64_t site = 2 + wild(i) % 500;
    craft_change_of(&c, i > 0, &site, 1);
    craft_alloc(&c, site, (host + 1) << 32 | i << 6, 48);
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  if (host % 3 < NPACK - 1)
    pack_add(&packed, (Pack)(host % 3), c.out.s, c.out.n);
  else
    lp_buf_add(&packed, c.out.s, c.out.n);
  ck_assert_uint_eq(fwrite(packed.s, 1, packed.n, f), packed.n);
  ck_assert_int_eq(fclose(f), 0);
  lp_buf_free(&packed);
  craft_close(&c);
}

/* 200 hosts take as much memory as the first three, which are packed in each
** way, and not packed; and their names.
*/
START_TEST(test_fleet)
{
  static char name[FLEET_FILES][64];
  const char *file[FLEET_FILES];
  char dir[] = "/tmp/ljprof-fleet-XXXXXX";
  size_t few, many;
  uint64_t i;
  ck_assert_ptr_nonnull(mkdtemp(dir));
  for (i = 0; i < FLEET_FILES; i++) {
    snprintf(name[i], sizeof(name[i]), "%s/%03u.ljm", dir, (unsigned)i);
    file[i] = name[i];
    fleet_write(name[i], i);
  }
  few = fleet_peak(file, 3);
  many = fleet_peak(file, FLEET_FILES);
  for (i = 0; i < FLEET_FILES; i++)
    unlink(file[i]);
  rmdir(dir);
  ck_assert_msg(many <= few + FLEET_FILES * 128,
                "%zu bytes for %d files, %zu for three", many, FLEET_FILES,
                few);
}
END_TEST

Suite *suite_bounds(void)
{
  const TTest *tests[] = {test_events, test_ids, test_pairs, test_claims,
                          test_blocks, test_cpu, test_old,   test_old_name,
                          test_fleet,  NULL};
  Suite *s = suite_of("bounds", tests);
  TCase *tc = tcase_create("kinds");
  tcase_add_loop_test(tc, test_addresses, 0, 2);
  tcase_add_loop_test(tc, test_stacks, 0, 3);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(s, tc);
  return s;
}

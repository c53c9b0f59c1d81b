/*
** Versions 1 to 3, made by hand from the grammars.
*/

#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "suites.h"

/* Versions that go together: of the symtab, of the events, with vm-addr. */
static const struct {
  unsigned sym, ev;
  uint64_t vm;
} pairs[] = {{1, 1, 0x7f12345678c0},
             {1, 1, 0x7f1234567880}, /* Begins as the symtab's end does. */
             {1, 1, 0x363600},       /* 80 6c ..: nearly "end, ljm". */
             {1, 1, 0},
             {1, 2, 0},
             {1, 3, 0},
             {2, 2, 0},
             {2, 3, 0},
             {3, 2, 0},
             {3, 3, 0}};

#define NPAIRS (sizeof(pairs) / sizeof(pairs[0]))

/* Header of an event of a source (1 INTERNAL, 2 Lua, 3 C, 4 trace). */
#define HEAD(kind, src) ((kind) | (src) << 2)

#define OLD_EVENTS 9

/* A stream with all that its versions have. */
static LpBuf old(size_t i)
{
  LpBuf b = {0};
  unsigned ev = pairs[i].ev, trace = HEAD(LJM_ALLOC, ev == 1 ? 1 : 4);
  craft_old_open(&b, pairs[i].sym);
  if (pairs[i].vm)
    craft_uleb(&b, pairs[i].vm);
  if (pairs[i].sym == 2 && ev == 2) /* Traces may come before functions. */
    craft_old_event(&b, 2, 7, 0x55500000, 0x7f0000001000, 4);
  else if (pairs[i].sym >= 2)
    craft_old_event(&b, 2, 7, 0x7f0000001000, 4);
  craft_old_lua(&b, 0, 0x7f0000001000, "@app.lua", 3);
  craft_old_lua(&b, 0, 0x7f0000002000, "len", UINT64_MAX);
  if (pairs[i].sym >= 3) {
    craft_old_event(&b, 1, 0x7f00000f0000);
    craft_str(&b, "cfunc");
  }
  craft_old_body(&b, ev);
  craft_old_event(&b, HEAD(LJM_ALLOC, 2), 0x7f0000001000, 5, 0x10000, 64);
  craft_old_event(&b, HEAD(LJM_ALLOC, 2), 0x7f0000002000, UINT64_MAX, 0x10040,
                  32);
  craft_old_event(&b, HEAD(LJM_ALLOC, 3), 0x7f00000f0000, 0x10080, 16);
  craft_old_event(&b, HEAD(LJM_ALLOC, 2), 0x7f0000003000, 9, 0x100c0, 8);
  if (ev >= 3) {
    craft_old_lua(&b, HEAD(0, 2), 0x7f0000003000, "=late", 0);
    craft_old_event(&b, HEAD(0, 3), 0x7f00000f1000);
    craft_str(&b, "latec");
    craft_old_event(&b, HEAD(0, 4), 8, 0x7f0000001000, 6);
  }
  craft_old_event(&b, HEAD(LJM_REALLOC, 2), 0x7f0000003000, 9, 0x10000, 64,
                  0x10000, 128);
  craft_old_event(&b, HEAD(LJM_FREE, 1), 0x10040, 32);
  craft_old_event(&b, HEAD(LJM_FREE, 1), 0x20000, 48);
  if (ev == 1) {
    craft_old_event(&b, trace, 0x10100, 24);
    craft_old_event(&b, trace | 0x40, 0x10140, 24);
  } else if (ev == 2) {
    craft_old_event(&b, trace, 7, 0x55500000, 0x10100, 24);
    craft_old_event(&b, trace, 8, 0x55600000, 0x10140, 24);
  } else {
    craft_old_event(&b, trace, 7, 0x10100, 24);
    craft_old_event(&b, trace, 8, 0x10140, 24);
  }
  craft_byte(&b, 0x80);
  return b;
}

/* Which row has the events of what. */
static void rows(const Run *r, size_t i)
{
  const char *late =
      pairs[i].ev >= 3 ? "late:0, line 9" : "@?:0x7f0000003000, line 9";
  const char *c = pairs[i].sym >= 3 ? "[C] cfunc" : "[C] 0x7f00000f0000";
  const char *t7 = pairs[i].sym >= 2 ? "TRACE [7] started at @app.lua:3, line 4"
                   : pairs[i].ev == 2 ? "TRACE [7] 0x55500000"
                                      : "TRACE [7]";
  const char *t8 = pairs[i].ev >= 3 ? "TRACE [8] started at @app.lua:3, line 6"
                                    : "TRACE [8] 0x55600000";
  ck_assert_uint_eq(run_row(r, "@app.lua:3, line 5")->alloc_bytes, 64);
  ck_assert_uint_eq(run_row(r, "@app.lua:3, line 5")->live, 0);
  ck_assert_uint_eq(run_row(r, "[builtin:len], line ?")->alloc_bytes, 32);
  ck_assert_uint_eq(run_row(r, c)->alloc_bytes, 16);
  ck_assert_uint_eq(run_row(r, "@?:0x7f0000003000, line 9")->alloc_bytes, 8);
  ck_assert_uint_eq(run_row(r, late)->realloc_in, 128);
  ck_assert_uint_eq(run_row(r, "INTERNAL")->free_bytes, 80);
  if (pairs[i].ev == 1) {
    ck_assert_uint_eq(run_row(r, "INTERNAL")->alloc_bytes, 48);
    ck_assert_uint_eq(r->st.ns, 1000000000);
  } else {
    ck_assert_uint_eq(run_row(r, t7)->alloc_bytes, 24);
    ck_assert_uint_eq(run_row(r, t8)->alloc_bytes, 24);
  }
}

/* All pairs of versions, whole. */
START_TEST(test_versions)
{
  size_t i;
  for (i = 0; i < NPAIRS; i++) {
    LpBuf b = old(i);
    Run r = run_memory(b.s, b.n);
    ck_assert_str_eq(r.st.damage.what, "");
    ck_assert_int_eq(r.status, LP_WHOLE);
    ck_assert_uint_eq(r.events, OLD_EVENTS);
    run_books(&r);
    rows(&r, i);
    ck_assert_ptr_null(
        strstr(run_text(&r, &run_plain), "(before start) holds"));
    run_close(&r);
    lp_buf_free(&b);
  }
}
END_TEST

/* Cut at every byte: what was read until there counts. */
START_TEST(test_cut)
{
  size_t i, n;
  for (i = 0; i < NPAIRS; i++) {
    LpBuf b = old(i);
    uint64_t seen = 0;
    for (n = 0; n <= b.n; n++) {
      Run r = run_memory(b.s, n);
      run_books(&r);
      if (n == b.n)
        ck_assert_int_eq(r.status, LP_WHOLE);
      else
        ck_assert_int_ne(r.status, LP_WHOLE);
      ck_assert_uint_ge(r.events, seen);
      ck_assert_uint_eq(r.st.ndamage, n != b.n);
      ck_assert_uint_le(r.st.damage.offset, n);
      seen = r.events;
      run_text(&r, &run_plain);
      run_close(&r);
    }
    ck_assert_uint_eq(seen, OLD_EVENTS);
    lp_buf_free(&b);
  }
}
END_TEST

/* A wrong byte anywhere: no more than what the books allow. */
START_TEST(test_broken)
{
  size_t i, n;
  for (i = 0; i < NPAIRS; i++) {
    LpBuf b = old(i);
    for (n = 0; n < 8 * b.n; n++) {
      Run r;
      b.s[n / 8] = (char)(b.s[n / 8] ^ 1 << n % 8);
      r = run_memory(b.s, b.n);
      run_books(&r);
      run_text(&r, &run_plain);
      run_close(&r);
      b.s[n / 8] = (char)(b.s[n / 8] ^ 1 << n % 8);
    }
    lp_buf_free(&b);
  }
}
END_TEST

/* The event with this header is the end, and is told like this. */
static void header(size_t i, unsigned head, const char *what)
{
  LpBuf b = old(i);
  Run r;
  b.n--;
  craft_byte(&b, head);
  lp_buf_add(&b, "\1\1\1\1\1\1\1\1\x80", 9);
  r = run_memory(b.s, b.n);
  ck_assert_int_eq(r.status, LP_PART);
  ck_assert_str_eq(r.st.damage.what, what);
  ck_assert_uint_eq(r.st.damage.offset, b.n - 10);
  ck_assert_uint_eq(r.events, OLD_EVENTS);
  run_close(&r);
  lp_buf_free(&b);
}

START_TEST(test_headers)
{
  header(3, 0x00, "expected an event or the final byte, found 0x00");
  header(3, 0x01, "expected an event or the final byte, found 0x01");
  header(3, 0x15, "expected an event or the final byte, found 0x15");
  header(3, 0x2d, "expected an event or the final byte, found 0x2d");
  header(4, 0x08, "expected an event or the final byte, found 0x08");
  header(4, 0x15, "expected an event or the final byte, found 0x15");
  header(9, 0x04, "expected an event or the final byte, found 0x04");
  header(9, 0x49, "expected an event or the final byte, found 0x49");
  header(9, 0x7f, "expected an event or the final byte, found 0x7f");
}
END_TEST

/* What is at an address is what was defined there last. */
START_TEST(test_reuse)
{
  LpBuf b = {0};
  Run r;
  int i;
  craft_old_open(&b, 3);
  craft_old_body(&b, 3);
  for (i = 0; i < 6; i++) {
    craft_old_lua(&b, HEAD(0, 2), 0x1000, i % 2 ? "@b.lua" : "@a.lua", 1);
    craft_old_event(&b, HEAD(0, 4), 1, 0x1000, 2);
    craft_old_event(&b, HEAD(LJM_ALLOC, 2), 0x1000, 3, 0x10000 + i * 64, 1);
    craft_old_event(&b, HEAD(LJM_ALLOC, 4), 1, 0x20000 + i * 64, 1);
  }
  craft_byte(&b, 0x80);
  r = run_memory(b.s, b.n);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(run_row(&r, "@a.lua:1, line 3")->allocs, 3);
  ck_assert_uint_eq(run_row(&r, "@b.lua:1, line 3")->allocs, 3);
  ck_assert_uint_eq(
      run_row(&r, "TRACE [1] started at @a.lua:1, line 2")->allocs, 3);
  ck_assert_uint_eq(
      run_row(&r, "TRACE [1] started at @b.lua:1, line 2")->allocs, 3);
  run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* The same names again and again take no memory. */
START_TEST(test_again)
{
  LpBuf b = {0};
  Run r;
  int i;
  craft_old_open(&b, 3);
  craft_old_body(&b, 3);
  for (i = 0; i < 300000; i++) {
    craft_old_event(&b, HEAD(0, 3), 0x1000 + i % 100);
    craft_str(&b, i % 2 ? "an_alias_of_it" : "a_function");
    if (i % 100 == 0)
      craft_old_event(&b, HEAD(LJM_ALLOC, 3), 0x1000, 16 * i, 9);
  }
  craft_byte(&b, 0x80);
  r = run_memory(b.s, b.n);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(run_row(&r, "[C] a_function")->allocs, 3000);
  ck_assert_uint_le(r.prof->funckeys.n, 3);
  ck_assert_uint_le(r.prof->names.n, 3);
  run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* A chunk may be a whole program's source: only its beginning is kept. */
START_TEST(test_long_chunk)
{
  static char source[3u << 20];
  LpBuf b = {0};
  Run r;
  int i;
  memset(source, 'x', sizeof(source) - 1);
  craft_old_open(&b, 3);
  craft_old_body(&b, 3);
  for (i = 0; i < 4; i++) {
    source[sizeof(source) - 2] = i % 2 ? 'y' : 'z';
    craft_old_lua(&b, HEAD(0, 2), 0x1000, source, 0);
    craft_old_event(&b, HEAD(LJM_ALLOC, 2), 0x1000, 1, 64 * i, 8);
  }
  craft_byte(&b, 0x80);
  r = run_memory(b.s, b.n);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.prof->sitekeys.n, LP_SITE_FIRST + 2);
  ck_assert_uint_le(r.prof->names.nbytes, 3 * LJM_NAME_MAX);
  run_close(&r);
  lp_buf_free(&b);
}
END_TEST

/* A name that claims to be longer than all memory. */
START_TEST(test_huge_name)
{
  static const uint64_t n[] = {17u << 20, UINT64_MAX, 16u << 20};
  size_t i;
  for (i = 0; i < 3; i++) {
    LpBuf b = {0};
    Run r;
    craft_old_open(&b, 3);
    craft_old_event(&b, 0, 0x1000, n[i]);
    lp_buf_puts(&b, "@x");
    r = run_memory(b.s, b.n);
    ck_assert_int_eq(r.status, LP_UNREADABLE);
    ck_assert_str_eq(r.st.damage.what,
                     i < 2 ? "expected a symbol, found 0x00"
                           : "expected a symbol, the stream ends inside of it");
    run_close(&r);
    lp_buf_free(&b);
  }
}
END_TEST

Suite *suite_legacy(void)
{
  const TTest *tests[] = {test_versions,   test_cut,       test_broken,
                          test_headers,    test_reuse,     test_again,
                          test_long_chunk, test_huge_name, NULL};
  return suite_of("legacy", tests);
}

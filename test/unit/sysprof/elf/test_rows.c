/*
** Unwind tables of real programs, address by address, against what readelf
** says.
*/

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "open.h"
#include "readelf.h"
#include "suites.h"

/* Files that are there on every Debian, and some that may be. More can be given
** in LJPROF_TEST_ELF, with colons between them.
*/
static const char *const files[] = {
    LUAJIT,
    "/bin/ls",
    "/lib*/x86_64-linux-gnu/libc.so.6",
    "/lib*/x86_64-linux-gnu/libm.so.6",
    "/lib*/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    "/usr/lib*/x86_64-linux-gnu/libgcc_s.so.1",
    "/usr/lib*/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib*/x86_64-linux-gnu/libcrypto.so.3",
};

/* Milliseconds that this process has worked. */
static double work_ms(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
  return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* A row as text. */
static const char *row_text(const struct ljs_row *r, char *s, size_t n)
{
  snprintf(s, n, "cfa %d%+d, rbp %d%+d, rbx %d%+d", r->how, r->cfa, r->bphow,
           r->bp, r->bxhow, r->bx);
  return s;
}

/* At an address there is the row that there should be. */
static void check_at(const LsRows *t, uint64_t addr, const struct ljs_row *want,
                     const char *path)
{
  static const struct ljs_row none;
  const struct ljs_row *have = ls_rows_find(t, addr);
  char a[64], b[64];
  if (!have)
    have = &none;
  if (have->how == want->how && have->cfa == want->cfa &&
      have->bphow == want->bphow && have->bp == want->bp &&
      have->bxhow == want->bxhow && have->bx == want->bx)
    return;
  ck_abort_msg("%s, %lx: %s; readelf has %s", path, (unsigned long)addr,
               row_text(have, a, sizeof(a)), row_text(want, b, sizeof(b)));
}

/* Sorted, nothing twice, nothing known behind the end. */
static void check_order(const LsRows *t)
{
  size_t i;
  for (i = 1; i < t->n; i++) {
    struct ljs_row before = t->row[i - 1];
    ck_assert_uint_lt(before.pc, t->row[i].pc);
    before.pc = t->row[i].pc;
    ck_assert_int_ne(memcmp(&before, &t->row[i], sizeof(before)), 0);
  }
  for (i = 1; i < t->nrange; i++)
    ck_assert_uint_le(t->range[i - 1].hi, t->range[i].lo);
  if (t->n)
    ck_assert_int_eq(t->row[t->n - 1].how, LJS_CFA_UNKNOWN);
}

/* Every address of a function. Returns how many there are. */
static size_t check_function(const LsRows *t, const ReTable *re,
                             const ReFunction *fn, uint64_t hi,
                             const char *path)
{
  size_t i = fn->row, last = fn->row + fn->nrow - 1;
  uint64_t addr;
  for (addr = fn->lo; addr < hi; addr++) {
    while (i < last && re->row[i + 1].pc <= addr)
      i++;
    check_at(t, addr, &re->row[i], path);
  }
  return hi - fn->lo;
}

/* Every address from the first function to the last, and between them. */
static void check_all(const LsRows *t, const ReTable *re, const char *path)
{
  static const struct ljs_row none;
  size_t i, known = 0, overlaps = 0, unknown = 0, holes = 0;
  uint64_t addr;
  for (i = 0; i < re->nfn; i++) {
    const ReFunction *fn = &re->fn[i], *next = fn + 1;
    uint64_t end = i + 1 < re->nfn ? next->lo : fn->hi + 1;
    overlaps += end < fn->hi;
    known += check_function(t, re, fn, end < fn->hi ? end : fn->hi, path);
    for (addr = fn->hi; addr < end; addr++)
      check_at(t, addr, &none, path);
  }
  for (i = 0; i < t->n; i++)
    unknown += t->row[i].how == LJS_CFA_UNKNOWN;
  for (i = 1; i < t->nrange; i++)
    holes += t->range[i - 1].hi < t->range[i].lo;
  ck_assert_uint_eq(t->nrange, re->nfn);
  printf(
      "%s: %zu functions (%zu overlap), %zu addresses, %zu rows, %zu unknown "
      "of which %zu are for holes between functions",
      path, re->nfn, overlaps, known, t->n, unknown, holes + 1);
}

/* Compare all that a file has. */
static void check_file(const char *path, const char *section)
{
  LsRows t;
  ReTable re;
  double before = work_ms(), ms;
  LsElf *e = open_rows(path, &t);
  ms = work_ms() - before;
  re_read(&re, path, section);
  ck_assert_uint_gt(re.nfn, 0);
  check_order(&t);
  check_all(&t, &re, path);
  printf(", %.1f ms\n", ms);
  re_free(&re);
  ls_rows_free(&t);
  ls_elf_close(e);
}

/* Files that match a pattern. */
static size_t check_glob(const char *pattern)
{
  glob_t g;
  size_t i, n = 0;
  if (glob(pattern, 0, NULL, &g) != 0)
    return 0;
  for (i = 0; i < g.gl_pathc; i++, n++)
    check_file(g.gl_pathv[i], ".eh_frame");
  globfree(&g);
  return n;
}

START_TEST(test_readelf)
{
  ck_assert_uint_gt(check_glob(files[_i]) + (_i > 4), 0);
}
END_TEST

/* What only .debug_frame tells. */
START_TEST(test_debug_frame)
{
  check_file(SAMPLE_DEBUG, ".debug_frame");
}
END_TEST

START_TEST(test_more)
{
  const char *more = getenv("LJPROF_TEST_ELF");
  char *s, *save, *p;
  ck_assert_ptr_nonnull(more);
  s = strdup(more);
  for (p = strtok_r(s, ":", &save); p; p = strtok_r(NULL, ":", &save))
    ck_assert_uint_gt(check_glob(p), 0);
  free(s);
}
END_TEST

Suite *suite_rows(void)
{
  const TTest *tests[] = {test_debug_frame, NULL};
  Suite *s = suite_of("rows", tests);
  TCase *tc = tcase_create("readelf");
  tcase_set_timeout(tc, 120);
  tcase_add_loop_test(tc, test_readelf, 0,
                      (int)(sizeof(files) / sizeof(*files)));
  suite_add_tcase(s, tc);
  if (getenv("LJPROF_TEST_ELF")) {
    tc = tcase_create("more");
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_more);
    suite_add_tcase(s, tc);
  }
  return s;
}

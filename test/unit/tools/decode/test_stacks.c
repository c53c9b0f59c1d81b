/*
** Stacks: what changes them, what an event has of them.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "run.h"
#include "stack.h"
#include "suites.h"

/* Begin a stream with stacks of so many frames and the sites 2 to N + 1: their
** lines are their numbers.
*/
static void begin(Craft *c, uint64_t stack, uint64_t n)
{
  uint64_t i;
  craft_open(c, 1);
  c->stack = stack;
  craft_time(c, 0);
  craft_meta(c, 0);
  craft_proto(c, 1, 0, 9, 0, "=s", "");
  for (i = 2; i < n + 2; i++)
    craft_site(c, i, 0, 1, i);
}

/* End it. Its folded report, without what all frames have, must be WANT. */
static void end(Craft *c, LpStatus status, const char *what, const char *want)
{
  LpReportOptions opt = run_plain;
  LpBuf b = {0};
  const char *s, *at;
  Run r;
  craft_totals(c, 0, 0);
  craft_flush(c);
  r = run_craft(c);
  ck_assert_str_eq(r.st.damage.what, what);
  ck_assert_int_eq(r.status, status);
  s = run_report(&r, "folded", NULL, &opt);
  while ((at = strstr(s, "s:0, line "))) {
    lp_buf_add(&b, s, (size_t)(at - s));
    s = at + strlen("s:0, line ");
  }
  lp_buf_puts(&b, s);
  ck_assert_str_eq(b.s, want);
  run_books(&r);
  lp_buf_free(&b);
  run_close(&r);
  craft_close(c);
}

#define END(c, want) end(c, LP_WHOLE, "", want)

/* -- Rules ---------------------------------------------------------------- */

/* Changes: pushes, pops, both, many of both; STACK. */
START_TEST(test_changes)
{
  Craft c;
  begin(&c, 100, 12);
  craft_change(&c, 0, 2);
  craft_alloc(&c, 3, 0x1000, 1);
  craft_change(&c, 0);
  craft_change(&c, 0, 3, 4);
  craft_alloc(&c, 5, 0x2000, 2);
  craft_change(&c, 2, 5, 6, 7, 8, 9);
  craft_alloc(&c, 2, 0x3000, 4);
  craft_change(&c, 6, 10, 11, 12);
  craft_alloc(&c, 2, 0x4000, 8);
  craft_change(&c, 1, 2, 2, 2, 2, 2, 2);
  craft_change(&c, 7, 13);
  craft_realloc(&c, 2, 0x4000, 8, 0x5000, 16);
  craft_stack(&c, 0, 4, 5);
  craft_alloc(&c, 2, 0x6000, 32);
  craft_stack(&c, 0);
  craft_alloc(&c, 2, 0x7000, 64);
  END(&c, "10;11;12;2 8\n10;13;2 16\n2 64\n2;3 1\n2;3;4;5 2\n"
          "2;5;6;7;8;9;2 4\n4;5;2 32\n");
}
END_TEST

/* INTERNAL and unknown events have no callers, nor have deallocations. */
START_TEST(test_without)
{
  Craft c;
  begin(&c, 100, 3);
  craft_change(&c, 0, 2, 3);
  craft_alloc(&c, LJM_SITE_INTERNAL, 0x1000, 1);
  craft_alloc(&c, LJM_SITE_UNKNOWN, 0x2000, 2);
  craft_free(&c, 3, 0x1000, 1);
  craft_realloc(&c, LJM_SITE_INTERNAL, 0x2000, 2, 0x3000, 4);
  craft_alloc(&c, 4, 0x4000, 8);
  END(&c, "(unknown) 2\nINTERNAL 5\n2;3;4 8\n");
}
END_TEST

/* Without stacks, whatever is told of them is not used. */
START_TEST(test_top)
{
  unsigned i;
  for (i = 0; i < 2; i++) {
    Craft c;
    begin(&c, i, 3);
    craft_change(&c, 0, 2, 3);
    craft_alloc(&c, 4, 0x1000, 8);
    craft_stack(&c, LJM_STACK_CUT, 2, 3);
    craft_alloc(&c, 4, 0x2000, 8);
    END(&c, "4 16\n");
  }
}
END_TEST

/* A block begins with an empty stack that is not cut. */
START_TEST(test_blocks)
{
  Craft c;
  begin(&c, 100, 5);
  craft_stack(&c, LJM_STACK_CUT, 2, 3);
  craft_alloc(&c, 4, 0x1000, 1);
  craft_flush(&c);
  craft_time(&c, 1);
  craft_alloc(&c, 4, 0x2000, 2);
  craft_change(&c, 0, 5);
  craft_alloc(&c, 4, 0x3000, 4);
  END(&c, "(cut);2;3;4 1\n4 2\n5;4 4\n");
}
END_TEST

/* The innermost callers are kept, the others are cut; and told again when
** enough have returned.
*/
START_TEST(test_cap)
{
  Craft c;
  begin(&c, 3, 8);
  craft_change(&c, 0, 2, 3);
  craft_alloc(&c, 9, 0x1000, 1);
  craft_change(&c, 0, 4);
  craft_alloc(&c, 9, 0x2000, 2);
  craft_change(&c, 0, 5, 6);
  craft_alloc(&c, 9, 0x3000, 4);
  craft_change(&c, 1);
  craft_alloc(&c, 9, 0x4000, 8);
  craft_change(&c, 2);
  craft_alloc(&c, 9, 0x5000, 16);
  craft_change(&c, 1);
  craft_alloc(&c, 9, 0x6000, 32);
  craft_change(&c, 0, 7, 4, 5); /* The same window, by another way. */
  craft_alloc(&c, 9, 0x7000, 64);
  craft_stack(&c, LJM_STACK_CUT, 6); /* Cut, and shorter than that. */
  craft_alloc(&c, 9, 0x8000, 128);
  craft_change(&c, 1);
  craft_alloc(&c, 9, 0x9000, 256);
  END(&c, "(cut);3;4;9 2\n(cut);4;5;9 72\n(cut);5;6;9 4\n(cut);6;9 128\n"
          "(cut);9 256\n2;3;9 17\n2;9 32\n");
}
END_TEST

/* -- Damage --------------------------------------------------------------- */

/* More pops than there are: from there on nobody knows who called. */
START_TEST(test_below)
{
  Craft c;
  begin(&c, 100, 5);
  craft_change(&c, 0, 2, 3);
  craft_alloc(&c, 4, 0x1000, 1);
  craft_change(&c, 3, 5);
  craft_alloc(&c, 4, 0x2000, 2);
  end(&c, LP_PART, "3 sites return, 2 have called", "(cut);5;4 2\n2;3;4 1\n");
  begin(&c, 100, 5);
  craft_change(&c, UINT64_MAX);
  craft_alloc(&c, 4, 0x2000, 2);
  end(&c, LP_PART, "18446744073709551615 sites return, 0 have called",
      "(cut);4 2\n");
}
END_TEST

/* Callers at sites that nobody defined. */
START_TEST(test_lost)
{
  Craft c;
  begin(&c, 100, 3);
  craft_change(&c, 0, 2, 77);
  craft_alloc(&c, 4, 0x1000, 1);
  end(&c, LP_PART, "a caller's site 77 is not defined", "2;(lost);4 1\n");
  begin(&c, 100, 3);
  craft_stack(&c, 0, 78, 3);
  craft_alloc(&c, 4, 0x1000, 1);
  end(&c, LP_PART, "a caller's site 78 is not defined", "(lost);3;4 1\n");
}
END_TEST

/* A stack too deep: its block ends there, the next one is read. */
START_TEST(test_deep)
{
  uint64_t site[LP_STACK_MAX + 1];
  LpBuf want = {0};
  unsigned i, how;
  for (i = 0; i <= LP_STACK_MAX; i++)
    site[i] = 2;
  for (how = 0; how < 4; how++) {
    Craft c;
    begin(&c, 100, 3);
    craft_change_of(&c, 0, site, LP_STACK_MAX); /* As deep as can be. */
    craft_alloc(&c, 3, 0x1000, 1);
    if (how == 1)
      craft_change(&c, 0, 2);
    if (how == 2)
      craft_stack_of(&c, 0, site, LP_STACK_MAX + 1);
    if (how == 3)
      craft_change_of(&c, LP_STACK_MAX, site, LP_STACK_MAX + 1);
    craft_alloc(&c, 4, 0x2000, 2);
    craft_flush(&c);
    craft_time(&c, 0);
    craft_alloc(&c, 4, 0x3000, 4);
    want.n = 0;
    lp_buf_puts(&want, "(cut)");
    for (i = 0; i < 99; i++)
      lp_buf_puts(&want, ";2");
    lp_buf_puts(&want, ";3 1\n");
    if (!how) {
      want.n -= strlen(";3 1\n");
      lp_buf_puts(&want, ";3 1\n(cut)");
      for (i = 0; i < 99; i++)
        lp_buf_puts(&want, ";2");
      lp_buf_puts(&want, ";4 2\n");
    }
    lp_buf_puts(&want, "4 4\n");
    end(&c, how ? LP_PART : LP_WHOLE,
        how ? "a stack of more than 4096 sites" : "", want.s);
  }
  lp_buf_free(&want);
}
END_TEST

/* Windows of thousands of frames that are all different, a few bytes each: time
** and memory stay within what these bytes are worth.
*/
START_TEST(test_windows)
{
  Craft c;
  Run r;
  uint64_t i, k;
  begin(&c, 4000, 40);
  for (i = 0; i < 60; i++) {
    for (k = 0; k < 4096; k++)
      craft_change(&c, 0, 2 + (i * i + k * k / 7) % 40);
    for (k = 0; k < 3000; k++) {
      craft_change(&c, 1 + k % 5, 2 + k % 37);
      craft_alloc(&c, 2 + k % 3, 0x1000 + (i * 3000 + k) * 64, 8);
      if (k % 5 == 4)
        craft_change(&c, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    }
    craft_flush(&c);
    craft_time(&c, 0);
  }
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  r = run_craft(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_le(r.prof->origins.calls.n, (1u << 20) + 40 * c.out.n);
  run_books(&r);
  run_close(&r);
  craft_close(&c);
}
END_TEST

Suite *suite_stacks(void)
{
  const TTest *tests[] = {test_changes, test_without, test_top,  test_blocks,
                          test_cap,     test_below,   test_lost, test_deep,
                          test_windows, NULL};
  return suite_of("stacks", tests);
}

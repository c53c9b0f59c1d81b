/*
** Where stacks end that programs make by hand, and where they do not.
*/

#include <stdio.h>
#include <string.h>

#include "suites.h"
#include "tracee.h"

/* The kind of a stack, why it is cut, and its outermost frame; NULL: any. */
static const struct {
  const char *kind;
  uint32_t cut;
  const char *bottom;
} kinds[] = {
    {"finish", LJS_CUT_NOT, "finish"},    {"ucontext", LJS_CUT_NOT, NULL},
    {"function", LJS_CUT_NOT, "returns"}, {"coco", LJS_CUT_NOT, NULL},
    {"zero", LJS_CUT_NOT, "work"},        {"garbage", LJS_CUT_NOMAP, NULL},
    {"bare_start", LJS_CUT_NOROW, NULL},  {"bare", LJS_CUT_NOROW, "bare"},
    {"never", LJS_CUT_NOROW, "never"},
};

START_TEST(test_bottom)
{
  const char *argv[] = {FIBERS, kinds[_i].kind, NULL};
  char name[TRACEE_NAME];
  Tracee *t = tracee_start(argv);
  unsigned at;
  static Walk w;
  ck_assert_ptr_nonnull(t);
  ck_assert(tracee_mark(t, name));
  ck_assert_str_eq(name, kinds[_i].kind);
  tracee_walk(t, &w);
  for (at = 0; at < w.out.nframes; at++)
    printf("%s: %s\n", name, tracee_where(t, w.out.frame[at].addr));
  ck_assert_uint_eq(w.out.cut, kinds[_i].cut);
  at = w.out.nframes - 1;
  if (w.out.cut)
    at--; /* The mark. */
  if (kinds[_i].bottom)
    ck_assert_ptr_nonnull(
        strstr(tracee_where(t, w.out.frame[at].addr), kinds[_i].bottom));
  tracee_end(t);
}
END_TEST

Suite *suite_roots(void)
{
  const TTest *tests[] = {NULL};
  Suite *s = suite_of("roots", tests);
  TCase *tc = tcase_create("bottom");
  tcase_add_loop_test(tc, test_bottom, 0,
                      (int)(sizeof(kinds) / sizeof(*kinds)));
  suite_add_tcase(s, tc);
  return s;
}

/*
** Text in columns of a terminal, and suggestions.
*/

#include <check.h>
#include <string.h>

#include "fit.h"
#include "suggest.h"
#include "suites.h"

static const LpScreen utf8 = {.columns = 80, .rows = 24, .utf8 = 1};
static const LpScreen ascii = {.columns = 80, .rows = 24};

/* Columns of one byte, several bytes, wide and combining characters. */
START_TEST(test_width)
{
  ck_assert_uint_eq(lp_fit_width(""), 0);
  ck_assert_uint_eq(lp_fit_width("abc"), 3);
  ck_assert_uint_eq(lp_fit_width("\xc3\xa4\xe2\x80\xa6"), 2);
  ck_assert_uint_eq(lp_fit_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
  ck_assert_uint_eq(lp_fit_width("e\xcc\x81"), 1);
  ck_assert_uint_eq(lp_fit_width("\xff\xfe"), 2);
}
END_TEST

/* Names are cut in the middle, at any width, and never too wide. */
START_TEST(test_name)
{
  static const struct {
    const LpScreen *screen;
    const char *s;
    size_t width;
    const char *want;
  } t[] = {{&utf8, "abcdef", 6, "abcdef"},
           {&utf8, "abcdefghij", 7, "ab\xe2\x80\xa6ghij"},
           {&ascii, "abcdefghij", 8, "ab..ghij"},
           {&utf8, "abcdefghij", 1, "\xe2\x80\xa6"},
           {&utf8, "abcdefghij", 0, ""},
           {&utf8, "@...aa/bbbb.lua:1", 11,
            "@\xe2\x80\xa6"
            "bbb.lua:1"},
           {&utf8, "@abcdefghijklmno.lua:3 (a_function_of_this_name)", 24,
            "@ab\xe2\x80\xa6no.lua:3 (a_f\xe2\x80\xa6"
            "_name)"},
           {&utf8, "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5,
            "\xe2\x80\xa6\xe6\xbc\xa2"},
           {&utf8,
            "a\x9b"
            "b",
            3, "a?b"}};
  size_t i;
  for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
    LpBuf b = {0};
    lp_buf_puts(&b, "");
    lp_fit_name(&b, t[i].screen, t[i].s, t[i].width);
    ck_assert_str_eq(b.s ? b.s : "", t[i].want);
    ck_assert_uint_le(lp_fit_width(b.s ? b.s : ""), t[i].width);
    lp_buf_free(&b);
  }
}
END_TEST

/* Whatever the bytes, no cut is too wide. */
START_TEST(test_any)
{
  static const char *const piece[] = {
      "a", "\xe6\xbc\xa2", "\xc3\xa4", "\xcc\x81", "\xff", " (", "\xe6"};
  unsigned seed = 1, i, k;
  for (i = 0; i < 2000; i++) {
    LpBuf s = {0}, b = {0};
    size_t width = i % 40;
    lp_buf_puts(&s, "x");
    for (k = 0; k < 60; k++) {
      seed = seed * 1103515245 + 12345;
      lp_buf_puts(&s, piece[(seed >> 16) % 7]);
    }
    lp_fit_name(&b, i & 1 ? &utf8 : &ascii, s.s, width);
    ck_assert_uint_le(lp_fit_width(b.s ? b.s : ""), width);
    lp_buf_free(&s);
    lp_buf_free(&b);
  }
}
END_TEST

/* Lines are broken at spaces; sequences take no room. */
START_TEST(test_wrap)
{
  static const char line[] = "\033[1mone two\033[m three";
  LpBuf b = {0};
  lp_fit_wrap(&b, line, strlen(line), 8);
  ck_assert_str_eq(b.s, "\033[1mone two\033[m\nthree\n");
  b.n = 0;
  lp_fit_wrap(&b, "abcdefgh", 8, 3);
  ck_assert_str_eq(b.s, "abc\ndef\ngh\n");
  b.n = 0;
  lp_fit_wrap(&b, "", 0, 3);
  ck_assert_str_eq(b.s, "\n");
  b.n = 0;
  lp_fit_line(&b, line, strlen(line), 5);
  ck_assert_str_eq(b.s, "\033[1mone t\033[m");
  lp_buf_free(&b);
}
END_TEST

/* What is near is suggested, and nothing else. */
START_TEST(test_suggest)
{
  static const char *const name[] = {"view", "tree", "functions",
                                     "live-objects", "csv"};
  static const char *const t[][2] = {{"veiw", "view"},
                                     {"treee", "tree"},
                                     {"fucntion", "functions"},
                                     {"live", "live-objects"},
                                     {"cvs", "csv"},
                                     {"size", NULL},
                                     {"", NULL},
                                     {"x", NULL},
                                     {"v", NULL}};
  size_t i, k;
  for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
    ClNearest s = cl_nearest(t[i][0]);
    for (k = 0; k < sizeof(name) / sizeof(name[0]); k++)
      cl_nearest_try(&s, name[k]);
    if (t[i][1])
      ck_assert_str_eq(s.best, t[i][1]);
    else
      ck_assert_ptr_null(s.best);
  }
}
END_TEST

Suite *suite_fit(void)
{
  const TTest *tests[] = {test_width, test_name,    test_any,
                          test_wrap,  test_suggest, NULL};
  return suite_of("fit", tests);
}

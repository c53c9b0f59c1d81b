/*
** Tables as CSV.
*/

#include <string.h>

#include "report.h"
#include "run.h"
#include "suites.h"

/* A table with a text and a number of each kind, or nothing. */
static void table_of(LpTable *t, const char *const *text, size_t n)
{
  size_t i;
  lp_table_column(t, "name", "its name", LP_UNIT_TEXT);
  lp_table_column(t, "bytes", "its bytes", LP_UNIT_BYTES)->extra = 1;
  lp_table_column(t, "percent", "of all", LP_UNIT_PERCENT);
  for (i = 0; i < n; i++) {
    lp_table_row(t);
    if (text[i])
      lp_table_string(t, 0, lp_strdup(text[i]));
    if (i == 0)
      lp_table_number(t, 1, (uint64_t)-5);
    if (i == 1)
      lp_table_number(t, 1, ((uint64_t)1 << 53) + 1);
    if (i == 1)
      lp_table_percent(t, 2, 1, 8);
  }
}

/* The table of these texts must be WANT. */
static void csv(const char *const *text, size_t n, const char *want)
{
  LpTable t = {.name = "any"};
  LpOut out;
  table_of(&t, text, n);
  lp_out_open(&out, -1);
  lp_csv_table(&out, &t, NULL, &run_plain);
  ck_assert_str_eq(out.buf.s, want);
  lp_out_close(&out);
  lp_table_close(&t);
}

#define CSV(want, ...)                                                         \
  csv((const char *const[]){__VA_ARGS__},                                      \
      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), want)

/* What is not known is empty, in whatever column; numbers are as they are. */
START_TEST(test_places)
{
  CSV("name,bytes,percent\n"
      "a,-5,\n"
      ",9007199254740993,12.5\n"
      "\"\",,\n",
      "a", NULL, "");
}
END_TEST

/* Quotes where they are needed, and UTF-8 everywhere. */
START_TEST(test_quotes)
{
  CSV("name,bytes,percent\n"
      "\"a,b\",-5,\n"
      "\"a\"\"b\"\"\",9007199254740993,12.5\n"
      "\"two\nlines\",,\n"
      "\"a\rb\",,\n"
      "a b;c'd,,\n"
      "\xc3\xa4\xef\xbf\xbd,,\n",
      "a,b", "a\"b\"", "two\nlines", "a\rb", "a b;c'd", "\xc3\xa4\xff");
}
END_TEST

/* What a spreadsheet takes for a formula is marked, and what is marked already
** once more; names of files are not.
*/
START_TEST(test_formulas)
{
  CSV("name,bytes,percent\n"
      "'=1+1,-5,\n"
      "'+1,9007199254740993,12.5\n"
      "'-1,,\n"
      "''=x,,\n"
      "'\tx,,\n"
      "\"@app/a-b_c.lua:3, ~line 5 (f)\",,\n"
      "\"'@SUM(\"\"\",,\n"
      "'@a|b!c,,\n"
      "'@a=b,,\n"
      "'@\xc3\xa4,,\n"
      "a=1+1,,\n",
      "=1+1", "+1", "-1", "'=x", "\tx", "@app/a-b_c.lua:3, ~line 5 (f)",
      "@SUM(\"", "@a|b!c", "@a=b", "@\xc3\xa4", "a=1+1");
}
END_TEST

Suite *suite_csv(void)
{
  const TTest *tests[] = {test_places, test_quotes, test_formulas, NULL};
  return suite_of("csv", tests);
}

/*
** JSON, as it is written: read by jansson, which accepts nothing that is none.
*/

#include <jansson.h>
#include <string.h>

#include "json.h"
#include "run.h"
#include "sample.h"
#include "suites.h"
#include "utf8.h"

/* Read a document. */
static json_t *load(const char *s, size_t n)
{
  json_error_t err;
  json_t *root =
      json_loadb(s, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &err);
  ck_assert_msg(root != NULL, "%d:%d: %s: %.*s", err.line, err.column, err.text,
                (int)n, s);
  ck_assert_ptr_null(memchr(s, '<', n));
  return root;
}

/* -- The writer ----------------------------------------------------------- */

/* What is read of a string that is written must be WANT. */
static void string(const char *s, size_t n, const char *want, size_t nwant)
{
  LpOut out;
  LpJson j;
  json_t *root, *v;
  LpBuf b = {0};
  lp_out_open(&out, -1);
  lp_json_open(&j, &out);
  lp_json_array(&j, NULL);
  lp_json_string(&j, (LpStr){s, n});
  lp_json_end(&j);
  root = load(out.buf.s, out.buf.n);
  v = json_array_get(root, 0);
  ck_assert_uint_eq(json_string_length(v), nwant);
  ck_assert_mem_eq(json_string_value(v), want, nwant);
  lp_utf8_add(&b, s, n); /* Other formats replace the same. */
  ck_assert_uint_eq(b.n, nwant);
  ck_assert_mem_eq(b.n ? b.s : "", want, nwant);
  lp_buf_free(&b);
  json_decref(root);
  lp_out_close(&out);
}

#define STRING(s, want) string(s, sizeof(s) - 1, want, sizeof(want) - 1)
#define BAD             LP_UTF8_BAD

/* All bytes that are characters remain, quotes and the ends of scripts too. */
START_TEST(test_strings)
{
  char s[1];
  int i;
  for (i = 0; i < 0x80; i++) {
    s[0] = (char)i;
    string(s, 1, s, 1);
  }
  STRING("", "");
  STRING("</script><!--\\u003c\"", "</script><!--\\u003c\"");
  STRING("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf",
         "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
  STRING("\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
         "\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
}
END_TEST

/* The rest is replaced: what could have begun a character once, else each byte.
 */
START_TEST(test_bad)
{
  STRING("a\x80z", "a" BAD "z");
  STRING("\xff\xfe", BAD BAD);
  STRING("\xc0\x80\xc1\xbf", BAD BAD BAD BAD);
  STRING("\xe0\x9f\xbf", BAD BAD BAD);
  STRING("\xed\xa0\x80", BAD BAD BAD);
  STRING("\xf0\x8f\xbf\xbf", BAD BAD BAD BAD);
  STRING("\xf4\x90\x80\x80", BAD BAD BAD BAD);
  STRING("\xf5", BAD);
  STRING("\xe2\x82", BAD);
  STRING("\xe2\x82z", BAD "z");
  STRING("\xf0\x9f\x98\xe2\x82\xac", BAD "\xe2\x82\xac");
  STRING("\xc3", BAD);
}
END_TEST

/* Integers are exact, whatever their size. */
START_TEST(test_numbers)
{
  static const uint64_t n[] = {0,
                               1,
                               ((uint64_t)1 << 53) + 1,
                               INT64_MAX,
                               (uint64_t)-1,
                               (uint64_t)INT64_MIN};
  size_t i, count = sizeof(n) / sizeof(n[0]);
  LpOut out;
  LpJson j;
  json_t *root;
  lp_out_open(&out, -1);
  lp_json_open(&j, &out);
  lp_json_array(&j, NULL);
  for (i = 0; i < count; i++)
    lp_json_number(&j, n[i]);
  lp_json_real(&j, 12.5);
  lp_json_null(&j);
  lp_json_end(&j);
  root = load(out.buf.s, out.buf.n);
  ck_assert_uint_eq(json_array_size(root), count + 2);
  for (i = 0; i < count; i++)
    ck_assert_int_eq(json_integer_value(json_array_get(root, i)),
                     (int64_t)n[i]);
  ck_assert(json_real_value(json_array_get(root, count)) == 12.5);
  ck_assert(json_is_null(json_array_get(root, count + 1)));
  json_decref(root);
  lp_out_close(&out);
}
END_TEST

/* Objects and arrays in each other, empty ones too. */
START_TEST(test_nesting)
{
  LpOut out;
  LpJson j;
  json_t *root, *want;
  int i;
  lp_out_open(&out, -1);
  lp_json_open(&j, &out);
  lp_json_object(&j, NULL);
  lp_json_array(&j, "a");
  for (i = 0; i < 2; i++) {
    lp_json_object(&j, NULL);
    lp_json_keynumber(&j, "n", (uint64_t)i);
    lp_json_keytext(&j, "s", i ? "x" : NULL);
    lp_json_end(&j);
  }
  lp_json_array(&j, NULL);
  lp_json_end(&j);
  lp_json_end(&j);
  lp_json_object(&j, "o");
  lp_json_end(&j);
  lp_json_end(&j);
  root = load(out.buf.s, out.buf.n);
  want = json_pack("{s:[{s:i,s:n},{s:i,s:s},[]],s:{}}", "a", "n", 0, "s", "n",
                   1, "s", "x", "o");
  ck_assert(json_equal(root, want));
  json_decref(root);
  json_decref(want);
  lp_out_close(&out);
}
END_TEST

/* -- The document --------------------------------------------------------- */

/* The document of what was read. */
static json_t *document(Run *r)
{
  run_report(r, "json", NULL, &run_plain);
  return load(r->text.s, r->text.n);
}

/* The sum of a column of the tree. */
static uint64_t column(const json_t *root, const char *key)
{
  const json_t *tree = json_object_get(root, "tree");
  const json_t *col = json_object_get(json_object_get(tree, "self"), key);
  uint64_t sum = 0;
  size_t i;
  for (i = 0; i < json_array_size(col); i++)
    sum += (uint64_t)json_integer_value(json_array_get(col, i));
  return sum;
}

/* A total of the summary. */
static uint64_t total(const json_t *root, const char *key, const char *side)
{
  json_t *s = json_object_get(root, "summary");
  s = json_object_get(json_object_get(s, "totals"), key);
  return (uint64_t)json_integer_value(json_object_get(s, side));
}

/* The document has all that the stream has, whole or not. */
START_TEST(test_memory)
{
  static Sample s;
  Run r;
  json_t *root;
  sample_stacks(&s, 0);
  r = run_craft(&s.c);
  root = document(&r);
  ck_assert_uint_eq(column(root, "bytes"), r.st.sums.in);
  ck_assert_uint_eq(column(root, "freed"), r.st.sums.out);
  ck_assert_uint_eq(column(root, "allocations"),
                    r.st.sums.allocs + r.st.sums.reallocs);
  ck_assert_uint_eq(column(root, "live"),
                    r.st.base + r.st.sums.in - r.st.sums.out);
  ck_assert_uint_eq(total(root, "bytes", "now"), r.st.sums.in);
  json_decref(root);
  run_close(&r);
  r = run_memory(s.c.out.s, s.at[2]);
  ck_assert_int_eq(r.status, LP_PART);
  root = document(&r);
  ck_assert_uint_eq(column(root, "bytes"), r.st.sums.in);
  ck_assert_uint_eq(json_array_size(json_object_get(
                        json_object_get(root, "summary"), "damage")),
                    1);
  json_decref(root);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* Whatever makes a document less than all is told in it, and nothing else. */
START_TEST(test_options)
{
  static const LpReportOptions all = {.metric = LP_METRIC_BYTES,
                                      .focus = "a\"b",
                                      .ignore = "<c",
                                      .sort = "self",
                                      .top = 3,
                                      .min = 0.5,
                                      .least = 4096};
  static const char *const view[] = {NULL, "lines"};
  static Sample s;
  json_t *want =
      json_pack("{s:s,s:s,s:i,s:i,s:i,s:f,s:i,s:s,s:i,s:i,s:f}", "focus",
                "a\"b", "ignore", "<c", "from_ns", 1, "to_ns", 2000000000,
                "temporary", 7, "ignore_youngest", 1.5, "snapshot_ns", 5,
                "sort", "self", "top", 3, "min", 4096, "min_percent", 0.5);
  int i;
  sample_stacks(&s, 0);
  for (i = 0; i < 2; i++) {
    Run r = run_craft(&s.c);
    json_t *root;
    run_report(&r, "json", view[i], &run_plain);
    root = load(r.text.s, r.text.n);
    ck_assert_uint_eq(json_object_size(json_object_get(root, "options")), 0);
    ck_assert(json_is_object(json_object_get(root, "options")));
    json_decref(root);
    r.prof->wanted = (LpWanted){
        .temporary = 7, .young = 1.5, .from = 1, .to = 2000000000, .snap = 5};
    run_report(&r, "json", view[i], &all);
    root = load(r.text.s, r.text.n);
    ck_assert(json_equal(json_object_get(root, "options"), want));
    json_decref(root);
    run_close(&r);
  }
  json_decref(want);
  craft_close(&s.c);
}
END_TEST

/* A profile that is compared with itself has all numbers twice. */
START_TEST(test_base)
{
  static Sample s;
  LpInput in;
  Run r;
  json_t *root;
  const json_t *tree;
  sample_stacks(&s, 0);
  r = run_craft(&s.c);
  lp_profile_set_baseline(r.prof);
  lp_input_memory(&in, s.c.out.s, s.c.out.n);
  run_add(&r, &in);
  root = document(&r);
  tree = json_object_get(root, "tree");
  ck_assert(
      json_equal(json_object_get(tree, "self"), json_object_get(tree, "base")));
  ck_assert_uint_eq(total(root, "live", "now"), total(root, "live", "base"));
  ck_assert_uint_eq(total(root, "bytes", "base"), r.st.sums.in);
  json_decref(root);
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* More damage than is kept is counted. */
START_TEST(test_damage)
{
  Run r = {.prof = run_profile()};
  LpDamage d = {.kind = LP_GAP, .offset = 7, .what = "\"<>\xff"};
  LpSink sink = lp_stream_open(&r.st, r.prof);
  json_t *root;
  const json_t *summary, *damage;
  int i;
  lp_files_add(&r.prof->files, "one");
  for (i = 0; i < LP_FILES_HARM + 5; i++)
    sink.damage(sink.ctx, &d);
  lp_stream_close(&r.st, 0);
  root = document(&r);
  summary = json_object_get(root, "summary");
  damage = json_object_get(summary, "damage");
  ck_assert_uint_eq(json_array_size(damage), LP_FILES_HARM);
  ck_assert_int_eq(json_integer_value(json_object_get(summary, "more_damage")),
                   5);
  damage = json_array_get(damage, 3);
  ck_assert_str_eq(json_string_value(json_object_get(damage, "file")), "one");
  ck_assert_str_eq(json_string_value(json_object_get(damage, "what")),
                   "\"<>" BAD);
  json_decref(root);
  run_close(&r);
}
END_TEST

Suite *suite_json(void)
{
  const TTest *tests[] = {test_strings, test_bad,    test_numbers,
                          test_nesting, test_memory, test_options,
                          test_base,    test_damage, NULL};
  return suite_of("json", tests);
}

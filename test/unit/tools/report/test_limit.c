/*
** Limits, and amounts as people write them.
*/

#include <stdlib.h>

#include "amount.h"
#include "limit.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* S is N, or no amount. */
static void amount(const char *s, int64_t n)
{
  uint64_t got = 0;
  ck_assert_msg(lp_amount_parse(s, &got) == (n >= 0), "%s", s);
  if (n >= 0)
    ck_assert_uint_eq(got, (uint64_t)n);
}

START_TEST(test_amount)
{
  static const char *const bad[] = {"",     "x",   "-1",     "+1",    "1x",
                                    "1.5",  "1 K", "0x10",   "nan",   "1e400",
                                    "1TB",  "1kb", "9e18KB", "1e",    "K",
                                    "1e-1", ".",   "inf",    "1KiBB", " 1"};
  size_t i;
  amount("0", 0);
  amount("4096", 4096);
  amount("7B", 7);
  amount("64K", 65536);
  amount("64k", 65536);
  amount("64KiB", 65536);
  amount("64kB", 64000);
  amount("64KB", 64000);
  amount("10MB", 10000000);
  amount("10M", 10485760);
  amount("10MiB", 10485760);
  amount("1.5GiB", 1610612736);
  amount("2G", 2147483648);
  amount("2GB", 2000000000);
  amount("1e5", 100000);
  amount("4611686018427387904", (int64_t)1 << 62);
  for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    amount(bad[i], -1);
}
END_TEST

/* TEXT is no limit, and that is why. */
static void bad(const char *text, const char *want)
{
  LpLimit l;
  LpBuf why = {0};
  ck_assert(!lp_limit_parse(&l, text, &why));
  ck_assert_str_eq(why.s, want);
  lp_buf_free(&why);
  free(l.glob);
}

START_TEST(test_bad)
{
  bad("", "expected METRIC<=NUMBER or METRIC@GLOB<=NUMBER");
  bad("live>1", "expected METRIC<=NUMBER or METRIC@GLOB<=NUMBER");
  bad("live<", "expected a NUMBER such as 4096, 10MB or 1.5GiB, not ");
  bad("live<=", "expected a NUMBER such as 4096, 10MB or 1.5GiB, not ");
  bad("live<==1", "expected a NUMBER such as 4096, 10MB or 1.5GiB, not =1");
  bad("live<=1TB", "expected a NUMBER such as 4096, 10MB or 1.5GiB, not 1TB");
  bad("<1", "there is no METRIC ");
  bad("lives@a<b<1", "there is no METRIC lives; did you mean live?");
  bad("@a<1", "there is no METRIC ");
  bad("shared<=1", "expected shared@PATH: what objects keep with others");
}
END_TEST

/* What is said of a limit, and whether it holds. */
static void told(const Run *r, const char *text, int want, const char *what)
{
  LpLimit l;
  LpBuf why = {0};
  int holds;
  ck_assert_msg(lp_limit_parse(&l, text, &why), "%s", why.s);
  holds = lp_limit_holds(&l, r->prof, &why);
  ck_assert_int_eq(holds, want);
  ck_assert_str_eq(why.n ? why.s : "", what);
  lp_buf_free(&why);
  free(l.glob);
}

/* What is said of a limit; nothing, if it holds. */
static void limit(const Run *r, const char *text, const char *want)
{
  told(r, text, !*want, want);
}

/* 8052 bytes are live, of which 160 are in app.lua:10. */
START_TEST(test_whole)
{
  Sample s;
  Run r;
  sample_stacks(&s, 0);
  r = run_craft(&s.c);
  limit(&r, "live<=8052", "");
  limit(&r, "live<8053", "");
  limit(&r, "live<8052",
        "limit live<8052 exceeded: 8052 bytes, 1 too many: (before start) has "
        "4700; INTERNAL has 3048; @app.lua:10, line 14 (f) has 160");
  limit(&r, "live<=8kB",
        "limit live<=8kB exceeded: 8052 bytes, 52 too many: (before start) has "
        "4700; INTERNAL has 3048; @app.lua:10, line 14 (f) has 160");
  limit(&r, "live@app.lua<=288", "");
  limit(&r, "live@app.lua<288",
        "limit live@app.lua<288 exceeded: 288 bytes, 1 too many: "
        "@app.lua:10, line 14 (f) has 160; @app.lua:0, line 3 has 128");
  limit(&r, "live@@app.lua:10,*<=159",
        "limit live@@app.lua:10,*<=159 exceeded: 160 bytes, 1 too many: "
        "@app.lua:10, line 14 (f) has 160");
  limit(&r, "allocations@INTERNAL<=1",
        "limit allocations@INTERNAL<=1 exceeded: 2 allocations, 1 too many: "
        "INTERNAL has 2");
  limit(&r, "allocations@*(f)<=5",
        "limit allocations@*(f)<=5 exceeded: 6 allocations, 1 too many: "
        "@app.lua:10, line 14 (f) has 6");
  limit(&r, "live-objects@a?p.*<=4", "");
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* A name that nothing has would keep every limit. Only if there must be nothing
** of it that is well, and even then it is told. What is there, if only as a
** caller or with nothing left, is something.
*/
START_TEST(test_nothing)
{
  Sample s;
  Run r;
  sample_stacks(&s, 0);
  r = run_craft(&s.c);
  told(&r, "live@app<=0", 1,
       "limit live@app<=0 is of nothing: no chunk, module or site is like app");
  told(&r, "live@<=0", 1,
       "limit live@<=0 is of nothing: no chunk, module or site is like ");
  told(&r, "live@ap*.luo<=10MB", 0,
       "limit live@ap*.luo<=10MB is of nothing: no chunk, module or site is "
       "like ap*.luo");
  told(&r, "live@app<1", 0,
       "limit live@app<1 is of nothing: no chunk, module or site is like app");
  limit(&r, "freed@*line 3<=0", "");
  limit(&r, "live@(cut)<=1", "");
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* A module, and what is in another directory. */
START_TEST(test_modules)
{
  Sample s;
  Run r;
  sample_open(&s);
  r = run_craft(&s.c);
  limit(&r, "bytes@*/cjson.so<=191",
        "limit bytes@*/cjson.so<=191 exceeded: 192 bytes, 1 too many: "
        "[C] lua_cjson_new (cjson.so) has 192");
  limit(&r, "bytes@/usr/*.so<=191",
        "limit bytes@/usr/*.so<=191 exceeded: 192 bytes, 1 too many: "
        "[C] lua_cjson_new (cjson.so) has 192");
  told(&r, "bytes@cjson.so<=0", 1,
       "limit bytes@cjson.so<=0 is of nothing: no chunk, module or site is "
       "like cjson.so");
  limit(&r, "bytes@*.so<=224", "");
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

/* What is not exact says so. */
START_TEST(test_doubt)
{
  Sample s;
  Run r;
  sample_stacks(&s, 100);
  r = run_craft(&s.c);
  lp_profile_guess(r.prof, "for a reason");
  limit(&r, "allocations@INTERNAL<1",
        "limit allocations@INTERNAL<1 exceeded: 2 allocations, 2 too many "
        "(estimated from samples): INTERNAL has 2");
  limit(&r, "live@INTERNAL<1",
        "limit live@INTERNAL<1 exceeded: 3048 bytes, 3048 too many (estimated "
        "from samples) (approximate: for a reason) (without what is older than "
        "the recording): INTERNAL has 3048");
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

START_TEST(test_cpu)
{
  Sample s;
  Run r;
  sample_cpu(&s);
  r = run_craft(&s.c);
  limit(&r, "samples<=100", "");
  limit(&r, "samples@*libc*<3",
        "limit samples@*libc*<3 exceeded: 3 samples, 1 too many: "
        "malloc (libc.so.6) has 3");
  run_close(&r);
  craft_close(&s.c);
}
END_TEST

Suite *suite_limit(void)
{
  const TTest *tests[] = {test_amount,  test_bad,   test_whole, test_nothing,
                          test_modules, test_doubt, test_cpu,   NULL};
  return suite_of("limit", tests);
}

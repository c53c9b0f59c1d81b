/*
** Memory and CPU in one report.
*/

#include <string.h>

#include "run.h"
#include "suites.h"
#include "summary.h"

#define SECOND  1000000000ull
#define BOOTED  (1700000000 * SECOND) /* When the machine was. */
#define HOST    10                    /* Ids of sites: native code, */
#define MAIN    11                    /* Lua, */
#define WORK    12
#define WORKING 13 /* the same line, approximate, */
#define GC      14 /* the collector, */
#define SWEEP   15 /* and what it calls, */
#define FREE    16
#define OTHER   17 /* other native code. */

/* A memory profile that begins at AT, and takes two seconds. */
static void memory(Craft *c, uint64_t at)
{
  craft_open(c, 1);
  c->stack = 16;
  c->realtime = at ? BOOTED + at : 0;
  c->monotonic = at;
  craft_time(c, 0);
  craft_meta(c, 1000);
  craft_proto(c, 1, 0, 77, 0, "@app.lua", "");
  craft_proto(c, 2, 0, 78, 10, "@app.lua", "");
  craft_site(c, MAIN, 0, 1, 3);
  craft_site(c, WORK, 0, 2, 14);
  craft_change(c, 0, MAIN);
  craft_alloc(c, WORK, 0x1000, 640);
  craft_alloc(c, WORK, 0x2000, 360);
  craft_time(c, SECOND);
  craft_free(c, 0, 0x1000, 640);
  craft_time(c, 2 * SECOND);
  craft_totals(c, 0, 0);
  craft_flush(c);
}

/* Names of the four functions of the VM in the next CPU profile, and a number
** of samples for which it is not known what is collection: -1, if the books do
** not say it.
*/
static const char *vm_names[] = {"lj_gc_step", "gc_sweep", "lj_alloc_free",
                                 "lj_str_new"};
static int vm_blind = -1;

/* A CPU profile that begins at AT, and takes four seconds. */
static void cpu(Craft *c, uint64_t at)
{
  const CraftBook books[] = {{"fired", 15},
                             {"delivered", 15},
                             {"dropped", 0},
                             {"vm_blind", (uint64_t)vm_blind}};
  craft_open_cpu(c);
  c->realtime = at ? BOOTED + at + 1000 : 0;
  c->monotonic = at;
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_module(c, 1, "", "/usr/bin/luajit");
  craft_native(c, 1, 0, 1, 0x1000, "main");
  craft_proto(c, 2, 0, 77, 0, "@app.lua", "");
  craft_proto(c, 3, 0, 78, 10, "@app.lua", "work");
  craft_native(c, 4, 0, 1, 0x2000, vm_names[0]);
  craft_native(c, 5, 0, 1, 0x3000, vm_names[1]);
  craft_native(c, 6, 0, 1, 0x4000, vm_names[2]);
  craft_native(c, 7, 0, 1, 0x5000, vm_names[3]);
  craft_site(c, HOST, 0, 1, 0);
  craft_site(c, MAIN, 0, 2, 3);
  craft_site(c, WORK, 0, 3, 14);
  craft_site(c, WORKING, LJM_SITE_APPROX, 3, 14);
  craft_site(c, GC, 0, 4, 0);
  craft_site(c, SWEEP, 0, 5, 0);
  craft_site(c, FREE, 0, 6, 0);
  craft_site(c, OTHER, 0, 7, 0);
  craft_time(c, 2 * SECOND);
  craft_change(c, 0, HOST, MAIN, WORKING);
  craft_sample(c, 0, 0, 8);
  craft_change(c, 0, GC, SWEEP, FREE);
  craft_sample(c, 0, 0, 4);
  craft_time(c, 4 * SECOND);
  craft_change(c, 3, OTHER);
  craft_sample(c, 0, 0, 2);
  craft_change(c, 2);
  craft_sample(c, 0, 0, 1);
  craft_books(c, books, vm_blind < 0 ? 3 : 4);
  craft_flush(c);
}

/* Both, in one order or the other. */
static Run joint(uint64_t memory_at, uint64_t cpu_at, int cpufirst)
{
  Craft m, p;
  Craft *first = cpufirst ? &p : &m, *second = cpufirst ? &m : &p;
  Run r = {.prof = run_profile()};
  LpInput in;
  memory(&m, memory_at);
  cpu(&p, cpu_at);
  r.prof->wanted.what = LP_WANT_TIME | LP_WANT_PEAK;
  lp_input_memory(&in, first->out.s, first->out.n);
  run_add(&r, &in);
  ck_assert_int_eq(r.status, LP_WHOLE);
  lp_input_memory(&in, second->out.s, second->out.n);
  run_add(&r, &in);
  ck_assert_int_eq(r.status, LP_WHOLE);
  craft_close(&m);
  craft_close(&p);
  return r;
}

/* A line is one row, and has what both tell of it, whichever was read first. */
START_TEST(test_rows)
{
  static const char want[] =
      "           8  53.3%           14  93.3%            2             1000  "
      "       360           1000          4  @app.lua:10, ";
  Run r = joint(5 * SECOND, 5 * SECOND, _i);
  const char *text = run_report(&r, "text", "lines", &run_plain);
  ck_assert_ptr_nonnull(strstr(text, want));
  ck_assert_ptr_null(strstr(strstr(text, "line 14") + 1, "line 14"));
  ck_assert_ptr_nonnull(
      strstr(text, "           1   6.7%           15 100.0%"));
  ck_assert_ptr_nonnull(strstr(text, " lj_str_new (luajit)\n"));
  ck_assert_ptr_nonnull(strstr(
      text, "One time line: memory from 0.000 s to 2.000 s, CPU from 0.000 s"));
  run_close(&r);
}
END_TEST

/* -- Functions that both know --------------------------------------------- */

#define NAMED  20 /* Ids of sites: a C function with a name in Lua, */
#define SYMBOL 21 /* one with a symbol, */
#define REP    22 /* a builtin, */
#define FIRST  23 /* and two functions of stripped code. */
#define SECND  24

/* What a recorder writes of them: each has allocated once. */
static void functions_memory(Craft *c)
{
  const unsigned bare = LJM_PROTO_STRIPPED | LJM_PROTO_BYHASH;
  craft_open(c, 1);
  craft_time(c, 0);
  craft_meta(c, 0);
  craft_cnamed(c, 1, 0x2950, "/lib/lfs.so.0.0.0", "lfs.attributes", "");
  craft_cfunc(c, 2, 0x3000, "/lib/c.so", "c_open");
  craft_cflags(c, 3, LJM_CFUNC_BUILTIN, 0x4000, "/bin/luajit", "string.rep");
  craft_proto(c, 4, bare, 0x1234, 0, "@strip.bc", "");
  craft_proto(c, 5, bare, 0xfedcba98, 0, "@strip.bc", "");
  craft_site(c, NAMED, 0, 1, 0);
  craft_site(c, SYMBOL, 0, 2, 0);
  craft_site(c, REP, 0, 3, 0);
  craft_site(c, FIRST, 0, 4, 0);
  craft_site(c, SECND, 0, 5, 0);
  craft_alloc(c, NAMED, 0x1000, 10);
  craft_alloc(c, SYMBOL, 0x2000, 20);
  craft_alloc(c, REP, 0x3000, 30);
  craft_alloc(c, FIRST, 0x4000, 40);
  craft_alloc(c, SECND, 0x5000, 50);
  craft_totals(c, 0, 0);
  craft_flush(c);
}

/* What the sampler writes: each was met alone, 1 to 5 times. */
static void functions_cpu(Craft *c)
{
  static const CraftBook books[] = {
      {"fired", 15}, {"delivered", 15}, {"dropped", 0}};
  const unsigned bare = LJM_PROTO_STRIPPED | LJM_PROTO_BYHASH;
  unsigned i;
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_module(c, 1, "", "/lib/c.so");
  craft_cnamed(c, 1, 0x2950, "/lib/lfs.so.0.0.0", "lfs.attributes", "");
  craft_native(c, 2, 0, 1, 0x3000, "c_open");
  craft_named(c, 3, LJM_CFUNC_BUILTIN, "string.rep");
  craft_proto(c, 4, bare, 0x1234, 0, "@strip.bc", "");
  craft_proto(c, 5, bare, 0xfedcba98, 0, "@strip.bc", "");
  for (i = 0; i < 5; i++)
    craft_site(c, NAMED + i, 0, i + 1, 0);
  craft_time(c, SECOND);
  for (i = 0; i < 5; i++) {
    craft_change(c, i > 0, NAMED + i);
    craft_sample(c, 0, 0, i + 1);
  }
  craft_books(c, books, 3);
  craft_flush(c);
}

/* Each is one row, by the name that says most, whichever was read first. */
START_TEST(test_functions)
{
  static const char *const want[] = {
      "   1   6.7%  ", " 10  ", "  lfs.attributes\n",
      "   2  13.3%  ", " 20  ", "  [C] c_open (c.so)\n",
      "   3  20.0%  ", " 30  ", "  string.rep\n",
      "   4  26.7%  ", " 40  ", "  @strip.bc:0#00001234\n",
      "   5  33.3%  ", " 50  ", "  @strip.bc:0#fedcba98\n",
  };
  Run r = {.prof = run_profile()};
  Craft c[2];
  LpInput in;
  const char *text;
  unsigned i;
  functions_memory(&c[_i]);
  functions_cpu(&c[1 - _i]);
  for (i = 0; i < 2; i++) {
    lp_input_memory(&in, c[i].out.s, c[i].out.n);
    run_add(&r, &in);
    ck_assert_int_eq(r.status, LP_WHOLE);
  }
  text = run_report(&r, "text", "functions", &run_plain);
  for (i = 0; i < sizeof(want) / sizeof(want[0]); i += 3) {
    const char *end = strstr(text, want[i + 2]), *line = end;
    ck_assert_msg(end != NULL, "no%s in\n%s", want[i + 2], text);
    while (line > text && line[-1] != '\n')
      line--;
    ck_assert_msg(memmem(line, (size_t)(end - line), want[i], strlen(want[i])),
                  "%s has not its samples:\n%s", want[i + 2], text);
    ck_assert_msg(memmem(line, (size_t)(end - line) + 2, want[i + 1],
                         strlen(want[i + 1])),
                  "%s has not its bytes:\n%s", want[i + 2], text);
    ck_assert_ptr_null(strstr(end + 1, want[i + 2]));
  }
  text = run_report(&r, "folded", NULL, &run_plain);
  ck_assert_ptr_nonnull(strstr(text, "@strip.bc:?#00001234 4\n"));
  ck_assert_ptr_nonnull(strstr(text, "@strip.bc:?#fedcba98 5\n"));
  ck_assert_ptr_nonnull(strstr(text, "lfs.attributes 1\n"));
  run_close(&r);
  craft_close(&c[0]);
  craft_close(&c[1]);
}
END_TEST

/* Samples in Lua, 2, and outside of it, 3. */
static void outside(Craft *c, uint64_t at)
{
  const CraftBook books[] = {{"fired", 5}, {"delivered", 5}, {"dropped", 0}};
  craft_open_cpu(c);
  c->realtime = BOOTED + at;
  c->monotonic = at;
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_module(c, 1, "", "/usr/bin/luajit");
  craft_native(c, 1, 0, 1, 0x1000, "main");
  craft_proto(c, 2, 0, 77, 0, "@app.lua", "");
  craft_site(c, HOST, 0, 1, 0);
  craft_site(c, MAIN, 0, 2, 3);
  craft_time(c, SECOND);
  craft_change(c, 0, HOST);
  craft_sample(c, 0, 0, 3);
  craft_change(c, 1, MAIN);
  craft_sample(c, 0, 0, 2);
  craft_books(c, books, 3);
  craft_flush(c);
}

/* CPU time outside of Lua is no row of a summary, which states all of it. */
START_TEST(test_summary)
{
  Craft m, p;
  Run r = {.prof = run_profile()};
  LpSummaryLine row[16];
  LpSummary s;
  LpInput in;
  size_t n, i, cpu = 0;
  memory(&m, 100 * SECOND);
  outside(&p, 100 * SECOND);
  lp_input_memory(&in, m.out.s, m.out.n);
  run_add(&r, &in);
  lp_input_memory(&in, p.out.s, p.out.n);
  run_add(&r, &in);
  lp_summary_open(&s, r.prof, NULL);
  ck_assert_uint_eq(s.outside, 3);
  n = lp_summary_rows(&s, row, 16);
  ck_assert_uint_gt(n, 0);
  for (i = 0; i < n; i++) {
    int lua = lp_summary_lua(r.prof, row[i].site);
    ck_assert(lua || row[i].n[LP_NOW][LP_SUMMARY_BYTES]);
    cpu += row[i].n[LP_NOW][LP_SUMMARY_SAMPLES] > 0;
  }
  ck_assert_uint_eq(cpu, 1);
  lp_summary_close(&s);
  run_close(&r);
  craft_close(&m);
  craft_close(&p);
}
END_TEST

/* Callers are Lua functions only; native code is inside of the innermost. */
START_TEST(test_tree)
{
  Run r = joint(5 * SECOND, 5 * SECOND, _i);
  ck_assert_str_eq(run_report(&r, "folded", NULL, &run_plain),
                   "@app.lua:3 1\n"
                   "@app.lua:3;work@app.lua:14 8\n"
                   "@app.lua:3;work@app.lua:14;lj_gc_step (luajit);"
                   "gc_sweep (luajit);lj_alloc_free (luajit) 4\n"
                   "@app.lua:3;work@app.lua:14;lj_str_new (luajit) 2\n");
  run_close(&r);
}
END_TEST

/* The time line begins with the first; what is not recorded yet is not live. */
START_TEST(test_time)
{
  Run r = joint(6 * SECOND, 5 * SECOND, _i);
  const LpTimeSeries *c = &r.prof->timeseries;
  uint64_t samples = 0;
  size_t i;
  ck_assert_uint_eq(r.prof->ns, 4 * SECOND);
  ck_assert_uint_eq(r.prof->peak_ns, SECOND);
  for (i = 0; i < c->n; i++) {
    uint64_t to = (i + 1) * c->width;
    int64_t live = (int64_t)(c->step[i].live >> 32);
    samples += c->step[i].samples;
    if (to <= SECOND)
      ck_assert_int_eq(live, 0);
    else if (to <= 2 * SECOND)
      ck_assert_int_eq(live, 2000);
    else if (to > 2 * SECOND + c->width)
      ck_assert_int_eq(live, 1360);
    if (to == 2 * SECOND)
      ck_assert_uint_eq(samples, 12); /* As evenly as can be. */
  }
  ck_assert_uint_eq(samples, 15);
  run_close(&r);
}
END_TEST

/* Steps have their share of samples, also where turns of the sampler meet. */
START_TEST(test_even)
{
  LpTimeSeries c = {0};
  size_t i;
  lp_timeseries_spread(&c, 0, 494000000, 494);
  lp_timeseries_spread(&c, 494000000, 1000000000, 506);
  ck_assert_uint_eq(c.n, 100);
  for (i = 0; i < c.n; i++) {
    ck_assert_uint_ge(c.step[i].samples, 9);
    ck_assert_uint_le(c.step[i].samples, 11);
  }
  lp_timeseries_free(&c);
}
END_TEST

/* Pages draw both on one time line only if there is one. */
START_TEST(test_timeline)
{
  Run r = joint(6 * SECOND, 5 * SECOND, _i);
  ck_assert_ptr_nonnull(
      strstr(run_report(&r, "json", NULL, &run_plain),
             "\"timeline\":{\"memory\":{\"from_ns\":1000000000,\"to_ns\":"
             "3000000000},\"cpu\":{\"from_ns\":0,\"to_ns\":4000000000}}"));
  run_close(&r);
  r = joint(50 * SECOND, 5 * SECOND, _i);
  ck_assert_ptr_nonnull(
      strstr(run_report(&r, "json", NULL, &run_plain), "\"timeline\":null"));
  run_close(&r);
}
END_TEST

/* Clocks of two machines, or none, cannot be compared. */
START_TEST(test_apart)
{
  Run r = joint(0, 5 * SECOND, _i);
  const char *text = run_report(&r, "text", NULL, &run_plain);
  ck_assert_ptr_nonnull(
      strstr(text, "recorded at the same time is not known\n"));
  ck_assert_uint_eq(r.prof->ns, 4 * SECOND);
  run_close(&r);
  r = joint(50 * SECOND, 5 * SECOND, _i); /* Of one machine, much later. */
  text = run_report(&r, "text", NULL, &run_plain);
  ck_assert_ptr_nonnull(strstr(text, "different times\n"));
  ck_assert_uint_eq(r.prof->ns, 47 * SECOND);
  run_close(&r);
}
END_TEST

/* A recording that is cut before its first time mark took no time. */
START_TEST(test_cut)
{
  Run r = joint(5 * SECOND, 5 * SECOND, _i);
  r.prof->timeline.span[_i].to = r.prof->timeline.span[_i].from;
  ck_assert_ptr_nonnull(strstr(run_report(&r, "text", NULL, &run_plain),
                               "recorded at the same time is not known\n"));
  run_close(&r);
}
END_TEST

/* The row of the line that collects must have VALUE as alloc, GC: in text, CSV
** and the totals of JSON.
*/
static void check_allocgc(const char *const text[3])
{
  static const char *const format[] = {"text", "csv", "json"};
  size_t i;
  for (i = 0; i < 3; i++) {
    Run r = joint(5 * SECOND, 5 * SECOND, 0);
    const char *out = run_report(&r, format[i], NULL, &run_plain);
    ck_assert_msg(strstr(out, text[i]) != NULL, "no \"%s\" in %s", text[i],
                  format[i]);
    run_close(&r);
  }
}

/* What the sampler inferred counts as names do. What is not known is no 0. */
START_TEST(test_allocgc)
{
  static const char *const known[] = {
      "           1000          4  @app.lua:10 (work)", ",1000,4,",
      "\"alloc-gc\":{\"now\":4"};
  static const char *const unknown[] = {
      "           1000          ?  @app.lua:10 (work)", ",1000,,",
      "\"alloc-gc\":null"};
  static const char *const inferred[] = {"(collector)", "(collector)",
                                         "(allocator)", "(string table)"};
  check_allocgc(known);
  memcpy(vm_names, inferred, sizeof(vm_names));
  check_allocgc(known);
  vm_blind = 0;
  check_allocgc(known);
  vm_blind = 6;
  check_allocgc(unknown);
  vm_names[0] = vm_names[1] = vm_names[2] = vm_names[3] = "other";
  vm_blind = -1;
  check_allocgc(
      (const char *const[]){"           1000          0  @app.lua:10 (work)",
                            ",1000,0,", "\"alloc-gc\":{\"now\":0"});
  vm_names[0] = "";
  check_allocgc(unknown);
}
END_TEST

Suite *suite_joint(void)
{
  Suite *s = suite_create("joint");
  TCase *tc = tcase_create("joint");
  tcase_add_loop_test(tc, test_rows, 0, 2);
  tcase_add_loop_test(tc, test_functions, 0, 2);
  tcase_add_test(tc, test_summary);
  tcase_add_loop_test(tc, test_tree, 0, 2);
  tcase_add_loop_test(tc, test_time, 0, 2);
  tcase_add_test(tc, test_even);
  tcase_add_loop_test(tc, test_timeline, 0, 2);
  tcase_add_loop_test(tc, test_apart, 0, 2);
  tcase_add_loop_test(tc, test_cut, 0, 2);
  tcase_add_test(tc, test_allocgc);
  suite_add_tcase(s, tc);
  return s;
}

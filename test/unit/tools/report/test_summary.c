/*
** Summaries: facts, compared with what the events add up to here; sentences,
** to the character.
*/

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "reader.h"
#include "run.h"
#include "sample.h"
#include "suites.h"
#include "summary.h"

#define HEAP 0x7f0000000010u

/* Sites of the streams here, all in @app.lua but for the VM's own. */
enum { LEAK = 2, WASTE, START, PHASE, NSITE };

/* What the events add up to. */
typedef struct Model {
  uint64_t bytes[NSITE], live[NSITE], quarter[NSITE][3];
  uint64_t site[4000], size[4000]; /* Of live objects, by birth. */
  uint64_t born, events;
} Model;

static void model_alloc(Model *m, Craft *c, uint64_t site, uint64_t size)
{
  craft_alloc(c, site, HEAP + m->born * 4096, size);
  m->site[m->born] = site;
  m->size[m->born++] = size;
  m->bytes[site] += size;
  m->events++;
}

static void model_free(Model *m, Craft *c, uint64_t birth)
{
  craft_free(c, LJM_SITE_INTERNAL, HEAP + birth * 4096, m->size[birth]);
  m->size[birth] = 0;
  m->events++;
}

/* Live objects by the quarter that each was born in, from 0 on. */
static void model_end(Model *m)
{
  uint64_t i;
  for (i = 0; i < m->born; i++) {
    m->live[m->site[i]] += m->size[i];
    if (i * 4 / m->born < 3)
      m->quarter[m->site[i]][i * 4 / m->born] += m->size[i];
  }
}

/* A line that leaks, one whose objects all go but the last ones, one that made
** a cache at the start, one that fills it again in the third quarter.
*/
static void model_run(Model *m, Craft *c)
{
  uint64_t i;
  memset(m, 0, sizeof(*m));
  craft_open(c, 0x7f1234567890);
  c->stack = 1;
  craft_time(c, 0);
  craft_meta(c, 10000);
  craft_proto(c, 1, 0, 1, 10, "@app.lua", "search");
  craft_proto(c, 2, 0, 2, 30, "@app.lua", "");
  craft_site(c, LEAK, 0, 1, 20);
  craft_site(c, WASTE, 0, 1, 21);
  craft_site(c, START, 0, 2, 31);
  craft_site(c, PHASE, LJM_SITE_APPROX, 2, 32);
  for (i = 0; i < 1000; i++) {
    uint64_t waste = m->born;
    if (i == 500)
      craft_time(c, 700000000);
    model_alloc(m, c, WASTE, 3000);
    if (i < 900)
      model_free(m, c, waste);
    if (i % 10 == 0)
      model_alloc(m, c, LEAK, 400 + i % 7);
    if (i < 20)
      model_alloc(m, c, START, 1000);
    if (i >= 600 && i < 612) /* So that four quarters are equally long. */
      model_alloc(m, c, PHASE, 500);
  }
  craft_time(c, 1500000000);
  craft_totals(c, 0, 0);
  craft_flush(c);
  model_end(m);
}

/* Read a stream, with what summaries want. */
static Run summarize(Craft *c)
{
  Run r = {.prof = lp_profile_new()};
  LpInput in;
  r.prof->wanted.what = LP_WANT_AGES;
  lp_input_memory(&in, c->out.s, c->out.n);
  run_add(&r, &in);
  return r;
}

/* The line of @app.lua with a number. */
static const LpSummaryLine *line_of(const LpSummary *s, uint64_t line)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    if (s->prof->row[s->line[i].site].line == line &&
        s->line[i].site >= LP_SITE_FIRST)
      return &s->line[i];
  return NULL;
}

/* The same as the model has. */
static void compare(const LpSummary *s, const Model *m, int site, uint64_t line)
{
  const LpSummaryLine *l = line_of(s, line);
  int i;
  ck_assert_ptr_nonnull(l);
  ck_assert_uint_eq(l->n[LP_NOW][LP_SUMMARY_BYTES], m->bytes[site]);
  ck_assert_uint_eq(l->n[LP_NOW][LP_SUMMARY_LIVE], m->live[site]);
  for (i = 0; i < 3; i++)
    ck_assert_uint_eq(l->quarter[i], m->quarter[site][i]);
}

START_TEST(test_facts)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  LpSummary s;
  Run r;
  LpSummaryLeak leak;
  model_run(m, &c);
  r = summarize(&c);
  ck_assert_int_eq(r.status, LP_WHOLE);
  lp_summary_open(&s, r.prof, NULL);
  ck_assert_uint_eq(s.events, m->events);
  ck_assert_uint_eq(s.approx, m->bytes[PHASE]);
  ck_assert_uint_eq(s.n, 4);
  compare(&s, m, LEAK, 20);
  compare(&s, m, WASTE, 21);
  compare(&s, m, START, 31);
  compare(&s, m, PHASE, 32);
  leak = lp_summary_leak(&s);
  ck_assert_uint_eq(leak.site, line_of(&s, 20)->site);
  ck_assert_uint_eq(leak.lines, 1);
  ck_assert_uint_eq(leak.bytes, m->quarter[LEAK][0] + m->quarter[LEAK][1] +
                                    m->quarter[LEAK][2]);
  ck_assert_int_eq(leak.growth, LP_GROWTH_STEADY);
  lp_summary_close(&s);
  run_close(&r);
  craft_close(&c);
  free(m);
}
END_TEST

/* How the leaked bytes of what matches FOCUS came. */
static LpSummaryGrowth growth(const Run *r, const char *focus, uint32_t lines)
{
  LpSummaryLeak leak;
  LpSummary s;
  LpShape shape;
  regex_t re;
  ck_assert_int_eq(regcomp(&re, focus, REG_EXTENDED | REG_NOSUB), 0);
  lp_shape_open(&shape, r->prof, &re, NULL);
  lp_summary_open(&s, r->prof, &shape);
  leak = lp_summary_leak(&s);
  ck_assert_uint_eq(leak.lines, lines);
  lp_summary_close(&s);
  lp_shape_close(&shape);
  regfree(&re);
  return leak.growth;
}

/* A function leaks by all of its lines. */
START_TEST(test_growth)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  Run r;
  model_run(m, &c);
  r = summarize(&c);
  ck_assert_int_eq(growth(&r, "line 20", 1), LP_GROWTH_STEADY);
  ck_assert_int_eq(growth(&r, "line 31", 1), LP_GROWTH_START);
  ck_assert_int_eq(growth(&r, "line 32", 1), LP_GROWTH_OTHER);
  ck_assert_int_eq(growth(&r, "line 3[12]", 2), LP_GROWTH_OTHER);
  ck_assert_int_eq(growth(&r, "line 21", 0), LP_GROWTH_UNKNOWN);
  run_close(&r);
  craft_close(&c);
  free(m);
}
END_TEST

/* The leaked bytes are those of --ignore-youngest=25. */
START_TEST(test_youngest)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  LpSummary s;
  Run r, young = {.prof = lp_profile_new()};
  LpInput in;
  uint64_t leaked = 0;
  uint32_t i;
  model_run(m, &c);
  r = summarize(&c);
  young.prof->wanted.what = LP_WANT_YOUNG;
  young.prof->wanted.young = 25;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&young, &in);
  for (i = 0; i < young.prof->origins.n; i++)
    leaked += lp_metric_of(young.prof, LP_NOW, i, LP_METRIC_LEAKED).n;
  lp_summary_open(&s, r.prof, NULL);
  ck_assert_uint_gt(leaked, 0);
  ck_assert_uint_eq(lp_summary_leaked(&s, &s.all), leaked);
  lp_summary_close(&s);
  run_close(&r);
  run_close(&young);
  craft_close(&c);
  free(m);
}
END_TEST

static void (*resume_time)(void *ctx, uint64_t ns);

/* A time mark: finalize the profile, which goes on. */
static void resume_at(void *ctx, uint64_t ns)
{
  lp_stream_finalize(ctx);
  resume_time(ctx, ns);
}

/* The same when it is finalized in between, as for a file that is followed. */
START_TEST(test_resume)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  Run r = {.prof = lp_profile_new()};
  LpInput in;
  LpSink sink;
  LpSummary s;
  model_run(m, &c);
  r.prof->wanted.what = LP_WANT_AGES;
  lp_input_memory(&in, c.out.s, c.out.n);
  sink = lp_stream_open(&r.st, r.prof);
  resume_time = sink.time;
  sink.time = resume_at;
  lp_reader_run(&in, &sink);
  lp_stream_close(&r.st, lp_input_offset(&in));
  lp_input_close(&in);
  ck_assert_uint_ge(r.st.marks, 3);
  lp_summary_open(&s, r.prof, NULL);
  compare(&s, m, LEAK, 20);
  compare(&s, m, START, 31);
  compare(&s, m, PHASE, 32);
  ck_assert_uint_eq(s.memory.profiles, 1);
  lp_summary_close(&s);
  run_close(&r);
  craft_close(&c);
  free(m);
}
END_TEST

/* -- CPU time ------------------------------------------------------------- */

static const char *cpu_chunk = "@app.lua";

/* Functions main (line 1) and f (line 5), string.rep, memcpy, lj_gc_step. */
static void cpu_run(Craft *c)
{
  static const CraftBook books[] = {{"fired", 200},         {"delivered", 190},
                                    {"dropped", 10},        {"complete", 190},
                                    {"cpu_ns", 2000000000}, {"ns", 2500000000}};
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_process(c, 1, 4711, "luajit\033[31m app.lua");
  craft_thread(c, 1, 1, 4711, "luajit");
  craft_module(c, 1, "", "/usr/lib/libc.so.6");
  craft_proto(c, 1, 0, 1, 0, cpu_chunk, "");
  craft_proto(c, 2, 0, 2, 4, cpu_chunk, "f");
  craft_named(c, 3, LJM_CFUNC_BUILTIN, "string.rep");
  craft_native(c, 4, 0, 1, 0x9a0, "memcpy");
  craft_native(c, 5, 0, 1, 0xaa0, "lj_gc_step");
  craft_site(c, 2, 0, 1, 1);
  craft_site(c, 3, 0, 2, 5);
  craft_site(c, 4, 0, 3, 0);
  craft_site(c, 5, 0, 4, 0);
  craft_site(c, 6, 0, 5, 0);
  craft_time(c, 1000000000);
  craft_change(c, 0, 2);
  craft_sample(c, 0, 1, 10); /* main */
  craft_change(c, 0, 3);
  craft_sample(c, 0, 1, 50); /* main f */
  craft_change(c, 0, 4, 5);
  craft_sample(c, 0, 1, 60); /* main f string.rep memcpy */
  craft_change(c, 2, 6);
  craft_sample(c, 0, 1, 20); /* main f lj_gc_step */
  craft_change(c, 1, 3);
  craft_sample(c, 0, 1, 30); /* main f f */
  craft_change(c, 3, 5);
  craft_sample(c, 0, 1, 20); /* memcpy */
  craft_time(c, 2500000000);
  craft_books(c, books, sizeof(books) / sizeof(books[0]));
  craft_flush(c);
}

START_TEST(test_cpu)
{
  Craft c = {0};
  LpSummary s;
  const LpSummaryLine *f, *main;
  Run r;
  cpu_run(&c);
  r = summarize(&c);
  lp_summary_open(&s, r.prof, NULL);
  f = line_of(&s, 5);
  main = line_of(&s, 1);
  ck_assert_uint_eq(f->n[LP_NOW][LP_SUMMARY_SAMPLES], 50 + 60 + 20 + 30);
  ck_assert_uint_eq(f->n[LP_NOW][LP_SUMMARY_TOTAL], 50 + 60 + 20 + 30);
  ck_assert_uint_eq(f->n[LP_NOW][LP_SUMMARY_ALLOC_GC], 20);
  ck_assert_uint_eq(main->n[LP_NOW][LP_SUMMARY_SAMPLES], 10);
  ck_assert_uint_eq(main->n[LP_NOW][LP_SUMMARY_TOTAL], 170);
  ck_assert_uint_eq(s.outside, 20);
  ck_assert_uint_eq(s.all.n[LP_NOW][LP_SUMMARY_SAMPLES], 190);
  lp_summary_close(&s);
  run_close(&r);
  craft_close(&c);
}
END_TEST

/* -- Sentences ------------------------------------------------------------ */

/* The summary before the report of a stream, which is closed. */
static void says(Craft *c, const char *focus, const char *want)
{
  LpReportOptions opt = {.metric = LP_METRIC_BYTES, .summary = 1};
  Run r = summarize(c);
  LpBuf report = {0};
  LpShape shape;
  regex_t re;
  if (focus)
    ck_assert_int_eq(regcomp(&re, focus, REG_EXTENDED | REG_NOSUB), 0);
  lp_shape_open(&shape, r.prof, focus ? &re : NULL, NULL);
  opt.focus = focus;
  opt.shape = &shape;
  run_report(&r, "text", "lines", &opt);
  lp_buf_add(&report, r.text.s, r.text.n);
  opt.summary = 0;
  run_report(&r, "text", "lines", &opt);
  ck_assert_uint_gt(report.n, r.text.n);
  ck_assert_str_eq(report.s + report.n - r.text.n, r.text.s);
  report.s[report.n - r.text.n] = '\0';
  ck_assert_str_eq(report.s, want);
  lp_buf_free(&report);
  lp_shape_close(&shape);
  if (focus)
    regfree(&re);
  run_close(&r);
  craft_close(c);
}

START_TEST(test_sentences)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  model_run(m, &c);
  says(&c, NULL,
       "Memory: unknown process, 1.50 s, 2032 events, 2.9MiB allocated, "
       "88.1% freed.\n"
       "Read whole; 0.2% of bytes at approximate lines.\n"
       "   97.8% of bytes, 2.9MiB (293.0KiB live): search, app.lua:21\n"
       "    1.3% of bytes, 39.4KiB (39.4KiB live): search, app.lua:20\n"
       "    0.7% of bytes, 19.5KiB (19.5KiB live): app.lua:31\n"
       "    0.2% of bytes, 5.9KiB (5.9KiB live): app.lua:~32\n"
       "53.8% of leaked bytes (29.5KiB): search, app.lua:20; it grows "
       "steadily.\n"
       "Next: recorded without stacks: start with stack = 64 for callers;\n"
       "  leaks: --view=lines --metric=leaked --ignore-youngest=25\n\n");
  memset(&c, 0, sizeof(c));
  cpu_run(&c);
  says(&c, NULL,
       "CPU: pid 4711 (luajit\\x1b[31m app.lua), 190 samples at 100 Hz,\n"
       "  2.00 s of CPU in 2.50 s.\n"
       "Read whole; 100.0% of stacks complete; 5.0% of samples dropped.\n"
       "   84.2% of CPU time,  84.2% with callees: f, app.lua:5\n"
       "    5.3% of CPU time,  89.5% with callees: app.lua:1\n"
       "CPU time is 47.4% interpreted, 42.1% C functions,\n"
       "  10.5% allocation and collection; 10.5% is in no Lua function.\n"
       "Next: callers: --view=callers --focus='@app.lua:4, line 5';\n"
       "  compare: --diff=BASE\n\n");
  memset(&c, 0, sizeof(c));
  cpu_run(&c);
  says(&c, "string.rep",
       "CPU: pid 4711 (luajit\\x1b[31m app.lua), 60 samples at 100 Hz,\n"
       "  2.00 s of CPU in 2.50 s.\n"
       "Read whole; 100.0% of stacks complete; 5.0% of samples dropped;\n"
       "  only what matches string.rep.\n"
       "  100.0% of CPU time, 100.0% with callees: f, app.lua:5\n"
       "CPU time is 100.0% C functions.\n"
       "Next: callers: --view=callers --focus='@app.lua:4, line 5';\n"
       "  compare: --diff=BASE\n\n");
  free(m);
}
END_TEST

/* What is to be copied fits into a line: of a long path the last parts. */
START_TEST(test_focus)
{
  static const char *const chunk[] = {
      "@/usr/share/lua/5.1/some/library/init.lua",
      "@a_name_without_any_folder_that_is_too_long.lua"};
  static const char *const want[] = {
      "Next: callers: --view=callers "
      "--focus='5.1/some/library/init.lua:4, line 5';\n",
      "Next: callers: --view=callers;"};
  size_t i;
  for (i = 0; i < 2; i++) {
    LpReportOptions opt = {.metric = LP_METRIC_BYTES, .summary = 1};
    Craft c = {0};
    Run r;
    cpu_chunk = chunk[i];
    cpu_run(&c);
    r = summarize(&c);
    ck_assert_ptr_nonnull(
        strstr(run_report(&r, "text", "lines", &opt), want[i]));
    run_close(&r);
    craft_close(&c);
  }
  cpu_chunk = "@app.lua";
}
END_TEST

/* The same facts as data. */
START_TEST(test_json)
{
  const LpReportOptions opt = {.metric = LP_METRIC_BYTES};
  Model *m = malloc(sizeof(*m));
  Craft c = {0};
  Run r;
  json_t *root, *facts, *leak, *line;
  json_int_t bytes, live, leaked;
  const char *name, *growth, *advice;
  model_run(m, &c);
  r = summarize(&c);
  run_report(&r, "json", NULL, &opt);
  root = json_loadb(r.text.s, r.text.n, JSON_REJECT_DUPLICATES, NULL);
  ck_assert_ptr_nonnull(root);
  facts = json_object_get(root, "summary");
  line = json_array_get(json_object_get(facts, "lines"), 1);
  ck_assert_int_eq(json_unpack(line, "{s:s, s:{s:I, s:I}}", "name", &name,
                               "now", "bytes", &bytes, "live", &live),
                   0);
  ck_assert_str_eq(name, "search, app.lua:20");
  ck_assert_int_eq(bytes, (json_int_t)m->bytes[LEAK]);
  ck_assert_int_eq(live, (json_int_t)m->live[LEAK]);
  leak = json_object_get(facts, "leak");
  ck_assert_int_eq(json_unpack(leak, "{s:s, s:s, s:I}", "name", &name, "growth",
                               &growth, "leaked", &leaked),
                   0);
  ck_assert_str_eq(name, "search, app.lua:20");
  ck_assert_str_eq(growth, "steady");
  ck_assert_int_eq(leaked,
                   (json_int_t)(m->quarter[LEAK][0] + m->quarter[LEAK][1] +
                                m->quarter[LEAK][2]));
  ck_assert_int_eq(json_unpack(facts, "{s:{s:n, s:I}, s:[s, s]}", "recorded",
                               "cpu", "events", &bytes, "advice", &advice,
                               &growth),
                   0);
  ck_assert_int_eq(bytes, (json_int_t)m->events);
  ck_assert_str_eq(advice, "stack");
  ck_assert_str_eq(growth, "leaks");
  json_decref(root);
  run_close(&r);
  craft_close(&c);
  free(m);
}
END_TEST

/* A name of any length and of any characters fits, and a stream without events
** says so.
*/
START_TEST(test_names)
{
  Craft c = {0};
  int i;
  craft_open(&c, 0x7f1234567890);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  says(&c, NULL, "Memory: unknown process, no events.\nRead whole.\n\n");
  memset(&c, 0, sizeof(c));
  craft_open(&c, 0x7f1234567890);
  c.stack = 8;
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 1, 1, "@/a/very/long/path/that/leads/to/a/file.lua",
              "f\033]0;'\"$(touch x)\304\200a_function_with_a_long_name");
  craft_site(&c, 2, 0, 1, 7);
  for (i = 0; i < 100; i++)
    craft_alloc(&c, 2, HEAP + (uint64_t)i * 64, 64);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  says(&c, NULL,
       "Memory: unknown process, 100 events, 6.2KiB allocated, 0.0% freed.\n"
       "Read whole.\n"
       "  100.0% of bytes, 6.2KiB (6.2KiB live): "
       "f\\x1b]0;'\"$(.._a_long_name, file.lua:7\n"
       "100.0% of leaked bytes (4.7KiB): "
       "f\\x1b]0;'\"$(to..n_with_a_long_name, file.lua:7;\n"
       "  it grows steadily.\n"
       "Next: leaks: --view=lines --metric=leaked --ignore-youngest=25;\n"
       "  compare: --diff=BASE\n\n");
}
END_TEST

/* Chunks and functions without any name. */
START_TEST(test_nameless)
{
  Craft c = {0};
  craft_open(&c, 0x7f1234567890);
  craft_time(&c, 0);
  craft_meta(&c, 0);
  craft_proto(&c, 1, 0, 1, 1, "=", "");
  craft_site(&c, 2, 0, 1, 7);
  craft_proto(&c, 2, 0, 2, 1, "", "");
  craft_site(&c, 3, 0, 2, 8);
  craft_alloc(&c, 2, HEAP, 64);
  craft_alloc(&c, 3, HEAP + 4096, 32);
  craft_totals(&c, 0, 0);
  craft_flush(&c);
  says(&c, NULL,
       "Memory: unknown process, 2 events, 96B allocated, 0.0% freed.\n"
       "Read whole.\n"
       "   66.7% of bytes, 64B (64B live): ?:7\n"
       "   33.3% of bytes, 32B (32B live): [string \"\"]:8\n"
       "66.7% of leaked bytes (64B): ?:7.\n"
       "Next: leaks: --view=lines --metric=leaked --ignore-youngest=25;\n"
       "  compare: --diff=BASE\n\n");
}
END_TEST

/* At most ten lines before the report, of 80 columns but for what is to be
** copied, whatever the streams have; the first lines by CPU time and by bytes
** are among them.
*/
START_TEST(test_size)
{
  LpReportOptions opt = {.metric = LP_METRIC_BYTES, .summary = 1};
  void (*const make[])(Sample *) = {sample_open, sample_cpu};
  Run r = {.prof = lp_profile_new()};
  const char *s, *end, *next;
  size_t i, n = 0;
  r.prof->wanted.what = LP_WANT_AGES;
  for (i = 0; i < 2; i++) {
    Sample sample = {0};
    LpInput in;
    make[i](&sample);
    lp_input_memory(&in, sample.c.out.s, sample.c.out.n);
    run_add(&r, &in);
    craft_close(&sample.c);
  }
  s = run_report(&r, "text", "lines", &opt);
  end = strstr(s, "\n\n");
  next = strstr(s, "\nNext: ");
  ck_assert_ptr_nonnull(next);
  ck_assert(end && end > next);
  ck_assert_ptr_nonnull(strstr(s, "58.0% of CPU time: f, app.lua:14\n"));
  ck_assert_ptr_nonnull(strstr(s, "48.0% of bytes, 6.2KiB: make, app.lua:5\n"));
  for (; s <= end; s = strchr(s, '\n') + 1, n++)
    ck_assert(s >= next || strcspn(s, "\n") <= 80);
  ck_assert_uint_le(n, 10);
  run_close(&r);
}
END_TEST

/* -- Differences ---------------------------------------------------------- */

/* A diff names what changed most; of the same recording, that nothing did. */
START_TEST(test_diff)
{
  Model *m = malloc(sizeof(*m));
  Craft c = {0}, d = {0};
  LpReportOptions opt = {.metric = LP_METRIC_BYTES, .summary = 1};
  LpInput in;
  Run r;
  const char *s;
  model_run(m, &c);
  r = summarize(&c);
  lp_profile_set_baseline(r.prof);
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  s = run_report(&r, "text", "lines", &opt);
  ck_assert_ptr_nonnull(strstr(
      s,
      "\nIn all +0B allocated (+0.0%), +0B live (+0.0%); No line changed.\n"));
  run_close(&r);
  craft_open(&d, 0x7f1234567890);
  craft_time(&d, 0);
  craft_meta(&d, 0);
  craft_totals(&d, 0, 0);
  craft_flush(&d);
  r = summarize(&d);
  lp_profile_set_baseline(r.prof);
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  s = run_report(&r, "text", "lines", &opt);
  ck_assert_ptr_nonnull(
      strstr(s, "\n  +293.0KiB live, +2.9MiB allocated: search, app.lua:21\n"
                "  +39.4KiB live, +39.4KiB allocated: search, app.lua:20\n"));
  run_close(&r);
  craft_close(&c);
  craft_close(&d);
  free(m);
}
END_TEST

Suite *suite_summary(void)
{
  const TTest *tests[] = {
      test_facts,     test_growth, test_youngest, test_resume, test_cpu,
      test_sentences, test_focus,  test_json,     test_names,  test_nameless,
      test_size,      test_diff,   NULL};
  return suite_of("summary", tests);
}

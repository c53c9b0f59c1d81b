/*
** Samples that are charged to Lua lines.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "part.h"
#include "run.h"
#include "sample.h"
#include "suites.h"

/* A report of a stream, behind its statistics. */
static void view(Craft *c, const char *format, const char *name,
                 const char *want)
{
  Run r = run_craft(c);
  const char *text;
  r.prof->wanted.native = 0;
  text = run_report(&r, format, name, &run_plain);
  if (strcmp(format, "text") == 0)
    text = strstr(text, "\n\n") + 2;
  ck_assert_str_eq(text, want);
  run_close(&r);
}

/* string.rep, malloc with the kernel inside, and a function without a name are
** the line's that called them.
*/
START_TEST(test_sample)
{
  Sample s;
  sample_cpu(&s);
  view(
      &s.c, "text", "functions",
      "        self      %        total      %  interpreted  compiled  C code  "
      "alloc, GC  kernel  no name  FUNCTION\n"
      "          82  82.0%           82  82.0%           44        20      13  "
      "        ?       5        0  @app.lua:10 (f)\n"
      "          17  17.0%           17  17.0%            0         2       0  "
      "        ?       0       15  ~app:20 (g;h)\n"
      "           1   1.0%            1   1.0%            0         0       1  "
      "        ?       0        0  (unknown)\n"
      "           0   0.0%           94  94.0%            0         0       0  "
      "        ?       0        0  @app.lua:0\n");
  view(&s.c, "folded", NULL,
       "(unknown) 1\n"
       "@app.lua:3;f@app.lua:14 55\n"
       "@app.lua:3;f@app.lua:14;f@app.lua:15;f@app.lua:14;f@app.lua:15 20\n"
       "@app.lua:3;f@app.lua:? 4\n"
       "@app.lua:3;g\\x3bh@app:26 15\n"
       "f@app.lua:14 3\n"
       "g\\x3bh@app:26 2\n");
  craft_close(&s.c);
}
END_TEST

/* Sites of the stacks below. */
enum { MAIN = 2, WORK, HOT, CALL, GC, SWEEP, JIT, REP, PAGE, BARE, PEG, POLL };

static void define(Craft *c)
{
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_module(c, 1, "", "/usr/bin/luajit");
  craft_module(c, 2, "", "/usr/lib/lpeg.so");
  craft_proto(c, 1, 0, 1, 0, "@app.lua", "");
  craft_proto(c, 2, 0, 2, 10, "@app.lua", "work");
  craft_native(c, 3, 0, 1, 0x10, "lua_pcall");
  craft_native(c, 4, 0, 1, 0x20, "lj_gc_step");
  craft_native(c, 5, 0, 1, 0x30, "sweep");
  craft_native(c, 6, 0, 1, 0x40, "lj_trace_hot");
  craft_named(c, 7, LJM_CFUNC_BUILTIN, "string.rep");
  craft_native(c, 8, LJM_NATIVE_KERNEL, 0, 0, "handle_mm_fault");
  craft_native(c, 9, LJM_NATIVE_NOSYMBOL, 1, 0x50, "");
  craft_native(c, 10, LJM_NATIVE_NOSYMBOL, 2, 0x60, "");
  craft_native(c, 11, 0, 1, 0x70, "poll");
  craft_site(c, MAIN, 0, 1, 3);
  craft_site(c, WORK, 0, 2, 14);
  craft_site(c, HOT, LJM_SITE_TRACE, 2, 14);
  craft_site(c, CALL, 0, 3, 0);
  craft_site(c, GC, 0, 4, 0);
  craft_site(c, SWEEP, 0, 5, 0);
  craft_site(c, JIT, 0, 6, 0);
  craft_site(c, REP, 0, 7, 0);
  craft_site(c, PAGE, 0, 8, 0);
  craft_site(c, BARE, 0, 9, 0);
  craft_site(c, PEG, 0, 10, 0);
  craft_site(c, POLL, 0, 11, 0);
}

/* COUNT samples of a stack. */
#define sample(c, count, ...)                                                  \
  do {                                                                         \
    craft_stack(c, 0, __VA_ARGS__);                                            \
    craft_sample(c, 0, 0, count);                                              \
  } while (0)

/* Each part, alone and inside of others. Native frames around Lua and between
** Lua functions have no rows.
*/
START_TEST(test_parts)
{
  Craft c;
  define(&c);
  sample(&c, 1, CALL, MAIN, CALL, WORK);
  sample(&c, 2, CALL, MAIN, CALL, HOT);
  sample(&c, 4, CALL, MAIN, HOT, GC, SWEEP);
  sample(&c, 8, CALL, MAIN, WORK, REP, GC, PAGE);
  sample(&c, 16, CALL, MAIN, WORK, JIT, PAGE);
  sample(&c, 32, CALL, MAIN, WORK, JIT, GC);
  sample(&c, 64, CALL, MAIN, WORK, REP);
  sample(&c, 128, CALL, MAIN, WORK, REP, PAGE);
  sample(&c, 256, CALL, MAIN, WORK, BARE);
  sample(&c, 512, CALL, MAIN, HOT, PEG);
  sample(&c, 1024, CALL, POLL);
  sample(&c, 2048, POLL, PAGE);
  sample(&c, 4096, CALL, MAIN, WORK, GC, MAIN);
  craft_flush(&c);
  view(
      &c, "text", "lines",
      "        self      %        total      %  interpreted  compiled  C code  "
      "alloc, GC  JIT  kernel  no name  LINE\n"
      "        4096  50.0%         5119  62.5%         4096         0       0  "
      "        0    0       0        0  @app.lua:0, line 3\n"
      "        3072  37.5%         3072  37.5%            0         0    1024  "
      "        0    0    2048        0  (outside Lua)\n"
      "        1023  12.5%         5119  62.5%            1         2     576  "
      "       44   16     128      256  @app.lua:10, line 14 (work)\n");
  view(&c, "text", "tree",
       "       total      %         self      %  CALL TREE\n"
       "        8191 100.0%            0   0.0%  (all)\n"
       "        5119  62.5%            0   0.0%    @app.lua:0, line 3\n"
       "        5119  62.5%         1023  12.5%      @app.lua:10, line 14"
       " (work)\n"
       "        4096  50.0%         4096  50.0%        @app.lua:0, line 3\n"
       "        3072  37.5%         3072  37.5%    (outside Lua)\n");
  craft_close(&c);
}
END_TEST

/* Without any Lua function, native ones are shown. */
START_TEST(test_nolua)
{
  Craft c;
  define(&c);
  sample(&c, 3, CALL, POLL);
  sample(&c, 1, POLL, PAGE);
  craft_flush(&c);
  view(&c, "folded", NULL,
       "lua_pcall (luajit);poll (luajit) 3\n"
       "poll (luajit);handle_mm_fault_[k] 1\n");
  craft_close(&c);
}
END_TEST

Suite *suite_luafirst(void)
{
  const TTest *tests[] = {test_sample, test_parts, test_nolua, NULL};
  return suite_of("luafirst", tests);
}

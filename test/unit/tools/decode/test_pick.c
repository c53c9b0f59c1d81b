/*
** Samples of some processes and threads only, by their labels.
*/

#include <stdlib.h>
#include <string.h>

#include "ljm_format.h"
#include "pick.h"
#include "run.h"
#include "suites.h"

/* Two workers in a container, with one thread each and one with two, and a
** process of an older stream, which says nothing about its control group.
*/
static void pick_stream(Craft *c)
{
  static const CraftBook books[] = {{"fired", 15}, {"delivered", 15}};
  craft_open_cpu(c);
  craft_time(c, 0);
  craft_meta_cpu(c, 100);
  craft_process_in(c, 1, 100, "nginx", "/docker/abc");
  craft_process_in(c, 2, 101, "nginx", "/docker/abc/inner");
  craft_process(c, 3, 102, "luajit");
  craft_thread(c, 1, 1, 100, "nginx");
  craft_thread(c, 2, 2, 101, "nginx");
  craft_thread(c, 3, 2, 103, "pool");
  craft_thread(c, 4, 3, 102, "luajit");
  craft_proto(c, 1, 0, 1, 0, "@app.lua", "");
  craft_site(c, 2, 0, 1, 3);
  craft_change(c, 0, 2);
  craft_sample(c, 0, 1, 8);
  craft_sample(c, 0, 2, 4);
  craft_sample(c, 0, 3, 2);
  craft_sample(c, 0, 4, 1);
  craft_flush(c);
  craft_books(c, books, 2);
  craft_flush(c);
}

/* So many samples are left by N conditions; the rest is counted as others'. */
static void picks(const LpPick *pick, size_t n, uint64_t samples)
{
  Run r = {.prof = run_profile()};
  LpInput in;
  Craft c;
  memset(&c, 0, sizeof(c));
  pick_stream(&c);
  r.prof->wanted.pick = pick;
  r.prof->wanted.npick = n;
  lp_input_memory(&in, c.out.s, c.out.n);
  run_add(&r, &in);
  lp_profile_finalize(r.prof);
  ck_assert_str_eq(r.st.damage.what, "");
  ck_assert_int_eq(r.status, LP_WHOLE);
  ck_assert_uint_eq(r.prof->cpu.samples, samples);
  ck_assert_uint_eq(r.prof->cpu.others, 15 - samples);
  run_close(&r);
  craft_close(&c);
}

START_TEST(test_labels)
{
  static const struct {
    LpPick pick;
    uint64_t samples;
  } want[] = {
      {{LP_PICK_PID, "100"}, 8},
      {{LP_PICK_PID, "10"}, 0}, /* No part of a number. */
      {{LP_PICK_TID, "103"}, 2},
      {{LP_PICK_COMM, "nginx"}, 14},
      {{LP_PICK_COMM, "ngi"}, 0},
      {{LP_PICK_COMM, "*j*"}, 1},
      {{LP_PICK_THREAD, "pool"}, 2},
      {{LP_PICK_CGROUP, "/docker/abc"}, 8},
      {{LP_PICK_CGROUP, "abc"}, 14},
      {{LP_PICK_CGROUP, "inner"}, 6},
      {{LP_PICK_CGROUP, "*"}, 14}, /* Where it is known. */
      {{LP_PICK_HOST, "*"}, 0},
  };
  size_t i;
  picks(NULL, 0, 15);
  for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
    picks(&want[i].pick, 1, want[i].samples);
}
END_TEST

/* Those of one label are alternatives, those of several must all fit. */
START_TEST(test_together)
{
  picks((LpPick[]){{LP_PICK_PID, "100"}, {LP_PICK_PID, "102"}}, 2, 9);
  picks((LpPick[]){{LP_PICK_PID, "101"}, {LP_PICK_THREAD, "nginx"}}, 2, 4);
  picks((LpPick[]){{LP_PICK_COMM, "luajit"}, {LP_PICK_CGROUP, "*"}}, 2, 0);
}
END_TEST

/* Memory profiles are of one process. */
START_TEST(test_memory)
{
  static const LpPick pid[] = {{LP_PICK_PID, "7"}, {LP_PICK_PID, "8"}};
  static const LpPick comm = {LP_PICK_COMM, "l*"};
  static const LpPick thread = {LP_PICK_THREAD, "*"};
  LpProcessInfo p = {.pid = 8};
  LpIntern names = {0};
  LpCpu cpu;
  lp_cpu_open(&cpu, &names);
  ck_assert(lp_pick_process(NULL, 0, &cpu, &p));
  ck_assert(lp_pick_process(pid, 2, &cpu, &p));
  ck_assert(!lp_pick_process(&comm, 1, &cpu, &p));
  p.command = lp_intern(&names, "luajit", 6);
  ck_assert(lp_pick_process(&comm, 1, &cpu, &p));
  ck_assert(!lp_pick_process(&thread, 1, &cpu, &p));
  p.pid = 9;
  ck_assert(!lp_pick_process(pid, 2, &cpu, &p));
  p.pid = 0;
  ck_assert(!lp_pick_process(pid, 2, &cpu, &p));
  lp_cpu_close(&cpu);
  lp_intern_free(&names);
}
END_TEST

START_TEST(test_processes)
{
  static const char want[] = "samples,percent,threads,pid,host,cgroup,name\n"
                             "8,53.3333,1,100,?,/docker/abc,nginx\n"
                             "6,40,2,101,?,/docker/abc/inner,nginx\n"
                             "1,6.66667,1,102,?,?,luajit\n";
  LpReportOptions opt = {.sort = NULL};
  Craft c;
  Run r;
  memset(&c, 0, sizeof(c));
  pick_stream(&c);
  r = run_craft(&c);
  ck_assert_str_eq(run_report(&r, "csv", "processes", &opt), want);
  run_close(&r);
  craft_close(&c);
}
END_TEST

Suite *suite_pick(void)
{
  const TTest *tests[] = {test_labels, test_together, test_memory,
                          test_processes, NULL};
  return suite_of("pick", tests);
}

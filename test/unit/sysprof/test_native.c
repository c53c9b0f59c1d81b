/*
** The unwinder on programs in C, at every instruction from the first one on.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "suites.h"

/* Step through a program from its first instruction to its end. */
static void step_through(const char *path, const char *kind)
{
  const char *argv[] = {path, NULL};
  const char *show = getenv("LJPROF_WALK_SHOW");
  const uint32_t bad = 1u << JUDGE_CUT | 1u << JUDGE_NATIVE | 1u << JUDGE_LEAF;
  static Judge j;
  Tracee *t = tracee_start(argv);
  memset(&j, 0, sizeof(j));
  judge_native(&j, t, 10000000);
  ck_assert(t->ended);
  tracee_end(t);
  judge_print(&j, kind, show ? atoi(show) : 0);
  ck_assert_uint_gt(j.steps, 10000);
  ck_assert_double_lt(judge_failed(&j, bad), 0.001);
  judge_end(&j);
}

START_TEST(step_plain)
{
  step_through(NATIVE "plain", "plain");
}
END_TEST

START_TEST(step_pointers)
{
  step_through(NATIVE "pointers", "pointers");
}
END_TEST

START_TEST(step_static)
{
  step_through(NATIVE "static", "static");
}
END_TEST

/* -- What a debugger says ------------------------------------------------- */

#define FRAMES 64

/* The program counters that gdb shows, innermost first; 0 for the frame of a
** signal. Returns their number. Where it knows lines it shows frames of inlined
** functions, too: so it must not.
*/
static unsigned ask_gdb(pid_t pid, uint64_t pc[FRAMES])
{
  char command[256], line[4096];
  unsigned n = 0;
  FILE *f;
  snprintf(command, sizeof(command),
           "gdb -nx -batch -iex 'set debuginfod enabled off' "
           "-iex 'set debug-file-directory /none' -p %d "
           "-ex 'set backtrace past-main on' -ex bt 2>/dev/null",
           (int)pid);
  f = popen(command, "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof(line), f)) {
    unsigned number;
    char at[64];
    if (sscanf(line, "#%u %63s", &number, at) != 2 || n == FRAMES)
      continue;
    pc[n++] = strncmp(at, "0x", 2) == 0 ? strtoull(at, NULL, 16) : 0;
  }
  pclose(f);
  return n;
}

/* Stop at mark number I, and compare. Returns 0 if there is no such mark. */
static int compare_mark(const char *path, unsigned i)
{
  const char *argv[] = {path, NULL};
  char name[TRACEE_NAME];
  uint64_t pc[FRAMES];
  Tracee *t = tracee_start(argv);
  unsigned k, n;
  int more;
  static Walk w;
  do
    more = tracee_mark(t, name);
  while (more && i--);
  if (more && strcmp(name, "end") != 0) {
    tracee_walk(t, &w);
    tracee_leave(t);
    n = ask_gdb(t->pid, pc);
    ck_assert_uint_eq(w.out.cut, 0);
    ck_assert_msg(w.out.nframes == n, "%s: %u frames are %u", name, n,
                  w.out.nframes);
    for (k = 0; k < n; k++)
      ck_assert_msg(!pc[k] || pc[k] == w.out.frame[k].addr,
                    "%s: frame %u: %#" PRIx64 " is %#" PRIx64, name, k, pc[k],
                    (uint64_t)w.out.frame[k].addr);
  }
  tracee_end(t);
  return more;
}

static void compare(const char *path)
{
  unsigned i = 0;
  if (system("gdb --version > /dev/null 2>&1") != 0) {
    printf("not compared: there is no gdb\n");
    return;
  }
  while (compare_mark(path, i))
    i++;
  ck_assert_uint_eq(i, 9);
}

START_TEST(debugger_plain)
{
  compare(NATIVE "plain");
}
END_TEST

START_TEST(debugger_pointers)
{
  compare(NATIVE "pointers");
}
END_TEST

START_TEST(debugger_static)
{
  compare(NATIVE "static");
}
END_TEST

Suite *suite_native(void)
{
  const TTest *tests[] = {
      step_plain,        step_pointers,   step_static, debugger_plain,
      debugger_pointers, debugger_static, NULL};
  return suite_of("native", tests);
}

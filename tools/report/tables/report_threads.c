/*
** --view=threads: which threads the CPU time was used by.
*/

#include <stdlib.h>

#include "printable.h"
#include "report.h"

/* Most samples first, then in the order they came. */
static int threads_before(const void *a, const void *b, void *ctx)
{
  const uint64_t *n = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (n[x] != n[y])
    return n[x] > n[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* The name of a thread and the command of its process. */
static char *threads_name(const LpProfile *prof, uint32_t id,
                          const LpThreadInfo *t, const LpProcessInfo *p)
{
  LpStr command = lp_profile_name(prof, p->command);
  LpBuf b = {0};
  if (id == LP_THREAD_NONE)
    lp_buf_puts(&b, "(unknown)");
  else
    lp_printable(&b, lp_profile_name(prof, t->name));
  if (!b.n)
    lp_buf_puts(&b, "?");
  if (command.n) {
    lp_buf_puts(&b, " (");
    lp_printable(&b, command);
    lp_buf_puts(&b, ")");
  }
  return b.s;
}

/* The row of a thread. */
static void threads_row(LpTable *table, const LpProfile *prof, uint32_t id)
{
  const LpCpu *cpu = &prof->cpu;
  LpThreadInfo t;
  LpProcessInfo p;
  lp_cpu_info(&cpu->threads, id, &t);
  lp_cpu_info(&cpu->processes, t.process, &p);
  lp_table_row(table);
  lp_table_number(table, 0, cpu->thread[id]);
  lp_table_percent(table, 1, cpu->thread[id], cpu->samples);
  lp_table_number(table, 2, p.pid);
  lp_table_number(table, 3, t.tid);
  lp_table_string(table, 4, threads_name(prof, id, &t, &p));
}

/* The columns. Ids are numbers, but not to be added up. */
static void threads_head(LpTable *table)
{
  static const char *const id[] = {"pid", "tid"};
  int i;
  lp_table_column(table, "samples", "samples", LP_UNIT_SAMPLES)->width = 12;
  lp_table_column(table, "percent", "%", LP_UNIT_PERCENT)->width = 6;
  for (i = 0; i < 2; i++) {
    LpColumn *c = lp_table_column(table, id[i], id[i], LP_UNIT_COUNT);
    c->width = 9;
    c->alone = 1;
  }
  lp_table_column(table, "name", "THREAD", LP_UNIT_TEXT);
}

/* All of it. */
static void threads_table(LpTable *table, const LpSubject *subject,
                          const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  const LpCpu *cpu = &prof->cpu;
  uint32_t *list = lp_alloc(cpu->threads.n * sizeof(uint32_t)), i;
  (void)opt;
  for (i = 0; i < cpu->threads.n; i++)
    list[i] = i;
  qsort_r(list, cpu->threads.n, sizeof(uint32_t), threads_before, cpu->thread);
  threads_head(table);
  for (i = 0; i < cpu->threads.n && cpu->thread[list[i]]; i++)
    threads_row(table, prof, list[i]);
  free(list);
}

const LpReport lp_report_threads = {
    .view = "threads",
    .of = LP_OF_CPU,
    .takes = LP_TAKES_ROWS,
    .table = threads_table,
};

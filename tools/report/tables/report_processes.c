/*
** --view=processes: which processes used CPU time and memory: the workers of a
** server, the containers of a machine, the machines of a fleet.
*/

#include <stdlib.h>

#include "printable.h"
#include "report.h"

/* Of one process. */
typedef struct Process {
  uint32_t id;
  uint64_t samples, threads;
  uint64_t recordings; /* Memory profiles, */
  LpWeight come;       /* objects that came in them, */
  LpFixed live;        /* and bytes live at their ends. */
} Process;

/* Most samples first, then most live bytes, then in the order they came. */
static int processes_before(const void *a, const void *b)
{
  const Process *x = a, *y = b;
  if (x->samples != y->samples)
    return x->samples > y->samples ? -1 : 1;
  if (x->live != y->live)
    return x->live > y->live ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Count samples and threads. */
static void processes_cpu(Process *p, const LpCpu *cpu)
{
  uint32_t i;
  for (i = 0; i < cpu->threads.n && i < cpu->nthread; i++) {
    LpThreadInfo t;
    lp_cpu_info(&cpu->threads, i, &t);
    p[t.process].samples += cpu->thread[i];
    p[t.process].threads += cpu->thread[i] > 0;
  }
}

/* Count memory. */
static void processes_memory(Process *p, const LpProfile *prof)
{
  uint32_t i;
  for (i = 0; i < prof->nmemory; i++) {
    const LpProcessMemory *m = &prof->memory[i];
    Process *of = &p[m->process];
    of->recordings++;
    of->live += m->live;
    lp_weight_add(&of->come, &m->come);
  }
}

/* A name, "?" if it is not known. */
static char *processes_name(const LpProfile *prof, uint32_t name)
{
  LpBuf b = {0};
  lp_printable(&b, lp_profile_name(prof, name));
  if (!b.n)
    lp_buf_puts(&b, "?");
  return b.s;
}

/* Put a row. */
static void processes_row(LpTable *table, const LpProfile *prof,
                          const Process *p)
{
  const LpCpu *cpu = &prof->cpu;
  LpProcessInfo info;
  unsigned c = 0;
  lp_cpu_info(&cpu->processes, p->id, &info);
  lp_table_row(table);
  if (prof->of & LP_OF_CPU) {
    lp_table_number(table, c++, p->samples);
    lp_table_percent(table, c++, p->samples, cpu->samples);
    lp_table_number(table, c++, p->threads);
  }
  if (prof->of & LP_OF_MEMORY) {
    lp_table_number(
        table, c++,
        lp_fixed_round(((LpFixed)p->come.n << 32) + (LpFixed)p->come.npart));
    lp_table_number(table, c++, lp_fixed_round(lp_weight_fixed(&p->come)));
    lp_table_number(table, c++, p->live > 0 ? lp_fixed_round(p->live) : 0);
  }
  lp_table_number(table, c++, info.pid);
  lp_table_string(table, c++, processes_name(prof, info.host));
  lp_table_string(table, c++, processes_name(prof, info.cgroup));
  lp_table_string(table, c, processes_name(prof, info.command));
}

/* The columns. A pid is a number, but not to be added up. */
static void processes_head(LpTable *table, const LpProfile *prof)
{
  LpColumn *pid;
  if (prof->of & LP_OF_CPU) {
    lp_table_column(table, "samples", "samples", LP_UNIT_SAMPLES)->width = 12;
    lp_table_column(table, "percent", "%", LP_UNIT_PERCENT)->width = 6;
    lp_table_column(table, "threads", "threads", LP_UNIT_COUNT);
  }
  if (prof->of & LP_OF_MEMORY) {
    lp_table_column(table, "allocations", "allocations", LP_UNIT_COUNT);
    lp_table_column(table, "bytes", "bytes", LP_UNIT_BYTES)->width = 12;
    lp_table_column(table, "live", "live", LP_UNIT_BYTES)->width = 12;
  }
  pid = lp_table_column(table, "pid", "pid", LP_UNIT_COUNT);
  pid->width = 9;
  pid->alone = 1;
  lp_table_column(table, "host", "host", LP_UNIT_TEXT);
  lp_table_column(table, "cgroup", "cgroup", LP_UNIT_TEXT);
  lp_table_column(table, "name", "PROCESS", LP_UNIT_TEXT);
}

/* All processes that have samples or recordings. */
static void processes_table(LpTable *table, const LpSubject *subject,
                            const LpReportOptions *opt)
{
  const LpProfile *prof = subject->prof;
  uint32_t n = prof->cpu.processes.n, i;
  Process *p = lp_zalloc(n, sizeof(*p));
  (void)opt;
  for (i = 0; i < n; i++)
    p[i].id = i;
  processes_cpu(p, &prof->cpu);
  processes_memory(p, prof);
  qsort(p, n, sizeof(*p), processes_before);
  processes_head(table, prof);
  for (i = 0; i < n; i++)
    if (p[i].samples || p[i].recordings)
      processes_row(table, prof, &p[i]);
  free(p);
}

const LpReport lp_report_processes = {
    .view = "processes",
    .of = LP_OF_MEMORY | LP_OF_CPU,
    .takes = LP_TAKES_ROWS,
    .wants = LP_WANT_PROCESSES,
    .table = processes_table,
};

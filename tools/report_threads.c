/*
** --view=threads: which threads the CPU time was used by.
*/

#include <inttypes.h>
#include <stdlib.h>

#include "label.h"
#include "report.h"
#include "text.h"

/* Most samples first, then in the order they came. */
static int threads_before(const void *a, const void *b, void *ctx)
{
  const uint64_t *n = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  if (n[x] != n[y])
    return n[x] > n[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* The row of a thread. */
static void threads_row(LpOut *out, const LpProfile *prof, uint32_t id)
{
  const LpCpu *cpu = &prof->cpu;
  LpThreadInfo t = lp_cpu_thread_info(cpu, id);
  LpProcessInfo p = lp_cpu_process_info(cpu, t.process);
  LpBuf name = {0}, command = {0};
  lp_label_text(&name, lp_profile_name(prof, t.name));
  lp_label_text(&command, lp_profile_name(prof, (uint32_t)p.command));
  lp_out_printf(out, "%12" PRIu64 " %5.1f%% %10" PRIu64 " %10" PRIu64 "  ",
                cpu->thread[id], lp_text_percent(cpu->thread[id], cpu->samples),
                p.pid, t.tid);
  lp_out_puts(out, id == LP_THREAD_NONE ? "(unknown)" : name.n ? name.s : "?");
  if (command.n)
    lp_out_printf(out, " (%s)", command.s);
  lp_out_puts(out, "\n");
  lp_buf_free(&name);
  lp_buf_free(&command);
}

/* The whole report. */
static void threads_write(LpOut *out, const LpProfile *prof,
                          const LpReportOptions *opt)
{
  const LpCpu *cpu = &prof->cpu;
  uint32_t *list = lp_alloc(cpu->threads.n * sizeof(uint32_t)), i;
  (void)opt;
  for (i = 0; i < cpu->threads.n; i++)
    list[i] = i;
  qsort_r(list, cpu->threads.n, sizeof(uint32_t), threads_before, cpu->thread);
  lp_text_books(out, prof);
  lp_out_printf(out, "%12s %6s %10s %10s  THREAD\n", "samples", "%", "pid",
                "tid");
  for (i = 0; i < cpu->threads.n && cpu->thread[list[i]]; i++)
    threads_row(out, prof, list[i]);
  free(list);
}

const LpReport lp_report_threads = {
    .format = "text",
    .view = "threads",
    .of = LP_OF_CPU,
    .write = threads_write,
};

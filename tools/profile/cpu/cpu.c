/*
** CPU profiles beside the call tree: modules, processes, threads, and the
** statistics of the samplers.
**
** Streams add up: the same process or thread in two of them is one.
*/

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "leb.h"

/* -- Modules, processes, threads ------------------------------------------ */

/* The number of a string. */
static uint32_t cpu_name(LpCpu *cpu, LpStr s)
{
  return lp_intern(cpu->names, s.s, s.n);
}

uint32_t lp_cpu_module(LpCpu *cpu, const LpModule *m)
{
  LpModuleInfo mi = {cpu_name(cpu, m->path), cpu_name(cpu, m->buildid)};
  return lp_intern(&cpu->modules, &mi, sizeof(mi));
}

uint32_t lp_cpu_process(LpCpu *cpu, const LpProcess *p, uint32_t host)
{
  LpProcessInfo pi = {p->pid,
                      p->pidns,
                      p->start,
                      cpu_name(cpu, p->command),
                      cpu_name(cpu, p->cgroup),
                      host,
                      0};
  return lp_intern(&cpu->processes, &pi, sizeof(pi));
}

uint32_t lp_cpu_owner(LpCpu *cpu, const LpProcessInfo *p)
{
  LpProcessInfo pi = *p;
  pi.pidns = 0;
  return lp_intern(&cpu->processes, &pi, sizeof(pi));
}

uint32_t lp_cpu_thread(LpCpu *cpu, const LpThread *t)
{
  LpThreadInfo ti = {t->tid, t->process, cpu_name(cpu, t->name)};
  uint32_t id = lp_intern(&cpu->threads, &ti, sizeof(ti));
  cpu->thread = lp_grow(cpu->thread, &cpu->nthread, (size_t)id + 1,
                        sizeof(cpu->thread[0]));
  return id;
}

void lp_cpu_info(const LpIntern *of, uint32_t id, void *to)
{
  size_t n;
  const char *s = lp_intern_get(of, id, &n);
  memcpy(to, s, n);
}

/* -- Samples and statistics ----------------------------------------------- */

int lp_cpu_sample(LpCpu *cpu, const LpSample *s)
{
  if (s->count > LP_SAMPLES_MAX - cpu->samples)
    return 0;
  cpu->samples += s->count;
  cpu->cut += s->cut ? s->count : 0;
  cpu->thread[s->thread] += s->count;
  return 1;
}

void lp_cpu_add_statistic(LpCpu *cpu, LpStr key, uint64_t value)
{
  uint32_t id = lp_intern(&cpu->keys, key.s, key.n);
  cpu->stat = lp_grow(cpu->stat, &cpu->nstat, (size_t)id + 1, sizeof(uint64_t));
  cpu->stat[id] = lp_sat_add(cpu->stat[id], value);
}

int lp_cpu_find(const LpCpu *cpu, const char *key, uint64_t *value)
{
  uint32_t i;
  for (i = 0; i < cpu->keys.n; i++) {
    size_t n;
    const char *s = lp_intern_get(&cpu->keys, i, &n);
    if (n == strlen(key) && memcmp(s, key, n) == 0) {
      *value = cpu->stat[i];
      return 1;
    }
  }
  return 0;
}

/* Samples whose stack is not whole: from the statistics, if all streams have
** them and all samples are wanted.
*/
uint64_t lp_cpu_truncated(const LpCpu *cpu)
{
  uint64_t complete;
  if (!lp_cpu_find(cpu, "complete", &complete) ||
      cpu->with_stats != cpu->streams || cpu->outside || cpu->others)
    return cpu->cut;
  return complete < cpu->samples ? cpu->samples - complete : 0;
}

void lp_cpu_rate(LpCpu *cpu, uint64_t hz)
{
  if (hz > cpu->fast)
    cpu->fast = hz;
  if (!cpu->slow || hz < cpu->slow)
    cpu->slow = hz;
}

/* Nanoseconds of CPU time that a sample stands for; 0 if that is not known, or
** not the same in all streams.
*/
uint64_t lp_cpu_period(const LpCpu *cpu)
{
  return cpu->fast && cpu->fast == cpu->slow ? 1000000000 / cpu->fast : 0;
}

/* -- Its life ------------------------------------------------------------- */

void lp_cpu_open(LpCpu *cpu, LpIntern *names)
{
  LpModule none = {{"", 0}, {"", 0}};
  LpProcess nobody = {0, 0, 0, {"", 0}, {"", 0}};
  LpThread nowhere = {0, 0, {"", 0}};
  memset(cpu, 0, sizeof(*cpu));
  cpu->names = names;
  lp_cpu_module(cpu, &none);
  lp_cpu_process(cpu, &nobody, cpu_name(cpu, nobody.command));
  lp_cpu_thread(cpu, &nowhere);
}

void lp_cpu_reset(LpCpu *cpu)
{
  if (cpu->nthread)
    memset(cpu->thread, 0, cpu->nthread * sizeof(cpu->thread[0]));
  lp_thread_stacks_free(&cpu->stacks);
  if (cpu->nstat)
    memset(cpu->stat, 0, cpu->nstat * sizeof(cpu->stat[0]));
  cpu->samples = cpu->cut = cpu->expected = cpu->slow = cpu->fast = 0;
  cpu->streams = cpu->with_stats = cpu->lost = cpu->outside = cpu->others = 0;
}

void lp_cpu_close(LpCpu *cpu)
{
  lp_intern_free(&cpu->modules);
  lp_intern_free(&cpu->processes);
  lp_intern_free(&cpu->threads);
  lp_intern_free(&cpu->keys);
  lp_buf_free(&cpu->event);
  free(cpu->thread);
  free(cpu->picked);
  lp_thread_stacks_free(&cpu->stacks);
  free(cpu->stat);
}

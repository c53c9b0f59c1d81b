/*
** The statistics before every text report of a CPU profile: samples taken,
** expected, dropped and truncated.
*/

#include <inttypes.h>
#include <string.h>

#include "printable.h"
#include "text.h"

double lp_text_percent(uint64_t n, uint64_t all)
{
  return all ? 100.0 * (double)n / (double)all : 0;
}

/* "12.34 s" */
static void statistics_seconds(LpOut *out, uint64_t ns)
{
  uint64_t hundredth = ns / 10000000;
  lp_out_printf(out, "%" PRIu64 ".%02" PRIu64 " s", hundredth / 100,
                hundredth % 100);
}

/* The first line: what was sampled, and for how long. */
static void statistics_samples(LpOut *out, const LpCpu *cpu)
{
  uint64_t ns;
  lp_out_printf(out, "Samples: %" PRIu64, cpu->samples);
  if (cpu->event.n) {
    LpBuf b = {0};
    lp_printable(&b, (LpStr){cpu->event.s, cpu->event.n});
    lp_out_printf(out, " of %s", b.s);
    lp_buf_free(&b);
  }
  if (cpu->fast)
    lp_out_printf(out, " at %" PRIu64, cpu->slow);
  if (cpu->fast != cpu->slow)
    lp_out_printf(out, " to %" PRIu64, cpu->fast);
  if (cpu->fast)
    lp_out_puts(out, " Hz");
  if (lp_cpu_find(cpu, "cpu_ns", &ns)) {
    lp_out_puts(out, ", ");
    statistics_seconds(out, ns);
    lp_out_puts(out, " of CPU time");
    if (lp_cpu_find(cpu, "ns", &ns)) {
      lp_out_puts(out, " in ");
      statistics_seconds(out, ns);
    }
  }
  lp_out_puts(out, "\n");
}

/* Lists the statistics whose keys begin with KEY, with BEFORE in front: what
** follows KEY and the number, or with UNIT the number, UNIT and what follows.
** Returns whether there are any.
*/
static int statistics_list(LpOut *out, const LpCpu *cpu, const char *key,
                           const char *before, const char *unit)
{
  size_t n, skip = strlen(key);
  uint32_t i;
  for (i = 0; i < cpu->keys.n; i++) {
    const char *s = lp_intern_get(&cpu->keys, i, &n);
    LpBuf b = {0};
    if (n <= skip || memcmp(s, key, skip) != 0 || !cpu->stat[i])
      continue;
    lp_printable(&b, (LpStr){s + skip, n - skip});
    if (unit)
      lp_out_printf(out, "%s%" PRIu64 "%s%s", before, cpu->stat[i], unit, b.s);
    else
      lp_out_printf(out, "%s%s %" PRIu64, before, b.s, cpu->stat[i]);
    lp_buf_free(&b);
    before = ", ";
  }
  return *before == ',';
}

/* The parts of a number, by reason: keys that begin with KEY. */
static void statistics_reasons(LpOut *out, const LpCpu *cpu, const char *key)
{
  statistics_list(out, cpu, key, ": ", NULL);
  lp_out_puts(out, "\n");
}

/* Files of processes that the sampler did not read: keys with the process. */
static void statistics_refused(LpOut *out, const LpCpu *cpu)
{
  if (statistics_list(out, cpu, "refused_", "Not read: ", " files of process "))
    lp_out_puts(out, "\n");
}

/* Processes whose memory the sampler could not read in time. */
static void statistics_held(LpOut *out, const LpCpu *cpu)
{
  uint64_t n;
  if (lp_cpu_find(cpu, "held_up", &n) && n)
    lp_out_printf(out,
                  "Held up: %" PRIu64 " processes whose memory did not come in "
                  "time; Lua frames of them are missing\n",
                  n);
}

uint64_t lp_text_marked(const LpProfile *prof, uint32_t mark)
{
  const uint32_t *site = prof->origins.calls.site;
  const LpSampled *s = &prof->sampled;
  uint64_t n = 0;
  uint32_t i;
  for (i = 0; i < s->n && i < s->nsamples; i++)
    if (prof->row[site[s->node[i]]].marks & mark)
      n += s->samples[i];
  return n;
}

/* Samples whose innermost function or line is not exact. */
static void statistics_unsure(LpOut *out, const LpProfile *prof)
{
  uint64_t function = lp_text_marked(prof, LJM_SITE_UNSURE);
  uint64_t line = lp_text_marked(prof, LJM_SITE_APPROX);
  uint64_t all = prof->cpu.samples;
  if (function || line)
    lp_out_printf(out,
                  "Unsure: %" PRIu64 " (%.1f%%) function not proven, %" PRIu64
                  " (%.1f%%) line approximate\n",
                  function, lp_text_percent(function, all), line,
                  lp_text_percent(line, all));
}

/* Dropped samples and truncated stacks. */
static void statistics_holes(LpOut *out, const LpProfile *prof)
{
  const LpCpu *cpu = &prof->cpu;
  uint64_t fired = 0, vm = 0, n;
  if ((lp_cpu_find(cpu, "cpu_fired", &fired) ||
       lp_cpu_find(cpu, "fired", &fired)) &&
      cpu->expected)
    lp_out_printf(
        out, "Coverage: %.1f%%, %" PRIu64 " fired of %" PRIu64 " expected\n",
        lp_text_percent(fired, cpu->expected), fired, cpu->expected);
  if (lp_cpu_find(cpu, "dropped", &n)) {
    lp_out_printf(out, "Dropped: %" PRIu64 " (%.1f%%)", n,
                  lp_text_percent(n, fired));
    statistics_reasons(out, cpu, "dropped_");
  }
  n = lp_cpu_truncated(cpu);
  lp_out_printf(out, "Truncated: %" PRIu64 " (%.1f%%)", n,
                lp_text_percent(n, cpu->samples));
  statistics_reasons(out, cpu, "truncated_");
  statistics_refused(out, cpu);
  statistics_held(out, cpu);
  if (lp_cpu_find(cpu, "vm_unnamed", &n) && n && lp_cpu_find(cpu, "vm", &vm))
    lp_out_printf(out,
                  "Not named: %" PRIu64 " (%.1f%%) of %" PRIu64
                  " samples in native code of the VM\n",
                  n, lp_text_percent(n, vm), vm);
  statistics_unsure(out, prof);
}

/* Write the statistics of the samplers, and an empty line. */
static void text_statistics(LpOut *out, const LpProfile *prof)
{
  const LpCpu *cpu = &prof->cpu;
  statistics_samples(out, cpu);
  statistics_holes(out, prof);
  if (cpu->outside)
    lp_out_printf(out, "Outside: %" PRIu64 " samples of other times\n",
                  cpu->outside);
  if (cpu->others)
    lp_out_printf(out, "Others: %" PRIu64 " samples of other processes\n",
                  cpu->others);
  if (cpu->lost)
    lp_out_printf(out, "Lost: %" PRIu64 " records of samples\n", cpu->lost);
  if (cpu->with_stats < cpu->streams)
    lp_out_puts(out,
                "Statistics: missing, so it is unknown what was dropped\n");
  lp_out_puts(out, "\n");
}

/* Whether memory and CPU can be compared, moment by moment. */
static void statistics_joint(LpOut *out, const LpTimeline *t)
{
  const LpSpan *memory = &t->span[0], *cpu = &t->span[1];
  if (lp_timeline_shared(t))
    lp_out_printf(
        out,
        "One time line: memory from %.3f s to %.3f s, CPU from %.3f s "
        "to %.3f s\n\n",
        (double)memory->from / 1e9, (double)memory->to / 1e9,
        (double)cpu->from / 1e9, (double)cpu->to / 1e9);
  else if (lp_timeline_known(t))
    lp_out_puts(out, "Memory and CPU were recorded at different times\n\n");
  else
    lp_out_puts(out, "Whether memory and CPU were recorded at the same time is "
                     "not known\n\n");
}

void lp_text_head(LpOut *out, const LpProfile *prof)
{
  if (lp_profile_joint(prof))
    statistics_joint(out, &prof->timeline);
  lp_text_samples(out, prof);
  if (prof->of & LP_OF_CPU)
    text_statistics(out, prof);
}

/*
** Statistics of a run.
*/

#include "cut.h"
#include "say.h"
#include "statistics.h"

static double percent(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Samples that were dropped, for any reason. */
static uint64_t statistics_dropped(const LsStatistics *b)
{
  return b->dropped_ring + b->dropped_full + b->dropped_busy + b->lost;
}

double ls_statistics_missed(const LsStatistics *b)
{
  return percent(b->fired - b->complete, b->fired);
}

size_t ls_statistics_list(const LsStatistics *b,
                          LsStatistic out[LS_STATISTICS_MAX])
{
  size_t n = 0, i;
  out[n++] = (LsStatistic){"fired", b->fired};
  out[n++] = (LsStatistic){"delivered", b->delivered};
  out[n++] = (LsStatistic){"dropped", statistics_dropped(b)};
  out[n++] = (LsStatistic){"dropped_ring", b->dropped_ring};
  out[n++] = (LsStatistic){"dropped_full", b->dropped_full};
  out[n++] = (LsStatistic){"dropped_busy", b->dropped_busy};
  out[n++] = (LsStatistic){"dropped_lost", b->lost};
  out[n++] = (LsStatistic){ls_cut_key(LJS_CUT_NOT), b->complete};
  for (i = LJS_CUT_NOT + 1; i < LJS_CUT_REASONS; i++)
    out[n++] = (LsStatistic){ls_cut_key(i), b->cut[i]};
  out[n++] = (LsStatistic){"cpu_ns", b->cpu_ns};
  out[n++] = (LsStatistic){"cpu_fired", b->cpu_fired};
  out[n++] = (LsStatistic){"ns", b->ns};
  out[n++] = (LsStatistic){"woken", b->woken};
  out[n++] = (LsStatistic){"vm", b->vm};
  out[n++] = (LsStatistic){"vm_unnamed", b->vm_unnamed};
  out[n++] = (LsStatistic){"vm_blind", b->blind};
  return n;
}

/* Samples that were fired, in percent of those due to the CPU time. */
static double coverage(const LsStatistics *b, double hz)
{
  return 100.0 * (double)b->cpu_fired / ((double)b->cpu_ns / 1e9 * hz);
}

void ls_statistics_say(const LsStatistics *b, double hz)
{
  unsigned long long dropped = statistics_dropped(b);
  unsigned i;
  if (!b->fired) {
    ls_say("no samples in %.1f s: no CPU time was used", (double)b->ns / 1e9);
    return;
  }
  ls_say("%llu samples in %.1f s: %llu delivered, %llu dropped",
         (unsigned long long)b->fired, (double)b->ns / 1e9,
         (unsigned long long)b->delivered, dropped);
  if (b->delivered + dropped != b->fired)
    ls_say("the statistics do not add up: please report this");
  if (dropped)
    ls_say("dropped: %llu no room for a stack, %llu no room to count, "
           "%llu interrupted, %llu stacks lost",
           (unsigned long long)b->dropped_ring,
           (unsigned long long)b->dropped_full,
           (unsigned long long)b->dropped_busy, (unsigned long long)b->lost);
  if (b->cpu_ns && hz > 0)
    ls_say("%.1f%% complete to the root; coverage %.1f%% of %.2f s of CPU time",
           percent(b->complete, b->delivered), coverage(b, hz),
           (double)b->cpu_ns / 1e9);
  else
    ls_say("%.1f%% complete to the root", percent(b->complete, b->delivered));
  if (b->vm_unnamed)
    ls_say("not named: %llu of %llu samples (%.1f%%) in the VM's native code",
           (unsigned long long)b->vm_unnamed, (unsigned long long)b->vm,
           percent(b->vm_unnamed, b->vm));
  if (b->blind)
    ls_say("the collector was not found in a VM: the time that it takes is not "
           "known");
  for (i = LJS_CUT_NOT + 1; i < LJS_CUT_REASONS; i++)
    if (b->cut[i])
      ls_say("cut: %llu (%.1f%%): %s", (unsigned long long)b->cut[i],
             percent(b->cut[i], b->delivered), ls_cut_name(i));
}

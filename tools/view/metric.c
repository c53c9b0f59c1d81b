/*
** Metrics of a stack, a line, a function or a type.
*/

#include <string.h>

#include "part.h"

#define C(counter) (1u << LP_##counter)
/* clang-format off */
#define M(name, key, title, unit, of, wants, plus, minus)                      \
  [LP_METRIC_##name] = {key, title, key "-base", title ", base",               \
                        LP_UNIT_##unit, LP_OF_##of, wants, plus, minus}
/* clang-format on */
const LpMetricInfo lp_metrics[LP_NMETRIC] = {
    M(ALLOCATIONS, "allocations", "allocations", COUNT, MEMORY, 0,
      C(ALLOCS) | C(REALLOCS), 0),
    M(BYTES, "bytes", "bytes allocated", BYTES, MEMORY, 0,
      C(ALLOC_BYTES) | C(REALLOC_BYTES), 0),
    M(REALLOCATIONS, "reallocations", "reallocations", COUNT, MEMORY, 0,
      C(REALLOCS), 0),
    M(DEALLOCATIONS, "deallocations", "deallocations", COUNT, MEMORY, 0,
      C(FREES) | C(MOVES), 0),
    M(FREED, "freed", "bytes freed", BYTES, MEMORY, 0, C(LEFT_BYTES), 0),
    M(LIVE_OBJECTS, "live-objects", "live objects", COUNT, MEMORY, 0,
      C(ALLOCS) | C(REALLOCS), C(FREES) | C(MOVES)),
    M(LIVE, "live", "live bytes", BYTES, MEMORY, 0,
      C(ALLOC_BYTES) | C(REALLOC_BYTES), C(LEFT_BYTES)),
    M(PEAK_OBJECTS, "peak-objects", "objects at peak", COUNT, MEMORY,
      LP_WANT_PEAK, C(PEAK), 0),
    M(PEAK, "peak", "bytes at peak", BYTES, MEMORY, LP_WANT_PEAK, C(PEAK_BYTES),
      0),
    M(LEAKED_OBJECTS, "leaked-objects", "leaked objects", COUNT, MEMORY,
      LP_WANT_YOUNG, C(ALLOCS) | C(REALLOCS), C(FREES) | C(MOVES) | C(YOUNG)),
    M(LEAKED, "leaked", "leaked bytes", BYTES, MEMORY, LP_WANT_YOUNG,
      C(ALLOC_BYTES) | C(REALLOC_BYTES), C(LEFT_BYTES) | C(YOUNG_BYTES)),
    M(TEMPORARY_OBJECTS, "temporary-objects", "temporary objects", COUNT,
      MEMORY, LP_WANT_TEMPORARY, C(TEMPORARY), 0),
    M(TEMPORARY, "temporary", "temporary bytes", BYTES, MEMORY,
      LP_WANT_TEMPORARY, C(TEMPORARY_BYTES), 0),
    M(SAMPLES, "samples", "samples", SAMPLES, CPU, 0, 0, 0),
    M(INTERPRETED, "interpreted", "interpreted", SAMPLES, CPU, 0, 0, 0),
    M(COMPILED, "compiled", "compiled", SAMPLES, CPU, 0, 0, 0),
    M(C, "c", "C code", SAMPLES, CPU, 0, 0, 0),
    M(ALLOC_GC, "alloc-gc", "alloc, GC", SAMPLES, CPU, 0, 0, 0),
    M(JIT, "jit", "JIT", SAMPLES, CPU, 0, 0, 0),
    M(KERNEL, "kernel", "kernel", SAMPLES, CPU, 0, 0, 0),
    M(UNNAMED, "unnamed", "no name", SAMPLES, CPU, 0, 0, 0),
};
#undef M
#undef C

LpMetric lp_metric_find(const char *key)
{
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if (strcmp(lp_metrics[m].key, key) == 0)
      break;
  return m;
}

unsigned lp_metric_wants(unsigned metrics)
{
  unsigned wants = 0;
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if (metrics & LP_METRIC_BIT(m))
      wants |= lp_metrics[m].wants;
  return wants;
}

/* The set of metrics that a profile has. Leaked is the same as live, unless the
** youngest objects are left out.
*/
unsigned lp_metric_counted(const LpProfile *prof)
{
  unsigned counted = prof->wanted.what | LP_WANT_YOUNG, metrics = 0;
  LpMetric m;
  for (m = 0; m < LP_NMETRIC; m++)
    if ((lp_metrics[m].of & prof->of) && !(lp_metrics[m].wants & ~counted))
      metrics |= LP_METRIC_BIT(m);
  if (!lp_luafirst(prof))
    metrics &= ~LP_METRIC_PARTS | LP_METRIC_BIT(LP_METRIC_ALLOC_GC);
  return metrics;
}

unsigned lp_metric_columns(const LpProfile *prof)
{
  unsigned metrics = lp_metric_counted(prof);
  if (!(prof->wanted.what & LP_WANT_YOUNG))
    metrics &= ~(LP_METRIC_BIT(LP_METRIC_LEAKED_OBJECTS) |
                 LP_METRIC_BIT(LP_METRIC_LEAKED));
  return metrics;
}

/* The counters of an origin on one side. */
static LpFigures metric_figures(const LpProfile *prof, LpSide side,
                                uint32_t origin)
{
  LpFigures none;
  if (side == LP_NOW)
    return lp_origins_figures(&prof->origins, origin);
  if (origin < prof->baseline.n)
    return prof->baseline.figures[origin];
  memset(&none, 0, sizeof(none));
  return none;
}

/* Is the metric known of objects older than the recording? Their number is not,
** and none of them is leaked.
*/
int lp_metric_known(const LpProfile *prof, LpSide side, LpMetric metric)
{
  int nobefore = side == LP_NOW ? prof->nobefore : prof->baseline.nobefore;
  switch (metric) {
  case LP_METRIC_LIVE:
  case LP_METRIC_PEAK:
    return !nobefore;
  case LP_METRIC_LIVE_OBJECTS:
  case LP_METRIC_PEAK_OBJECTS:
  case LP_METRIC_LEAKED_OBJECTS:
  case LP_METRIC_LEAKED:
    return 0;
  default:
    return 1;
  }
}

LpValue lp_metric_of(const LpProfile *prof, LpSide side, uint32_t origin,
                     LpMetric metric)
{
  LpFigures f = metric_figures(prof, side, origin);
  const LpMetricInfo *m = &lp_metrics[metric];
  LpValue v = {0, 0};
  int i;
  for (i = 0; i < LP_NCOUNT; i++) {
    if (m->plus & 1u << i) {
      v.n += f.n[i];
      v.part += f.part[i];
    } else if (m->minus & 1u << i) {
      v.n -= f.n[i];
      v.part -= f.part[i];
    }
  }
  if (origin == LP_ORIGIN_BEFORE) {
    if (!lp_metric_known(prof, side, metric))
      return (LpValue){0, 0};
    if (metric == LP_METRIC_LIVE)
      v.n += side == LP_NOW ? prof->base : prof->baseline.base;
  }
  return v;
}

uint64_t lp_metric_samples(const LpProfile *prof, LpSide side, uint32_t stack)
{
  const uint64_t *samples =
      side == LP_NOW ? prof->sampled.samples : prof->baseline.samples;
  size_t n = side == LP_NOW ? prof->sampled.nsamples : prof->baseline.nsamples;
  return stack < n ? samples[stack] : 0;
}

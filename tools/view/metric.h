/*
** Metrics of a stack, a line, a function or a type.
**
** All reports add up the metrics of origins and of samples, so that all of them
** show the same numbers.
*/

#ifndef LP_METRIC_H
#define LP_METRIC_H

#include "profile.h"
#include "side.h"

/* Counts come before bytes, as pprof has them. */
typedef enum LpMetric {
  LP_METRIC_ALLOCATIONS,       /* Reallocations included. */
  LP_METRIC_BYTES,             /* Allocated, by reallocations too. */
  LP_METRIC_REALLOCATIONS,     /* Which are allocations as well. */
  LP_METRIC_DEALLOCATIONS,     /* Of objects of this origin, by any site; */
  LP_METRIC_FREED,             /* their bytes; both with reallocations. */
  LP_METRIC_LIVE_OBJECTS,      /* At the end, */
  LP_METRIC_LIVE,              /* bytes, modulo 2^64. */
  LP_METRIC_PEAK_OBJECTS,      /* At the high-water mark, */
  LP_METRIC_PEAK,              /* bytes, modulo 2^64. */
  LP_METRIC_LEAKED_OBJECTS,    /* Allocated in the recording, live, old, */
  LP_METRIC_LEAKED,            /* bytes, modulo 2^64. */
  LP_METRIC_TEMPORARY_OBJECTS, /* Gone soon after they came, */
  LP_METRIC_TEMPORARY,         /* bytes. */
  LP_METRIC_SAMPLES,           /* Of CPU time, */
  LP_METRIC_INTERPRETED,       /* those in a Lua line itself, */
  LP_METRIC_COMPILED,          /* the same in machine code of a trace, */
  LP_METRIC_C,                 /* in C functions and builtins that it called, */
  LP_METRIC_ALLOC_GC,          /* in allocation and collection, */
  LP_METRIC_JIT,               /* in the JIT compiler, */
  LP_METRIC_KERNEL,            /* in the kernel, */
  LP_METRIC_UNNAMED,           /* in native code without a name. */
  LP_NMETRIC
} LpMetric;

typedef enum LpUnit {
  LP_UNIT_COUNT,
  LP_UNIT_BYTES,
  LP_UNIT_SAMPLES,
  LP_UNIT_NS,
  LP_UNIT_PERCENT,
  LP_UNIT_TEXT
} LpUnit;

typedef struct LpMetricInfo {
  const char *key;   /* For options and programs: "live-objects". */
  const char *title; /* For people: "live objects". */
  const char *base_key, *base_title; /* The same of the baseline's. */
  LpUnit unit;
  unsigned of;    /* LP_OF_*: profiles that have it. */
  unsigned wants; /* LP_WANT_*: what must be counted for it. */
  unsigned plus;  /* Bits of counters that are added up, */
  unsigned minus; /* and of those that are taken off again. */
} LpMetricInfo;

extern const LpMetricInfo lp_metrics[LP_NMETRIC];

#define LP_METRIC_BIT(metric) (1u << (metric))

/* Parts of samples: each sample counts for one of them. */
#define LP_METRIC_PARTS                                                        \
  (LP_METRIC_BIT(LP_METRIC_INTERPRETED) | LP_METRIC_BIT(LP_METRIC_COMPILED) |  \
   LP_METRIC_BIT(LP_METRIC_C) | LP_METRIC_BIT(LP_METRIC_ALLOC_GC) |            \
   LP_METRIC_BIT(LP_METRIC_JIT) | LP_METRIC_BIT(LP_METRIC_KERNEL) |            \
   LP_METRIC_BIT(LP_METRIC_UNNAMED))

/* Those of CPU time: of stacks, not of objects. */
#define LP_METRIC_CPU (LP_METRIC_BIT(LP_METRIC_SAMPLES) | LP_METRIC_PARTS)

/* A number that may be an estimate. */
typedef struct LpValue {
  uint64_t n;
  uint64_t part; /* In 2^-32. */
} LpValue;

/* The metric with this key, or LP_NMETRIC. */
LpMetric lp_metric_find(const char *key);

/* The counters (LP_WANT_*) that a set of metrics needs. */
unsigned lp_metric_wants(unsigned metrics);

/* The set of metrics that a profile has. */
unsigned lp_metric_counted(const LpProfile *prof);

/* As lp_metric_counted, without metrics that repeat others. */
unsigned lp_metric_columns(const LpProfile *prof);

/* A metric of an origin. Bytes may be negative, modulo 2^64. */
LpValue lp_metric_of(const LpProfile *prof, LpSide side, uint32_t origin,
                     LpMetric metric);

/* Is the metric known for objects older than the recording? */
int lp_metric_known(const LpProfile *prof, LpSide side, LpMetric metric);

/* Samples of CPU time of a stack. */
uint64_t lp_metric_samples(const LpProfile *prof, LpSide side, uint32_t stack);

/* Add a number to another. */
static inline void lp_value_add(LpValue *to, LpValue v)
{
  to->n += v.n;
  to->part += v.part;
}

/* The next whole number. */
static inline uint64_t lp_value_round(LpValue v)
{
  return lp_round(v.n, v.part);
}

/* As for qsort: the larger of two numbers, which may be below 0,
** comes first.
*/
static inline int lp_most_first(uint64_t a, uint64_t b)
{
  return ((int64_t)a < (int64_t)b) - ((int64_t)a > (int64_t)b);
}

/* The size of a number modulo 2^64, which may be below 0. */
static inline uint64_t lp_size(uint64_t n)
{
  return (int64_t)n < 0 ? 0 - n : n;
}

#endif

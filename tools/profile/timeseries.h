/*
** A fixed-size time series of allocations, deallocations, live bytes and
** samples.
**
** Steps are equally long, from the start of the recording on. When there are
** more than TIMESERIES_MAX, two by two become one: so memory is bounded,
** however long a recording is, and steps of several streams still fall
** together.
*/

#ifndef LP_TIMESERIES_H
#define LP_TIMESERIES_H

#include <stddef.h>
#include <stdint.h>

#include "weight.h"

#define TIMESERIES_MAX   1024     /* Steps. */
#define TIMESERIES_FIRST 10000000 /* Nanoseconds of a step, at first. */

typedef struct LpStep {
  LpWeight come, gone;   /* Within the step. */
  LpFixed live, highest; /* Bytes at its end; the most within it. */
  uint64_t samples;      /* Of CPU time. */
} LpStep;

typedef struct LpTimeSeries {
  uint64_t width; /* Nanoseconds of a step; 0: there are none yet. */
  size_t n;
  LpStep *step;
  size_t nstep; /* Room. */
} LpTimeSeries;

/* Add what happened at NS nanoseconds. NS never decreases. */
void lp_timeseries_add(LpTimeSeries *c, uint64_t ns, const LpStep *s);

/* Distribute SAMPLES evenly over the steps between FROM and TO, in
** nanoseconds.
*/
void lp_timeseries_spread(LpTimeSeries *c, uint64_t from, uint64_t to,
                          uint64_t samples);

/* Move all steps NS nanoseconds later, rounded to a step. */
void lp_timeseries_shift(LpTimeSeries *c, uint64_t ns);

/* Add BASE live bytes to every step. */
void lp_timeseries_raise(LpTimeSeries *c, uint64_t base);

/* Add the series of another stream. After its last step its live bytes stay.
** OTHER is freed.
*/
void lp_timeseries_join(LpTimeSeries *c, LpTimeSeries *other);

/* A copy, which the caller frees. */
LpTimeSeries lp_timeseries_copy(const LpTimeSeries *c);

/* Free the memory. The series is empty then. */
void lp_timeseries_free(LpTimeSeries *c);

#endif

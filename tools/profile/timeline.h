/*
** Places recordings of one machine on one time line.
**
** A recording contains two clocks of its start. Where their difference, which
** is when the machine was booted, is the same in two recordings, their times
** can be compared; any other recording begins at 0.
*/

#ifndef LP_TIMELINE_H
#define LP_TIMELINE_H

#include <stdint.h>

/* When a recording began, in nanoseconds; 0: unknown. */
typedef struct LpClock {
  uint64_t realtime, monotonic;
} LpClock;

/* When recordings of a kind took place, in nanoseconds of the time line. */
typedef struct LpSpan {
  uint64_t from, to; /* None did, if both are 0. */
} LpSpan;

typedef struct LpTimeline {
  LpClock zero;   /* Time 0; unset before the first recording. */
  LpSpan span[2]; /* Of memory, of the CPU. */
  uint64_t n;     /* Recordings, */
  uint64_t apart; /* those whose times cannot be compared with the first. */
} LpTimeline;

/* Add a recording. Returns its start on the time line, in nanoseconds. All
** times recorded before must be moved by *MOVED nanoseconds first.
*/
uint64_t lp_timeline_add(LpTimeline *t, const LpClock *c, uint64_t *moved);

/* A recording, of the CPU or of memory, lasted FROM to TO, in nanoseconds. */
void lp_timeline_span(LpTimeline *t, int cpu, uint64_t from, uint64_t to);

/* Is it known when both memory and CPU were recorded? */
int lp_timeline_known(const LpTimeline *t);

/* Do memory and CPU recordings overlap in time? */
int lp_timeline_shared(const LpTimeline *t);

#endif

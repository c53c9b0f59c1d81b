/*
** Statistics of a run: how many samples were delivered, dropped and cut.
*/

#ifndef LS_STATISTICS_H
#define LS_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include "ljs.h"
#include "stream.h"

/* fired = delivered + dropped, exactly. */
typedef struct LsStatistics {
  uint64_t fired, delivered, dropped_ring, dropped_full, dropped_busy;
  uint64_t lost;     /* Counted, but without a stack. */
  uint64_t complete; /* Delivered, from the leaf to the root. */
  uint64_t cut[LJS_CUT_REASONS];
  uint64_t cpu_ns;    /* CPU time that the processes used, */
  uint64_t cpu_fired; /* and samples, when that was read the last time. */
  uint64_t ns;
  uint64_t woken; /* Samples that woke the sampler, at the target's cost. */
  uint64_t vm;    /* Delivered with a leaf in a VM's native code, */
  uint64_t vm_unnamed; /* and of these, without a name. */
  uint64_t blind;      /* With a frame of a VM whose collector is not known. */
} LsStatistics;

#define LS_STATISTICS_MAX 32 /* Pairs in a stream, at most. */

/* Samples that were dropped or do not reach the root, in percent of those
** fired; 0 without samples.
*/
double ls_statistics_missed(const LsStatistics *b);

/* The statistics as pairs for a stream, with static keys. Returns their
** number.
*/
size_t ls_statistics_list(const LsStatistics *b,
                          LsStatistic out[LS_STATISTICS_MAX]);

/* Print them as messages. HZ is the rate of samples per second of CPU time; 0
** if CPU time does not determine it.
*/
void ls_statistics_say(const LsStatistics *b, double hz);

#endif

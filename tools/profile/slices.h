/*
** What happened in equal steps of time, by number: of origins, or of stacks.
**
** Steps are as those of a time series, but fewer: each has a list of all that
** something happened to within it. When there are too many steps or entries,
** two by two become one, so memory is bounded; the sums never change.
*/

#ifndef LP_SLICES_H
#define LP_SLICES_H

#include <stddef.h>
#include <stdint.h>

#define SLICES_MAX  256        /* Steps. */
#define SLICES_MOST (1u << 19) /* Entries of all steps, and */
#define SLICES_EACH 3          /* for each id that there is. */

/* Counters of an entry: of origins all, of stacks the first: samples. */
enum {
  LP_SLICE_BIRTHS, /* Objects that came, reallocations included, */
  LP_SLICE_BYTES,  /* their sizes; */
  LP_SLICE_DEATHS, /* objects of this origin that went, */
  LP_SLICE_FREED,  /* their sizes. */
  LP_NSLICE,
  LP_SLICE_SAMPLES = 0
};

typedef struct LpSlice {
  uint64_t n[LP_NSLICE];
  uint32_t id;
} LpSlice;

/* One step. */
typedef struct LpSliceStep {
  LpSlice *list; /* In no order, an id maybe more than once. */
  size_t n;
  size_t room;
} LpSliceStep;

typedef struct LpSlices {
  uint64_t width; /* Nanoseconds of a step; 0: there are none yet. */
  size_t n;       /* Steps. */
  size_t entries; /* Of all steps. */
  size_t ids;     /* The largest id, and 1. */
  int full;       /* Too many for one step: nothing is kept. */
  LpSliceStep step[SLICES_MAX];
} LpSlices;

/* Counters that grow, of one stream: what they were before they changed for the
** first time in a step.
*/
typedef struct LpSlicer {
  LpSlices slices;
  uint32_t epoch; /* The current step, from 1 on. */
  uint32_t *seen; /* By id: the last step in which it changed, */
  size_t nseen;   /* for so many. */
  LpSlice *touched;
  size_t ntouched;
  size_t room;
} LpSlicer;

/* Add to the counters of ID at NS nanoseconds. */
void lp_slices_add(LpSlices *s, uint64_t ns, uint32_t id,
                   const uint64_t n[LP_NSLICE]);

/* Distribute SAMPLES of ID over the steps between FROM and TO, in
** nanoseconds.
*/
void lp_slices_spread(LpSlices *s, uint64_t from, uint64_t to, uint32_t id,
                      uint64_t samples);

/* Move all steps NS nanoseconds later, rounded to a step. */
void lp_slices_shift(LpSlices *s, uint64_t ns);

/* Add the steps of another stream. OTHER is freed. */
void lp_slices_join(LpSlices *s, LpSlices *other);

/* Sort the entries of each step by id, and make those of an id one. */
void lp_slices_sort(LpSlices *s);

/* Free the memory. There are no steps then. */
void lp_slices_free(LpSlices *s);

/* ID has these counters before they change. To be called if lp_slicer_known is
** 0.
*/
void lp_slicer_touch(LpSlicer *s, uint32_t id, const uint64_t n[LP_NSLICE]);

/* Has ID changed in this step? */
static inline int lp_slicer_known(const LpSlicer *s, uint32_t id)
{
  return id < s->nseen && s->seen[id] == s->epoch + 1;
}

/* Free the memory. */
void lp_slicer_free(LpSlicer *s);

#endif

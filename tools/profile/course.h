/*
** The course of things: what came, went and was live, step by step.
**
** Steps are equally long, from the start of the recording on. When there are
** more than COURSE_MAX, two by two become one: so memory is bounded, however
** long a recording is, and steps of several streams still fall together.
*/

#ifndef LP_COURSE_H
#define LP_COURSE_H

#include <stddef.h>
#include <stdint.h>

#include "weight.h"

#define COURSE_MAX   1024     /* Steps. */
#define COURSE_FIRST 10000000 /* Nanoseconds of a step, at first. */

typedef struct LpStep {
  LpWeight come, gone;   /* Within the step. */
  LpFixed live, highest; /* Bytes at its end; the most within it. */
  uint64_t samples;      /* Of CPU time. */
} LpStep;

typedef struct LpCourse {
  uint64_t width; /* Nanoseconds of a step; 0: there are none yet. */
  size_t n;
  LpStep *step;
  size_t nstep; /* Room. */
} LpCourse;

void lp_course_add(LpCourse *c, uint64_t ns, const LpStep *s);
void lp_course_spread(LpCourse *c, uint64_t from, uint64_t to,
                      uint64_t samples);
void lp_course_shift(LpCourse *c, uint64_t ns);
void lp_course_raise(LpCourse *c, uint64_t base);
void lp_course_join(LpCourse *c, LpCourse *other);
LpCourse lp_course_copy(const LpCourse *c);
void lp_course_free(LpCourse *c);

#endif

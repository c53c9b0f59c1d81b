/*
** The course of things: what came, went and was live, step by step.
*/

#include <stdlib.h>
#include <string.h>

#include "course.h"
#include "mem.h"

/* One step more happens within A, behind what it has. */
static void course_append(LpStep *a, const LpStep *b)
{
  lp_weight_add(&a->come, &b->come);
  lp_weight_add(&a->gone, &b->gone);
  a->live = b->live;
  a->highest = a->highest > b->highest ? a->highest : b->highest;
  a->samples += b->samples;
}

/* Steps twice as long. */
static void course_halve(LpCourse *c)
{
  size_t i;
  for (i = 0; i < c->n; i++) {
    if (i % 2)
      course_append(&c->step[i / 2], &c->step[i]);
    else
      c->step[i / 2] = c->step[i];
  }
  c->n = (c->n + 1) / 2;
  c->width *= 2;
}

/* Have at least N steps: in new ones nothing happens. */
static void course_extend(LpCourse *c, size_t n)
{
  c->step = lp_grow(c->step, &c->nstep, n, sizeof(LpStep));
  for (; c->n < n; c->n++) {
    LpFixed live = c->n ? c->step[c->n - 1].live : 0;
    c->step[c->n] = (LpStep){.live = live, .highest = live};
  }
}

/* What happened from NS on, a short time. Time does not go back. */
void lp_course_add(LpCourse *c, uint64_t ns, const LpStep *s)
{
  if (!c->width)
    c->width = COURSE_FIRST;
  while (ns / c->width >= COURSE_MAX)
    course_halve(c);
  course_extend(c, (size_t)(ns / c->width) + 1);
  course_append(&c->step[c->n - 1], s);
}

/* Samples were taken at some time between FROM and TO: each step has its share
** of them.
*/
void lp_course_spread(LpCourse *c, uint64_t from, uint64_t to, uint64_t samples)
{
  LpStep none = {0};
  uint64_t span, told = 0, i;
  if (to)
    to--; /* That is where the next ones begin. */
  if (from > to)
    from = to;
  span = to - from + 1;
  lp_course_add(c, to, &none);
  for (i = from / c->width; i <= to / c->width; i++) {
    uint64_t part = (i + 1) * c->width - from, by;
    if (part > span)
      part = span;
    by = (uint64_t)((unsigned __int128)samples * part / span);
    c->step[i].samples += by - told;
    told = by;
  }
}

/* All of it begins NS later: to the nearest step. */
void lp_course_shift(LpCourse *c, uint64_t ns)
{
  size_t by, n;
  if (!c->n || !ns)
    return;
  while (ns / c->width + c->n >= COURSE_MAX)
    course_halve(c);
  n = c->n;
  by = (size_t)(ns / c->width + (ns % c->width >= c->width / 2));
  course_extend(c, n + by);
  memmove(c->step + by, c->step, n * sizeof(LpStep));
  memset(c->step, 0, by * sizeof(LpStep));
}

/* BASE bytes more were live all the time. */
void lp_course_raise(LpCourse *c, uint64_t base)
{
  size_t i;
  for (i = 0; i < c->n; i++) {
    c->step[i].live += (LpFixed)base << 32;
    c->step[i].highest += (LpFixed)base << 32;
  }
}

/* Add the course of another stream; where it was over, what it left is live.
** OTHER is given back.
*/
void lp_course_join(LpCourse *c, LpCourse *other)
{
  size_t i;
  if (!c->width)
    c->width = other->width;
  while (c->width < other->width)
    course_halve(c);
  while (other->width && other->width < c->width)
    course_halve(other);
  course_extend(c, other->n);
  course_extend(other, c->n);
  for (i = 0; i < c->n; i++) {
    LpStep *to = &c->step[i], *s = &other->step[i];
    lp_weight_add(&to->come, &s->come);
    lp_weight_add(&to->gone, &s->gone);
    to->live += s->live;
    to->highest += s->highest;
    to->samples += s->samples;
  }
  lp_course_free(other);
}

/* The same again. */
LpCourse lp_course_copy(const LpCourse *c)
{
  LpCourse copy = {.width = c->width};
  course_extend(&copy, c->n);
  if (c->n)
    memcpy(copy.step, c->step, c->n * sizeof(LpStep));
  return copy;
}

/* Give the memory back. */
void lp_course_free(LpCourse *c)
{
  free(c->step);
  memset(c, 0, sizeof(*c));
}

/*
** A fixed-size time series of allocations, deallocations, live bytes and
** samples.
*/

#include <stdlib.h>
#include <string.h>

#include "timeseries.h"
#include "mem.h"

/* One step more happens within A, behind what it has. */
static void timeseries_append(LpStep *a, const LpStep *b)
{
  lp_weight_add(&a->come, &b->come);
  lp_weight_add(&a->gone, &b->gone);
  a->live = b->live;
  a->highest = a->highest > b->highest ? a->highest : b->highest;
  a->samples += b->samples;
}

/* Steps twice as long. */
static void timeseries_halve(LpTimeSeries *c)
{
  size_t i;
  for (i = 0; i < c->n; i++) {
    if (i % 2)
      timeseries_append(&c->step[i / 2], &c->step[i]);
    else
      c->step[i / 2] = c->step[i];
  }
  c->n = (c->n + 1) / 2;
  c->width *= 2;
}

/* Have at least N steps: in new ones nothing happens. */
static void timeseries_extend(LpTimeSeries *c, size_t n)
{
  c->step = lp_grow(c->step, &c->nstep, n, sizeof(LpStep));
  for (; c->n < n; c->n++) {
    LpFixed live = c->n ? c->step[c->n - 1].live : 0;
    c->step[c->n] = (LpStep){.live = live, .highest = live};
  }
}

void lp_timeseries_add(LpTimeSeries *c, uint64_t ns, const LpStep *s)
{
  if (!c->width)
    c->width = TIMESERIES_FIRST;
  while (ns / c->width >= TIMESERIES_MAX)
    timeseries_halve(c);
  timeseries_extend(c, (size_t)(ns / c->width) + 1);
  timeseries_append(&c->step[c->n - 1], s);
}

/* Samples were taken at some time between FROM and TO: each step has its share
** of them.
*/
void lp_timeseries_spread(LpTimeSeries *c, uint64_t from, uint64_t to,
                          uint64_t samples)
{
  LpStep none = {0};
  uint64_t span, done = 0, i;
  if (to)
    to--; /* That is where the next ones begin. */
  if (from > to)
    from = to;
  span = to - from + 1;
  lp_timeseries_add(c, to, &none);
  for (i = from / c->width; i <= to / c->width; i++) {
    uint64_t part = (i + 1) * c->width - from, by;
    if (part > span)
      part = span;
    by = (uint64_t)((unsigned __int128)samples * part / span);
    c->step[i].samples += by - done;
    done = by;
  }
}

void lp_timeseries_shift(LpTimeSeries *c, uint64_t ns)
{
  size_t by, n;
  if (!c->n || !ns)
    return;
  while (ns / c->width + c->n >= TIMESERIES_MAX)
    timeseries_halve(c);
  n = c->n;
  by = (size_t)(ns / c->width + (ns % c->width >= c->width / 2));
  timeseries_extend(c, n + by);
  memmove(c->step + by, c->step, n * sizeof(LpStep));
  memset(c->step, 0, by * sizeof(LpStep));
}

void lp_timeseries_raise(LpTimeSeries *c, uint64_t base)
{
  size_t i;
  for (i = 0; i < c->n; i++) {
    c->step[i].live += (LpFixed)base << 32;
    c->step[i].highest += (LpFixed)base << 32;
  }
}

/* Add the series of another stream; after its end, what it left is live. OTHER
** is freed.
*/
void lp_timeseries_join(LpTimeSeries *c, LpTimeSeries *other)
{
  size_t i;
  if (!c->width)
    c->width = other->width;
  while (c->width < other->width)
    timeseries_halve(c);
  while (other->width && other->width < c->width)
    timeseries_halve(other);
  timeseries_extend(c, other->n);
  timeseries_extend(other, c->n);
  for (i = 0; i < c->n; i++) {
    LpStep *to = &c->step[i], *s = &other->step[i];
    lp_weight_add(&to->come, &s->come);
    lp_weight_add(&to->gone, &s->gone);
    to->live += s->live;
    to->highest += s->highest;
    to->samples += s->samples;
  }
  lp_timeseries_free(other);
}

LpTimeSeries lp_timeseries_copy(const LpTimeSeries *c)
{
  LpTimeSeries copy = {.width = c->width};
  timeseries_extend(&copy, c->n);
  if (c->n)
    memcpy(copy.step, c->step, c->n * sizeof(LpStep));
  return copy;
}

void lp_timeseries_free(LpTimeSeries *c)
{
  free(c->step);
  memset(c, 0, sizeof(*c));
}

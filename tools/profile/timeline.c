/*
** Places recordings of one machine on one time line.
*/

#include "timeline.h"

#define TIMELINE_NEAR 1000000000 /* Clocks of one machine may drift so far. */

/* Are two clocks of one machine that was not rebooted in between? */
static int timeline_same(const LpClock *a, const LpClock *b)
{
  int64_t booted = (int64_t)(a->realtime - a->monotonic);
  int64_t other = (int64_t)(b->realtime - b->monotonic);
  uint64_t diff = booted > other ? (uint64_t)booted - (uint64_t)other
                                 : (uint64_t)other - (uint64_t)booted;
  return a->realtime && a->monotonic && b->realtime && b->monotonic &&
         diff <= TIMELINE_NEAR;
}

/* Add a recording. Returns where on the time line it begins; all that is there
** already must be moved by *MOVED first.
*/
uint64_t lp_timeline_add(LpTimeline *t, const LpClock *c, uint64_t *moved)
{
  int i;
  *moved = 0;
  if (!t->n++) {
    t->zero = *c;
    return 0;
  }
  if (!timeline_same(&t->zero, c)) {
    t->apart++;
    return 0;
  }
  if (c->monotonic >= t->zero.monotonic)
    return c->monotonic - t->zero.monotonic;
  *moved = t->zero.monotonic - c->monotonic;
  for (i = 0; i < 2; i++) {
    t->span[i].from += t->span[i].to ? *moved : 0;
    t->span[i].to += t->span[i].to ? *moved : 0;
  }
  t->zero = *c;
  return 0;
}

void lp_timeline_span(LpTimeline *t, int cpu, uint64_t from, uint64_t to)
{
  LpSpan *s = &t->span[cpu != 0];
  if (!s->to || from < s->from)
    s->from = from;
  if (to > s->to)
    s->to = to;
}

/* Is it known when both, memory and CPU, were recorded? Of a recording of which
** nothing could be read it is not.
*/
int lp_timeline_known(const LpTimeline *t)
{
  const LpSpan *a = &t->span[0], *b = &t->span[1];
  return !t->apart && a->from < a->to && b->from < b->to;
}

int lp_timeline_shared(const LpTimeline *t)
{
  const LpSpan *a = &t->span[0], *b = &t->span[1];
  return !t->apart && a->from < b->to && b->from < a->to;
}

/*
** What happened in equal steps of time, by number.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "slices.h"
#include "timeseries.h"

/* -- Steps ---------------------------------------------------------------- */

/* By id. */
static int slices_before(const void *a, const void *b)
{
  uint32_t x = ((const LpSlice *)a)->id, y = ((const LpSlice *)b)->id;
  return x < y ? -1 : x > y;
}

/* Sort the entries of a step. Returns how many are gone, as those of an id
** became one.
*/
static size_t slices_sort_step(LpSliceStep *t)
{
  size_t i, to = 0, had = t->n;
  int k;
  if (t->n > 1)
    qsort(t->list, t->n, sizeof(LpSlice), slices_before);
  for (i = 0; i < t->n; i++) {
    if (to && t->list[to - 1].id == t->list[i].id)
      for (k = 0; k < LP_NSLICE; k++)
        t->list[to - 1].n[k] += t->list[i].n[k];
    else
      t->list[to++] = t->list[i];
  }
  t->n = to;
  return had - to;
}

void lp_slices_sort(LpSlices *s)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    s->entries -= slices_sort_step(&s->step[i]);
}

/* An entry at the end of a step. */
static void slices_append(LpSliceStep *t, const LpSlice *e)
{
  t->list = lp_grow(t->list, &t->room, t->n + 1, sizeof(LpSlice));
  t->list[t->n++] = *e;
}

/* All entries of a step FROM, which is freed, at the end of the step TO. */
static void slices_move(LpSliceStep *to, LpSliceStep *from)
{
  size_t i;
  if (!to->n) {
    LpSliceStep none = *to;
    *to = *from;
    *from = none;
  }
  for (i = 0; i < from->n; i++)
    slices_append(to, &from->list[i]);
  free(from->list);
  memset(from, 0, sizeof(*from));
}

/* Steps twice as long. */
static void slices_halve(LpSlices *s)
{
  size_t i;
  for (i = 1; i < s->n; i++)
    slices_move(&s->step[i / 2], &s->step[i]);
  s->n = (s->n + 1) / 2;
  s->width *= 2;
}

/* There are too many entries: longer steps have fewer. */
static void slices_bound(LpSlices *s)
{
  size_t most = SLICES_MOST + SLICES_EACH * s->ids;
  if (s->entries < most)
    return;
  lp_slices_sort(s);
  while (s->entries > most / 2 && s->n > 1) {
    slices_halve(s);
    lp_slices_sort(s);
  }
  if (s->entries > most / 2) {
    lp_slices_free(s);
    s->full = 1;
  }
}

/* Have a step at NS nanoseconds. Returns its number. */
static size_t slices_reach(LpSlices *s, uint64_t ns)
{
  size_t i;
  if (!s->width)
    s->width = TIMESERIES_FIRST;
  while (ns / s->width >= SLICES_MAX)
    slices_halve(s);
  i = (size_t)(ns / s->width);
  if (s->n <= i)
    s->n = i + 1;
  return i;
}

void lp_slices_add(LpSlices *s, uint64_t ns, uint32_t id,
                   const uint64_t n[LP_NSLICE])
{
  LpSlice e = {.id = id};
  if (s->full)
    return;
  memcpy(e.n, n, sizeof(e.n));
  slices_append(&s->step[slices_reach(s, ns)], &e);
  s->entries++;
  s->ids = s->ids > id ? s->ids : id + 1u;
  slices_bound(s);
}

/* Each step has its share. Where that is less than one sample, other ids have
** theirs in other steps: a share is rounded up from a limit that differs by id.
*/
void lp_slices_spread(LpSlices *s, uint64_t from, uint64_t to, uint32_t id,
                      uint64_t samples)
{
  uint64_t limit = (uint32_t)(id * 2654435769u), n[LP_NSLICE] = {0}, done = 0;
  uint64_t width, at, span;
  if (s->full || !samples)
    return;
  to -= to > 0; /* That is where the next ones begin. */
  from = from < to ? from : to;
  span = to - from + 1;
  slices_reach(s, to);
  width = s->width;
  for (at = from; done < samples; at = (at / width + 1) * width) {
    uint64_t left = width - at % width, end = at + left, by = samples;
    if (at <= to && left <= to - at) /* This step is not the last one. */
      by = (uint64_t)(((unsigned __int128)samples * (end - from) +
                       (((unsigned __int128)span * limit) >> 32)) /
                      span);
    n[LP_SLICE_SAMPLES] = by - done;
    if (by > done)
      lp_slices_add(s, at, id, n);
    done = by;
  }
}

void lp_slices_shift(LpSlices *s, uint64_t ns)
{
  size_t by;
  if (!s->n || !ns)
    return;
  while (ns / s->width + s->n >= SLICES_MAX)
    slices_halve(s);
  by = (size_t)(ns / s->width + (ns % s->width >= s->width / 2));
  memmove(s->step + by, s->step, s->n * sizeof(LpSliceStep));
  memset(s->step, 0, by * sizeof(LpSliceStep));
  s->n += by;
}

void lp_slices_join(LpSlices *s, LpSlices *other)
{
  size_t i;
  int full = s->full || other->full;
  if (!full && other->n) {
    if (!s->width)
      s->width = other->width;
    while (s->width < other->width)
      slices_halve(s);
    while (other->width < s->width)
      slices_halve(other);
    for (i = 0; i < other->n; i++)
      slices_move(&s->step[i], &other->step[i]);
    s->n = s->n > other->n ? s->n : other->n;
    s->entries += other->entries;
    s->ids = s->ids > other->ids ? s->ids : other->ids;
    slices_bound(s);
  } else if (full) {
    lp_slices_free(s);
    s->full = 1;
  }
  lp_slices_free(other);
}

void lp_slices_free(LpSlices *s)
{
  size_t i;
  for (i = 0; i < s->n; i++)
    free(s->step[i].list);
  memset(s, 0, sizeof(*s));
}

/* -- A stream ------------------------------------------------------------- */

void lp_slicer_touch(LpSlicer *s, uint32_t id, const uint64_t n[LP_NSLICE])
{
  s->seen = lp_grow(s->seen, &s->nseen, (size_t)id + 1, sizeof(uint32_t));
  s->seen[id] = s->epoch + 1;
  s->touched = lp_grow(s->touched, &s->room, s->ntouched + 1, sizeof(LpSlice));
  memcpy(s->touched[s->ntouched].n, n, sizeof(s->touched->n));
  s->touched[s->ntouched++].id = id;
}

void lp_slicer_free(LpSlicer *s)
{
  lp_slices_free(&s->slices);
  free(s->seen);
  free(s->touched);
  memset(s, 0, sizeof(*s));
}

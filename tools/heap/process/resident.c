/*
** Pages by address. The bytes below each run are summed up, so that a block of
** any size takes two searches.
*/

#include <stdlib.h>
#include <string.h>

#include "leb.h"
#include "mem.h"
#include "resident.h"

void lp_resident_add(LpResident *r, uint64_t addr, uint64_t size, int resident)
{
  LpRun *last = r->n ? &r->run[r->n - 1] : NULL;
  if (r->sealed || !size)
    return;
  if (last && last->to == addr && last->resident == resident) {
    last->to = lp_sat_add(addr, size);
    return;
  }
  r->run = lp_grow(r->run, &r->cap, r->n + 1, sizeof(*r->run));
  r->run[r->n++] =
      (LpRun){.from = addr, .to = lp_sat_add(addr, size), .resident = resident};
}

/* For qsort: by address. */
static int run_compare(const void *a, const void *b)
{
  const LpRun *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

void lp_resident_seal(LpResident *r)
{
  uint64_t end = 0;
  size_t i, n = 0;
  if (r->sealed)
    return;
  r->sealed = 1;
  if (r->n)
    qsort(r->run, r->n, sizeof(*r->run), run_compare);
  for (i = 0; i < r->n; i++) {
    LpRun run = r->run[i];
    run.from = run.from > end ? run.from : end; /* Each page counts once. */
    if (run.from >= run.to)
      continue;
    end = run.to;
    run.below = r->all.bytes;
    run.there = r->all.resident;
    r->run[n++] = run;
    r->all.bytes += run.to - run.from;
    r->all.resident += run.resident ? run.to - run.from : 0;
  }
  r->n = n;
}

/* The number of runs that begin at an address or before. */
static size_t resident_runs(const LpResident *r, uint64_t addr)
{
  size_t low = 0, high = r->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (r->run[mid].from <= addr)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* How much is below an address, before which N runs begin. */
static LpPresence resident_below(const LpResident *r, uint64_t addr, size_t n)
{
  const LpRun *run;
  uint64_t in;
  if (!n)
    return (LpPresence){0, 0};
  run = &r->run[n - 1];
  in = (addr < run->to ? addr : run->to) - run->from;
  return (LpPresence){run->below + in, run->there + (run->resident ? in : 0)};
}

LpPresence lp_resident_block(LpResident *r, uint64_t addr, uint64_t size)
{
  uint64_t to = lp_sat_add(addr, size);
  LpPresence low, high;
  const LpRun *run;
  size_t n;
  if (!r->n)
    return (LpPresence){0, 0};
  run = &r->run[r->last];
  if (addr >= run->from && to <= run->to)
    return (LpPresence){to - addr, run->resident ? to - addr : 0};
  n = resident_runs(r, addr);
  r->last = n ? n - 1 : 0;
  low = resident_below(r, addr, n);
  high = resident_below(r, to, resident_runs(r, to));
  return (LpPresence){high.bytes - low.bytes, high.resident - low.resident};
}

void lp_resident_free(LpResident *r)
{
  free(r->run);
  memset(r, 0, sizeof(*r));
}

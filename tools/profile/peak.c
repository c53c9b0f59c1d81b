/*
** The high-water mark of a stream: what every origin held when most bytes were
** live.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "peak.h"

/* The peak's bytes, among those that are counted beside. */
#define PEAK_BYTES (LP_PEAK_BYTES - LP_NCELL)

/* The bytes of an origin at the peak. */
static LpFixed peak_bytes(const LpExtra *e)
{
  return ((LpFixed)e->n[PEAK_BYTES] << 32) + (int64_t)e->part[PEAK_BYTES];
}

/* Begin a stream. What origins hold of streams before it is taken off here, and
** is among what they hold at this stream's mark.
*/
void lp_peak_open(LpPeak *p, LpOrigins *o)
{
  uint32_t i;
  memset(p, 0, sizeof(*p));
  p->rising = 1;
  lp_origins_extra(o);
  p->before = peak_bytes(&o->extra[LP_ORIGIN_BEFORE]);
  for (i = 0; i < o->n; i++) {
    LpWeight held = lp_origins_live(o, i), none = {0, 0, 0, 0};
    lp_weight_sub(&none, &held);
    lp_origins_beside(o, i, LP_PEAK, LP_PEAK_BYTES, &none);
  }
}

void lp_peak_keep(LpPeak *p, const LpOrigins *o, uint32_t origin)
{
  p->seen = lp_grow(p->seen, &p->nseen, (size_t)origin + 1, sizeof(uint64_t));
  p->kept = lp_grow(p->kept, &p->nkept, p->nseen, sizeof(LpWeight));
  p->seen[origin] = p->epoch;
  p->kept[origin] = lp_origins_live(o, origin);
}

/* What an origin held at the mark. Nothing has changed since one that is not
** final.
*/
static LpWeight peak_held(const LpPeak *p, const LpOrigins *o, uint32_t origin)
{
  if (origin < p->nseen && !p->rising && p->seen[origin] == p->epoch)
    return p->kept[origin];
  return lp_origins_live(o, origin);
}

/* Bring the peak up to date: what was held at this stream's mark is a part of
** it. *BASE is what was live when it began, BASE is NULL if that is unknown.
** Returns the bytes live at the mark.
*/
uint64_t lp_peak_finalize(LpPeak *p, LpOrigins *o, const uint64_t *base)
{
  LpFixed high = p->high;
  LpExtra *before;
  uint32_t i;
  lp_origins_extra(o);
  for (i = 0; i < o->n; i++) {
    LpWeight held = peak_held(p, o, i);
    lp_origins_beside(o, i, LP_PEAK, LP_PEAK_BYTES, &held);
  }
  before = &o->extra[LP_ORIGIN_BEFORE];
  high += base ? (LpFixed)*base << 32 : p->before - peak_bytes(before);
  p->base = base ? *base : 0;
  before->n[PEAK_BYTES] += p->base;
  return lp_fixed_round(high);
}

void lp_peak_resume(LpPeak *p, LpOrigins *o)
{
  uint32_t i;
  for (i = 0; i < o->n; i++) {
    LpWeight held = peak_held(p, o, i), less = {0, 0, 0, 0};
    lp_weight_sub(&less, &held);
    lp_origins_beside(o, i, LP_PEAK, LP_PEAK_BYTES, &less);
  }
  o->extra[LP_ORIGIN_BEFORE].n[PEAK_BYTES] -= p->base;
}

void lp_peak_close(LpPeak *p)
{
  free(p->seen);
  free(p->kept);
}

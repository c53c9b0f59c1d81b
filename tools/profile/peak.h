/*
** The high-water mark of a stream: what every origin held when most bytes were
** live.
**
** A mark is final only when the heap shrinks from it: until then all that comes
** is part of it. Then an epoch begins, and before an origin's counters change
** for the first time in an epoch, what it holds is kept. So a mark costs
** nothing but a number, whatever the number of origins, and at the end those
** that were not kept in the last epoch hold now what they held then.
*/

#ifndef LP_PEAK_H
#define LP_PEAK_H

#include "origin.h"
#include "weight.h"

typedef struct LpPeak {
  LpFixed high;   /* Most bytes live, less those at the start. */
  uint64_t ns;    /* When that was. */
  int rising;     /* That is now: the mark is not final. */
  uint64_t base;  /* What was live when the stream began, if finalized. */
  LpFixed before; /* What (before start) held at other streams' peaks. */
  uint64_t epoch;
  uint64_t *seen; /* By origin: the epoch that it was kept in, */
  size_t nseen;
  LpWeight *kept; /* and what it held. */
  size_t nkept;
} LpPeak;

/* Start a stream. Objects of earlier streams are excluded from its peak. */
void lp_peak_open(LpPeak *p, LpOrigins *o);

/* Save the live counters of an origin before they change. */
void lp_peak_keep(LpPeak *p, const LpOrigins *o, uint32_t origin);

/* Add the peak of this stream to the extra counters of all origins. *BASE is
** the bytes live at its start; NULL if unknown. Returns the bytes live at the
** peak, *BASE included.
*/
uint64_t lp_peak_finalize(LpPeak *p, LpOrigins *o, const uint64_t *base);

/* Undo lp_peak_finalize before more events are counted. */
void lp_peak_resume(LpPeak *p, LpOrigins *o);

/* Free the memory. */
void lp_peak_close(LpPeak *p);

/* An event begins that makes the heap larger, or smaller, by BYTES. */
static inline void lp_peak_event(LpPeak *p, LpFixed bytes)
{
  p->epoch += p->rising && bytes < 0;
  p->rising &= bytes >= 0;
}

/* The counters of an origin are about to change. */
static inline void lp_peak_touch(LpPeak *p, const LpOrigins *o, uint32_t origin)
{
  if (origin >= p->nseen || p->seen[origin] != p->epoch)
    lp_peak_keep(p, o, origin);
}

/* Behind an event so many bytes are live. */
static inline void lp_peak_after(LpPeak *p, LpFixed live, uint64_t ns)
{
  if (live > p->high) {
    p->high = live;
    p->ns = ns;
    p->rising = 1;
  }
}

#endif

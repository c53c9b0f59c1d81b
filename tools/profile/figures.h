/*
** Counters of origins, and their sums.
**
** A whole recording is counted in whole numbers. In samples an event stands
** for 1 / (1 - exp(-size / sample)) of its kind; what that is beyond whole
** numbers is counted beside, in parts of 2^-32. Both are integers, so sums do
** not depend on their order, what arrives and leaves cancels out, and a sum is
** off by less than 2^-33 for each event that it counts as one or more.
*/

#ifndef LP_FIGURES_H
#define LP_FIGURES_H

#include <stdint.h>

/* Counters, of objects of one origin. */
enum {
  LP_ALLOCS,        /* Allocations. */
  LP_ALLOC_BYTES,   /* Their sizes. */
  LP_REALLOCS,      /* Reallocations that made it objects of this origin. */
  LP_REALLOC_BYTES, /* Their new sizes. */
  LP_FREES,         /* Deallocations, wherever they happened. */
  LP_MOVES,         /* Reallocations, wherever they happened. */
  LP_LEFT_BYTES,    /* Sizes of what was freed, old sizes of what was moved. */
  LP_NCELL,
  /* Counted beside, and only where it is wanted: see LpExtra. */
  LP_PEAK = LP_NCELL, /* Objects live at the high-water mark, */
  LP_PEAK_BYTES,      /* their sizes. */
  LP_YOUNG,           /* Live objects that are too young to be leaked, */
  LP_YOUNG_BYTES,     /* their sizes. */
  LP_TEMPORARY,       /* Objects that went away soon after they came, */
  LP_TEMPORARY_BYTES, /* their sizes. */
  LP_QUARTER_1,       /* Sizes of live objects that came in the first quarter */
  LP_QUARTER_2,       /* of all allocations, in the second, */
  LP_QUARTER_3,       /* in the third: without those of the last. */
  LP_NCOUNT
};

#define LP_NEXTRA (LP_NCOUNT - LP_NCELL)

/* Those counters of an origin that are counted beside. */
typedef struct LpExtra {
  uint64_t n[LP_NEXTRA];
  uint64_t part[LP_NEXTRA]; /* In 2^-32. */
} LpExtra;

/* Sums of counters, and derived figures; live ones modulo 2^64. */
typedef struct LpFigures {
  uint64_t n[LP_NCOUNT];
  uint64_t part[LP_NCOUNT]; /* In 2^-32. */
} LpFigures;

/* A number and its parts, as the next whole number. */
static inline uint64_t lp_round(uint64_t n, uint64_t part)
{
  return n + (uint64_t)((int64_t)(part + 0x80000000u) >> 32);
}

/* A counter. */
static inline uint64_t lp_figure(const LpFigures *f, int count)
{
  return lp_round(f->n[count], f->part[count]);
}

/* Sizes of all that was allocated, reallocations included. */
static inline uint64_t lp_figure_bytes(const LpFigures *f)
{
  return lp_round(f->n[LP_ALLOC_BYTES] + f->n[LP_REALLOC_BYTES],
                  f->part[LP_ALLOC_BYTES] + f->part[LP_REALLOC_BYTES]);
}

/* How often something was allocated, reallocations included. */
static inline uint64_t lp_figure_births(const LpFigures *f)
{
  return lp_round(f->n[LP_ALLOCS] + f->n[LP_REALLOCS],
                  f->part[LP_ALLOCS] + f->part[LP_REALLOCS]);
}

/* Objects that went away. */
static inline uint64_t lp_figure_deaths(const LpFigures *f)
{
  return lp_round(f->n[LP_FREES] + f->n[LP_MOVES],
                  f->part[LP_FREES] + f->part[LP_MOVES]);
}

/* Bytes that are live. */
static inline uint64_t lp_figure_live_bytes(const LpFigures *f)
{
  return lp_round(f->n[LP_ALLOC_BYTES] + f->n[LP_REALLOC_BYTES] -
                      f->n[LP_LEFT_BYTES],
                  f->part[LP_ALLOC_BYTES] + f->part[LP_REALLOC_BYTES] -
                      f->part[LP_LEFT_BYTES]);
}

/* Add B to A. */
static inline void lp_figures_add(LpFigures *a, const LpFigures *b)
{
  int i;
  for (i = 0; i < LP_NCOUNT; i++) {
    a->n[i] += b->n[i];
    a->part[i] += b->part[i];
  }
}

#endif

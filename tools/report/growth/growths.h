/*
** What has a name in several heap dumps: its bytes in each of them, and a
** verdict on how these have changed.
*/

#ifndef LP_GROWTHS_H
#define LP_GROWTHS_H

#include "intern.h"
#include "mem.h"
#include "verdict.h"

/* An object, by its path; several that keep something together; a shape; or a
** line.
*/
typedef struct LpGrowth {
  LpVerdict verdict;
  int cut;           /* The path is cut: it cannot be looked for. */
  uint32_t together; /* Its number in LpLadder.together, or LP_NONE. */
  int again;         /* Kept together, and its largest object was so in a newer
                     ** dump: by others, or by the same with other names. */
  uint32_t what; /* What it is, or most of what is kept together: a number in
                 ** LpLadder.whats; or LP_NONE. */
  uint32_t now, base; /* The object, or the largest one, in the newest and in
                      ** the oldest dump, or LP_NONE. */
  uint32_t above;     /* The nearest one that keeps it, in the newest dump where
                      ** it keeps enough; or LP_NONE. */
} LpGrowth;

/* All objects that keep enough in some dump, alone or with others; all shapes;
** or all lines.
*/
typedef struct LpGrowths {
  LpIntern names;
  LpGrowth *row;
  uint64_t *bytes; /* Of each row, as many as there are dumps: */
  size_t n;        /* so many. */
  size_t at; /* The one that is being added; the newest one comes first. */
  int exact; /* What has no row in a dump is not in it. */
  size_t cap, capbytes;
} LpGrowths;

/* The row of a name. If there is none it is made: nothing is in dumps that were
** not added yet, until it is found there; and in newer ones nothing is, or if
** rows are not exact, that is not known.
*/
uint32_t lp_growths_row(LpGrowths *g, const LpBuf *name);

/* The bytes of a row in each dump. */
static inline const uint64_t *lp_growths_bytes(const LpGrowths *g, uint32_t row)
{
  return &g->bytes[row * g->n];
}

/* The bytes of a row in the dump that is being added. */
static inline uint64_t *lp_growths_cell(LpGrowths *g, uint32_t row)
{
  return &g->bytes[row * g->n + g->at];
}

/* How much more a row has in the newest dump than in the oldest one; it may be
** less.
*/
int64_t lp_growths_change(const LpGrowths *g, uint32_t row);

/* Free the memory, but not G. */
void lp_growths_free(LpGrowths *g);

#endif

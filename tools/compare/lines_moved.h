/*
** Where the lines of a function are, after it was edited.
*/

#ifndef LP_LINES_MOVED_H
#define LP_LINES_MOVED_H

#include <stddef.h>
#include <stdint.h>

/* A line of which it is known where it is now. */
typedef struct LpAnchor {
  uint64_t base, now;
} LpAnchor;

/* A function, and what is known of where it is now. */
typedef struct LpEdited {
  LpAnchor *anchor; /* In the order of both files, */
  size_t nanchor;   /* 1 or more. */
  int64_t *by;      /* By how many lines other things in it have moved, */
  size_t nby;       /* so many. */
} LpEdited;

/* Find where N lines of the baseline are now: TO[i] is that of base[i]. NOW has
** NNOW lines that there are now. The lines of BASE and of NOW increase. Between
** two anchors that have moved by as much, all lines have; between others, those
** that are found at lines of NOW with few insertions and deletions.
*/
void lp_lines_moved(const LpEdited *f, const uint64_t *base, size_t n,
                    const uint64_t *now, size_t nnow, uint64_t *to);

#endif

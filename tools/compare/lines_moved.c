/*
** Where the lines of a function are, after it was edited.
*/

#include <stdlib.h>

#include "lines_moved.h"
#include "mem.h"

/* Lines that increase. */
typedef struct Lines {
  const uint64_t *at;
  size_t n;
} Lines;

/* How many of them are before a line. */
static size_t lines_before(Lines l, uint64_t line)
{
  size_t low = 0, high = l.n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (l.at[mid] < line)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* Those from FROM up to, but without, TO. */
static Lines lines_within(Lines l, uint64_t from, uint64_t to)
{
  size_t first = lines_before(l, from);
  size_t end = lines_before(l, to);
  return (Lines){l.at + first, end > first ? end - first : 0};
}

/* Is a line one of them? */
static int lines_has(Lines l, uint64_t line)
{
  size_t i = lines_before(l, line);
  return i < l.n && l.at[i] == line;
}

/* -- Edits ----------------------------------------------------------------- */

#define EDIT_NEAR  16  /* Lines more or less than what moves so. */
#define EDIT_RANGE 256 /* Between two anchors' distances all are tried. */
#define EDIT_CELLS (1u << 22) /* Distances of all lines. */
#define EDIT_HIT   2          /* A line is found. */
#define EDIT_COST  1          /* Lines were inserted or deleted. */
#define EDIT_NEVER (-(1 << 28))

/* The ways to move lines, each by a distance. */
typedef struct Edit {
  uint64_t low, high; /* They stay between these. */
  int64_t *by;        /* Distances, in order, */
  size_t n;           /* so many. */
  int *worth;     /* Of the lines so far, by the distance of the last one, */
  int *next;      /* and with the next one. */
  size_t *top;    /* Of the distances up to each, the one with most worth. */
  uint32_t *from; /* By line and distance: the distance of the line before. */
} Edit;

/* Add distances from LOW to HIGH. */
static void edit_range(Edit *e, int64_t low, int64_t high)
{
  for (; low <= high; low++)
    e->by[e->n++] = low;
}

/* For qsort. */
static int edit_compare(const void *x, const void *y)
{
  const int64_t *a = x, *b = y;
  return (*a > *b) - (*a < *b);
}

/* The distances that are tried between two anchors: theirs and what is near or
** between these, and those of others, as functions change places.
*/
static void edit_open(Edit *e, int64_t above, int64_t under, const LpEdited *f)
{
  int64_t low = above < under ? above : under;
  int64_t high = above < under ? under : above;
  size_t n = 0, i;
  e->n = 0;
  e->by = lp_alloc((f->nby + EDIT_RANGE + 4 * EDIT_NEAR + 2) * sizeof(*e->by));
  if (high - low < EDIT_RANGE) {
    edit_range(e, low - EDIT_NEAR, high + EDIT_NEAR);
  } else {
    edit_range(e, low - EDIT_NEAR, low + EDIT_NEAR);
    edit_range(e, high - EDIT_NEAR, high + EDIT_NEAR);
  }
  for (i = 0; i < f->nby; i++)
    edit_range(e, f->by[i], f->by[i]);
  qsort(e->by, e->n, sizeof(*e->by), edit_compare);
  for (i = 0; i < e->n; i++)
    if (!n || e->by[n - 1] != e->by[i])
      e->by[n++] = e->by[i];
  e->n = n;
}

/* Find the distances with most worth. */
static void edit_tops(Edit *e)
{
  size_t top = 0, d;
  for (d = 0; d < e->n; d++) {
    if (e->worth[d] > e->worth[top])
      top = d;
    e->top[d] = top;
  }
}

/* Add a line, GAP lines behind the one before: what it is worth by each
** distance. It stays behind that.
*/
static void edit_add(Edit *e, uint32_t *from, Lines now, uint64_t line,
                     uint64_t gap)
{
  size_t can = 0, d;
  int *worth = e->worth;
  uint64_t to;
  edit_tops(e);
  for (d = 0; d < e->n; d++) {
    size_t top;
    while (can < e->n && e->by[can] < e->by[d] + (int64_t)gap)
      can++;
    top = e->top[can - 1];
    from[d] = (uint32_t)(worth[top] - EDIT_COST > worth[d] ? top : d);
    to = line + (uint64_t)e->by[d];
    e->next[d] = worth[from[d]] - (from[d] == d ? 0 : EDIT_COST);
    if (to <= e->low || to >= e->high)
      e->next[d] = EDIT_NEVER;
    else if (lines_has(now, to))
      e->next[d] += EDIT_HIT;
  }
  e->worth = e->next;
  e->next = worth;
}

/* Lines behind an anchor: they move by ABOVE as that does, and the last ones by
** UNDER as what is behind them does, if that is not NULL; unless more are found
** by other distances.
*/
static void edit_find(Edit *e, int64_t above, const int64_t *under, Lines base,
                      Lines now, uint64_t *to)
{
  size_t i, d;
  for (d = 0; d < e->n; d++)
    e->worth[d] = e->by[d] == above ? 0 : -EDIT_COST;
  for (i = 0; i < base.n; i++)
    edit_add(e, &e->from[i * e->n], now, base.at[i],
             i ? base.at[i] - base.at[i - 1] : 1);
  for (d = 0; under && d < e->n; d++)
    e->worth[d] -= e->by[d] == *under ? 0 : EDIT_COST;
  edit_tops(e);
  d = e->top[e->n - 1];
  for (i = base.n; i-- > 0;) {
    to[i] = base.at[i] + (uint64_t)e->by[d];
    d = e->from[i * e->n + d];
  }
}

/* The lines between an anchor and the next one, if there is one. */
static void lines_between(const LpEdited *f, const LpAnchor *a,
                          const LpAnchor *b, Lines base, Lines now,
                          uint64_t *to)
{
  int64_t above = (int64_t)(a->now - a->base), under = above;
  Edit e = {.low = a->now, .high = b ? b->now : UINT64_MAX};
  size_t i;
  if (!base.n)
    return;
  if (b)
    under = (int64_t)(b->now - b->base);
  edit_open(&e, above, under, f);
  if ((b && above == under) || base.n * e.n > EDIT_CELLS) {
    for (i = 0; i < base.n; i++)
      to[i] = base.at[i] + (uint64_t)above;
  } else {
    e.worth = lp_alloc(e.n * sizeof(*e.worth));
    e.next = lp_alloc(e.n * sizeof(*e.next));
    e.top = lp_alloc(e.n * sizeof(*e.top));
    e.from = lp_alloc(base.n * e.n * sizeof(*e.from));
    edit_find(&e, above, b ? &under : NULL, base, now, to);
    free(e.worth);
    free(e.next);
    free(e.top);
    free(e.from);
  }
  free(e.by);
}

void lp_lines_moved(const LpEdited *f, const uint64_t *base, size_t n,
                    const uint64_t *now, size_t nnow, uint64_t *to)
{
  const LpAnchor *a = f->anchor, *last = a + f->nanchor - 1;
  size_t i = 0, from;
  for (; i < n && base[i] < a->base; i++)
    to[i] = base[i] + (a->now - a->base);
  for (; a < last; a++) {
    if (i < n && base[i] == a->base)
      to[i++] = a->now;
    for (from = i; i < n && base[i] < a[1].base;)
      i++;
    lines_between(f, a, a + 1, (Lines){base + from, i - from},
                  lines_within((Lines){now, nnow}, a->now + 1, a[1].now),
                  to + from);
  }
  if (i < n && base[i] == last->base)
    to[i++] = last->now;
  lines_between(f, last, NULL, (Lines){base + i, n - i},
                lines_within((Lines){now, nnow}, last->now + 1, UINT64_MAX),
                to + i);
}

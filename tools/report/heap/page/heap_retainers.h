/*
** Retainers: what refers to the objects of a box, other than themselves and
** what they keep alive.
*/

#ifndef LP_HEAP_RETAINERS_H
#define LP_HEAP_RETAINERS_H

#include "heap_boxes.h"

#define LP_RETAINERS      30000   /* Rows of all boxes, at most. */
#define LP_RETAINERS_ROWS 12      /* Of a box, that of further ones aside. */
#define LP_RETAINERS_TEXT 1000000 /* Bytes of JSON that names take, about. */

/* References to a box that look alike: objects of one shape in the same box
** have them, all in tables, or in upvalues, or on stacks. A few of them are one
** row each.
*/
typedef struct LpRetainer {
  uint32_t box;  /* Of boxes: what they refer to. */
  uint32_t from; /* Of boxes: that of the objects with them, or what keeps those
                 ** alive. LP_NONE: further references. */
  uint32_t label; /* Of labels: the first one and its object. */
  uint64_t n;     /* How many. */
} LpRetainer;

typedef struct LpRetainers {
  LpRetainer *row; /* By box, most references first, further ones last. */
  size_t n, cap;
  uint32_t boxes; /* Those with lower numbers have all their rows; there is no
                  ** room for those of others. */
} LpRetainers;

/* Find the retainers of all boxes of B, which gets their labels: those of now,
** or of a box that is gone, those it had. The caller frees the rows.
*/
LpRetainers lp_retainers(LpBoxes *b);

#endif

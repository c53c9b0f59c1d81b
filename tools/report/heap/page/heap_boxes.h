/*
** The dominator tree as boxes to be drawn, or that of two heaps which are
** compared: bounded in number and in size, whatever the heap is.
*/

#ifndef LP_HEAP_BOXES_H
#define LP_HEAP_BOXES_H

#include "heap_names.h"
#include "pairs.h"
#include "report.h"

#define LP_BOXES      12000   /* At most, those for what is left out aside. */
#define LP_BOXES_TEXT 3000000 /* Bytes of JSON that names take, about. */

/* What a box has in one of the heaps. */
typedef struct LpBoxSide {
  uint64_t bytes;    /* Its objects' own, */
  uint64_t objects;  /* how many they are, */
  uint64_t retained; /* and what they keep alive in all, */
  uint64_t kept;     /* with so many objects. */
} LpBoxSide;

/* A group of objects with the same dominator, or what is left out of one. */
typedef struct LpBox {
  uint32_t parent; /* Of boxes, with a lower number; 0 is the root. */
  uint32_t label;  /* Of labels; LP_NONE: the root. */
  uint32_t way;    /* Of ways, for the first object; LP_NONE if none. */
  uint32_t
      shared; /* If it is what several objects keep: that group; LP_NONE. */
  LpBoxSide of[LP_NSIDE];
} LpBox;

/* A step of a shortest path from a root, in the heap where it was found. */
typedef struct LpWay {
  uint32_t from;  /* Of ways, with a lower number; LP_NONE: begins at a root. */
  uint32_t label; /* Of labels. */
  uint64_t retained; /* Of its object; 0: where steps are left out. */
} LpWay;

typedef struct LpBoxes {
  LpPairing heaps;
  uint64_t least; /* Bytes that a box keeps at least. */
  int full;       /* Larger ones were left out as well. */
  LpBox *box;
  size_t n, cap;
  LpWay *way;
  size_t nway, capway;
  LpBoxNames names;
  LpIdMap ways[LP_NSIDE];   /* Object -> number of its way. */
  uint32_t *kept[LP_NSIDE]; /* By object: how many it keeps alive, with itself;
                             */
  uint32_t *in[LP_NSIDE];   /* the number of its box, plus 1; 0: it has none; */
  uint8_t *shared;          /* now: see lp_sharing_of. */
} LpBoxes;

/* Make the boxes of NOW, of which none keeps less than --min; compared with
** BASE, if that is not NULL: of those none keeps less in both.
*/
void lp_boxes_open(LpBoxes *b, const LpHeap *now, const LpHeap *base,
                   const LpReportOptions *opt);

/* The box that ID of a heap, which is reached, is in, or that of the next of
** its dominators that has one.
*/
uint32_t lp_boxes_find(const LpBoxes *b, LpSide side, uint32_t id);

/* Free the memory. */
void lp_boxes_close(LpBoxes *b);

#endif

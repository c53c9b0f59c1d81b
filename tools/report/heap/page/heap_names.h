/*
** What the boxes of a page are called. Names are stored once, cut to what the
** page has room for.
*/

#ifndef LP_HEAP_NAMES_H
#define LP_HEAP_NAMES_H

#include "groups.h"
#include "intern.h"
#include "side.h"

#define LP_BOX_NAME 160 /* Bytes of JSON that a name takes at most. */

/* A shape, or what a box has that is left out. */
typedef struct LpBoxKind {
  uint32_t type; /* LJM_TYPE_*; 0: no objects of one shape. */
  uint32_t name; /* Of texts. */
} LpBoxKind;

/* What a box is called. */
typedef struct LpBoxLabel {
  uint32_t kind; /* Of kinds. */
  uint32_t step; /* Of texts: how its object is reached; empty for a group. */
  uint32_t name; /* Of texts: what it is. */
} LpBoxLabel;

typedef struct LpBoxNames {
  LpIntern texts;
  LpIntern kinds;             /* LpBoxKind. */
  LpIntern labels;            /* LpBoxLabel. */
  size_t cost;                /* Of texts, in bytes of JSON. */
  const LpHeap *of[LP_NSIDE]; /* Heaps: the first two that are named from; */
  LpIdMap shapes[LP_NSIDE];   /* of each, shape -> its number in kinds. */
} LpBoxNames;

/* The number of the label of an object that is reached by STEP, which is
** freed.
*/
uint32_t lp_box_object(LpBoxNames *l, const LpHeap *h, uint32_t id,
                       LpBuf *step);

/* The same, but what the object is stands behind its path. */
uint32_t lp_box_path(LpBoxNames *l, const LpHeap *h, uint32_t id, LpBuf *step);

/* The same of a group; ALONE: of one object, before those like it were added.
** A list is reached by its first object.
*/
uint32_t lp_box_group(LpBoxNames *l, const LpHeap *h, const LpGroup *g,
                      int alone);

/* The same of what is no object of a heap. */
uint32_t lp_box_special(LpBoxNames *l, const char *name, LpBuf *step);

/* Cut a text to what takes MOST bytes in JSON. */
void lp_box_cut(LpBuf *b, size_t most);

/* Free the memory. */
void lp_box_names_free(LpBoxNames *l);

#endif

/*
** --focus and --ignore: whole stacks are kept or left out, by the names of the
** frames in them.
*/

#ifndef LP_SHAPE_H
#define LP_SHAPE_H

#include <regex.h>

#include "profile.h"

typedef struct LpShape {
  uint8_t *stack;  /* By sampled stack: it is kept. NULL: all are. */
  uint8_t *origin; /* By origin: the same of stack and site. NULL: all are. */
  uint8_t *site;   /* By site: the same of itself alone. NULL: all are. */
} LpShape;

/* Determine what is kept: stacks with a frame that matches FOCUS and none that
** matches IGNORE. Either may be NULL. The caller calls lp_shape_close.
*/
void lp_shape_open(LpShape *shape, const LpProfile *prof, const regex_t *focus,
                   const regex_t *ignore);

/* Free the memory. */
void lp_shape_close(LpShape *shape);

/* Are samples of this stack kept? */
static inline int lp_shape_stack(const LpShape *shape, uint32_t stack)
{
  return !shape || !shape->stack || shape->stack[stack];
}

/* Is this origin kept? */
static inline int lp_shape_origin(const LpShape *shape, uint32_t origin)
{
  return !shape || !shape->origin || shape->origin[origin];
}

/* Is this site kept, whoever calls it? */
static inline int lp_shape_site(const LpShape *shape, uint32_t site)
{
  return !shape || !shape->site || shape->site[site];
}

#endif

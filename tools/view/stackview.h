/*
** Paths: the stacks of a profile as a report shows them. Which of their frames
** are in it, and which sites are one.
*/

#ifndef LP_STACKVIEW_H
#define LP_STACKVIEW_H

#include "metric.h"
#include "walk.h"

/* Which sites are one. */
typedef enum LpMerge {
  LP_MERGE_NONE,
  LP_MERGE_LINES,     /* Those of a line, approximate or not. */
  LP_MERGE_FUNCTIONS, /* Those of a function. */
  LP_MERGE_CALLERS    /* None, but whoever calls them: a path is one site. */
} LpMerge;

typedef struct LpStackView {
  /* The path: */
  const uint32_t *site; /* its sites, the outermost first, as merged, */
  uint32_t n;           /* so many, */
  uint32_t same;        /* and how many of these the path before had. */
  uint32_t ncharged;    /* Of them so many up to the Lua function that is */
  uint32_t charged;     /* charged with it as allocation and collection, and its
                        ** site; LP_NONE: none is. Never if there is PART. */
  /* What paths are made of: */
  const LpProfile *prof;
  LpMerge merge;
  uint8_t *part;  /* By sampled stack: lp_parts. NULL: native frames are in the
                  ** path. */
  uint32_t *gc;   /* By sampled stack: lp_allocgc, if it is needed. */
  uint32_t *as;   /* By site: what it is merged with. */
  uint8_t *lua;   /* By site: is that in Lua? */
  LpWalk walk;    /* Keeps how many sites are of so many frames. */
  uint32_t *list; /* The sites, */
  size_t room;
  uint32_t has; /* so many. */
} LpStackView;

/* By site, the site that it is merged with: the first equal one. The caller
** frees the array.
*/
uint32_t *lp_stackview_sites(const LpProfile *prof, LpMerge merge);

/* Prepare the paths of a profile. Native frames are in them if NATIVE, whatever
** the profile says. METRICS are bits of LpMetric that will be asked for. The
** caller calls lp_stackview_close.
*/
void lp_stackview_open(LpStackView *p, const LpProfile *prof, LpMerge merge,
                       int native, unsigned metrics);

/* Set the path of a sampled stack. */
void lp_stackview_stack(LpStackView *p, uint32_t stack);

/* Set the path of an origin: callers and site. */
void lp_stackview_origin(LpStackView *p, uint32_t origin);

/* Of the sites of the path of a sampled stack, how many there are up to the one
** that its samples count for as METRIC; 0 if they do not. Not for paths of one
** site.
*/
uint32_t lp_stackview_counts(const LpStackView *p, uint32_t stack,
                             LpMetric metric);

/* Free the memory. */
void lp_stackview_close(LpStackView *p);

#endif

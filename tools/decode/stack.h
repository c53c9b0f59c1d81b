/*
** The stack register of version 0x10: the callers of events, as far as they are
** recorded.
*/

#ifndef LP_STACK_H
#define LP_STACK_H

#include "idmap.h"
#include "record.h"

#define LP_STACK_MAX LJM_STACK_MAX /* More sites are taken for damage. */

/* One site of the register. */
typedef struct LpStackPlace {
  uint32_t site; /* As the sink numbers them. */
  uint32_t node; /* The callers of an event if this is the innermost. */
} LpStackPlace;

typedef struct LpStack {
  const LpSink *sink;
  uint32_t cap;   /* Most callers of an event. */
  uint32_t n;     /* Sites in the register, */
  uint32_t node;  /* and the callers of an event now. */
  uint32_t base;  /* LP_NODE_ROOT, or LP_NODE_CUT if it is cut. */
  int64_t credit; /* Sites of windows that may still be looked up. */
  LpIdMap slide;  /* Windows, by the one before and the site behind it. */
  LpStackPlace *place;
} LpStack;

/* An empty register. Events have all callers unless lp_stack_limit is called.
** The sink is not copied.
*/
void lp_stack_open(LpStack *s, const LpSink *sink);

/* Free the memory. */
void lp_stack_close(LpStack *s);

/* Stacks have at most FRAMES sites, the event's own included. */
void lp_stack_limit(LpStack *s, uint64_t frames);

/* Empty the register. If CUT, callers of the outermost site are missing. */
void lp_stack_reset(LpStack *s, int cut);

/* The node of the innermost callers that fit in the limit, when SITE is pushed
** on them.
*/
uint32_t lp_stack_window(LpStack *s, uint32_t site);

/* Does the register have room for one more site? */
static inline int lp_stack_fits(const LpStack *s)
{
  return s->n < LP_STACK_MAX;
}

/* The innermost site calls SITE. There must be room for it. */
static inline void lp_stack_push(LpStack *s, uint32_t site)
{
  if (s->n < s->cap)
    s->node = s->sink->node(s->sink->ctx, s->node, site);
  else if (s->cap)
    s->node = lp_stack_window(s, site);
  s->place[s->n++] = (LpStackPlace){site, s->node};
}

/* The N innermost sites have returned; there must be so many. */
static inline void lp_stack_pop(LpStack *s, uint32_t n)
{
  s->n -= n;
  if (n)
    s->node = s->n ? s->place[s->n - 1].node : s->base;
}

#endif

/*
** The stack register of version 0x10: the callers of events, as far as they are
** recorded.
**
** Every site of the register keeps the node that stands for all up to itself,
** so an event walks no stack: its callers are the innermost site's node. A site
** that is pushed costs one look-up, one that is popped nothing.
**
** An event has at most CAP callers. Where the register is longer, its callers
** are a window of the innermost CAP sites, below the node of cut stacks; what
** a window becomes with one more site is remembered. Where it is not known yet,
** the window is looked up site by site. A hostile stream could have CAP
** look-ups, and as many new nodes, for every byte. So there is a credit of
** STACK_EACH look-ups for each site pushed and STACK_FREE more; a stream that
** uses it up has no windows of more than STACK_POOR sites from there on.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "stack.h"

#define STACK_FREE (1 << 20)
#define STACK_EACH 32
#define STACK_POOR 16

void lp_stack_open(LpStack *s, const LpSink *sink)
{
  memset(s, 0, sizeof(*s));
  s->sink = sink;
  s->cap = LP_STACK_MAX;
  s->credit = STACK_FREE;
  s->place = lp_alloc(LP_STACK_MAX * sizeof(LpStackPlace));
}

void lp_stack_close(LpStack *s)
{
  lp_idmap_free(&s->slide);
  free(s->place);
}

void lp_stack_reset(LpStack *s, int cut)
{
  s->n = 0;
  s->base = cut && s->cap ? LP_NODE_CUT : LP_NODE_ROOT;
  s->node = s->base;
}

void lp_stack_limit(LpStack *s, uint64_t frames)
{
  s->cap = frames == 0             ? 0
           : frames > LP_STACK_MAX ? LP_STACK_MAX
                                   : (uint32_t)frames - 1;
  lp_idmap_free(&s->slide);
  lp_stack_reset(s, s->n > 0);
}

/* Look up the window of N sites that SITE ends. */
static uint32_t stack_walk(const LpStack *s, uint32_t n, uint32_t site)
{
  uint32_t node = LP_NODE_CUT, i;
  for (i = s->n - (n - 1); i < s->n; i++)
    node = s->sink->node(s->sink->ctx, node, s->place[i].site);
  return s->sink->node(s->sink->ctx, node, site);
}

uint32_t lp_stack_window(LpStack *s, uint32_t site)
{
  uint64_t key = (uint64_t)s->node << 32 | site;
  uint32_t node;
  if (s->credit < 0)
    return stack_walk(s, s->cap < STACK_POOR ? s->cap : STACK_POOR, site);
  s->credit += STACK_EACH;
  node = lp_idmap_get(&s->slide, key);
  if (node == LP_NONE) {
    s->credit -= s->cap;
    node = stack_walk(s, s->cap, site);
    lp_idmap_put(&s->slide, key, node);
  }
  return node;
}

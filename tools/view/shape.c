/*
** Which part of a profile a report is about.
**
** A stack is kept if a frame of it matches what is in focus, and none matches
** what is ignored. What matches is the frame as reports show it.
*/

#include <stdlib.h>
#include <string.h>

#include "label.h"
#include "shape.h"
#include "walk.h"

enum { SHAPE_FOCUS = 1, SHAPE_IGNORE = 2 };

/* What each site matches. */
static uint8_t *shape_sites(const LpProfile *prof, const regex_t *focus,
                            const regex_t *ignore)
{
  uint8_t *site = lp_zalloc(prof->sitekeys.n, 1);
  uint32_t i;
  for (i = 0; i < prof->sitekeys.n; i++) {
    LpBuf b = {0};
    lp_label_whole(&b, prof, i);
    if (!focus || regexec(focus, b.s, 0, NULL, 0) == 0)
      site[i] |= SHAPE_FOCUS;
    if (ignore && regexec(ignore, b.s, 0, NULL, 0) == 0)
      site[i] |= SHAPE_IGNORE;
    lp_buf_free(&b);
  }
  return site;
}

/* Goes from stack to stack, and keeps what the frames of each match. */
typedef struct Shaping {
  const LpCalls *calls;
  const uint8_t *site;
  LpWalk walk;
} Shaping;

/* What a node and its callers match. */
static uint32_t shape_stack(Shaping *s, uint32_t node)
{
  LpWalk *w = &s->walk;
  uint32_t d;
  lp_walk_to(w, s->calls, node);
  for (d = w->same; d < w->n; d++)
    w->upto[d + 1] = w->upto[d] | s->site[s->calls->site[w->node[d]]];
  return w->upto[w->n];
}

void lp_shape_open(LpShape *shape, const LpProfile *prof, const regex_t *focus,
                   const regex_t *ignore)
{
  const LpOrigins *o = &prof->origins;
  Shaping s = {.calls = &o->calls};
  uint8_t *site;
  uint32_t i;
  memset(shape, 0, sizeof(*shape));
  if (!focus && !ignore)
    return;
  s.site = site = shape_sites(prof, focus, ignore);
  shape->stack = lp_zalloc(prof->sampled.n, 1);
  shape->origin = lp_zalloc(o->n, 1);
  for (i = 0; i < prof->sampled.n; i++)
    shape->stack[i] = shape_stack(&s, prof->sampled.node[i]) == SHAPE_FOCUS;
  for (i = 0; i < o->n; i++)
    shape->origin[i] = (shape_stack(&s, o->callers[i]) |
                        site[lp_cell_site(&o->cell[i])]) == SHAPE_FOCUS;
  for (i = 0; i < prof->sitekeys.n; i++)
    site[i] = site[i] == SHAPE_FOCUS;
  shape->site = site;
  lp_walk_free(&s.walk);
}

void lp_shape_close(LpShape *shape)
{
  free(shape->stack);
  free(shape->origin);
  free(shape->site);
  memset(shape, 0, sizeof(*shape));
}

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

void lp_shape_open(LpShape *shape, const LpProfile *prof, const regex_t *focus,
                   const regex_t *ignore)
{
  const LpOrigins *o = &prof->origins;
  uint8_t *site;
  uint32_t i;
  memset(shape, 0, sizeof(*shape));
  if (!focus && !ignore)
    return;
  site = shape_sites(prof, focus, ignore);
  shape->node = lp_zalloc(o->nnode, 1);
  shape->origin = lp_zalloc(o->n, 1);
  for (i = 1; i < o->nnode; i++)
    shape->node[i] = shape->node[o->node[i].parent] | site[o->node[i].site];
  for (i = 0; i < o->n; i++)
    shape->origin[i] = (shape->node[o->callers[i]] |
                        site[lp_cell_site(&o->cell[i])]) == SHAPE_FOCUS;
  for (i = 0; i < o->nnode; i++)
    shape->node[i] = shape->node[i] == SHAPE_FOCUS;
  for (i = 0; i < prof->sitekeys.n; i++)
    site[i] = site[i] == SHAPE_FOCUS;
  shape->site = site;
}

void lp_shape_close(LpShape *shape)
{
  free(shape->node);
  free(shape->origin);
  free(shape->site);
  memset(shape, 0, sizeof(*shape));
}

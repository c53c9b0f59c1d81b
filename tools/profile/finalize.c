/*
** Computes the figures of rows from the counters of origins.
*/

#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* What a site did to objects, its own and others. */
typedef struct Deeds {
  LpFigures made;
  LpWeight freed, moved;
} Deeds;

/* The figures of one row. */
static void finalize_row(LpRow *r, const Deeds *d)
{
  r->allocs = lp_figure(&d->made, LP_ALLOCS);
  r->alloc_bytes = lp_figure(&d->made, LP_ALLOC_BYTES);
  r->reallocs = lp_figure(&d->made, LP_REALLOCS);
  r->realloc_in = lp_figure(&d->made, LP_REALLOC_BYTES);
  r->realloc_out = lp_round(d->moved.bytes, d->moved.bytespart);
  r->frees = lp_round(d->freed.n, d->freed.npart);
  r->free_bytes = lp_round(d->freed.bytes, d->freed.bytespart);
  r->arrived = lp_figure_births(&d->made);
  r->left = lp_figure_deaths(&d->made) + r->twice;
  r->live = lp_figure_live_bytes(&d->made);
}

void lp_profile_finalize(LpProfile *prof)
{
  Deeds *deeds = lp_zalloc(prof->sitekeys.n, sizeof(Deeds));
  size_t i;
  for (i = 0; i < prof->origins.n; i++) {
    LpFigures f = lp_origins_figures(&prof->origins, (uint32_t)i);
    lp_figures_add(&deeds[lp_cell_site(&prof->origins.cell[i])].made, &f);
  }
  for (i = 0; i < prof->overrides.n; i++) {
    const LpOverride *e = &prof->overrides.entry[i];
    Deeds *d = &deeds[LP_OVERRIDE_BY(e->key)];
    lp_weight_add(e->key & LP_OVERRIDE_REALLOC ? &d->moved : &d->freed, &e->w);
  }
  for (i = 0; i < prof->sitekeys.n; i++)
    finalize_row(&prof->row[i], &deeds[i]);
  prof->row[LP_SITE_BEFORE].live += prof->base;
  free(deeds);
}

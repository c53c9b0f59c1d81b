/*
** The baseline of a diff: the counters of all that was read before it was set.
*/

#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* The counters of all origins, which begin anew. */
static void baseline_origins(LpProfile *prof)
{
  LpOrigins *o = &prof->origins;
  uint32_t i;
  prof->baseline.figures = lp_zalloc(o->n, sizeof(LpFigures));
  prof->baseline.n = o->n;
  for (i = 0; i < o->n; i++) {
    prof->baseline.figures[i] = lp_origins_figures(o, i);
    memset(o->cell[i].n, 0, sizeof(o->cell[i].n));
  }
  if (o->nparts)
    memset(o->part, 0, o->nparts * sizeof(o->part[0]));
  if (o->nextra)
    memset(o->extra, 0, o->nextra * sizeof(o->extra[0]));
}

/* Make all that was read until now the baseline of what follows. Numbers of
** functions, sites and origins stay valid.
*/
void lp_profile_set_baseline(LpProfile *prof)
{
  uint32_t i;
  lp_profile_baseline_free(prof);
  baseline_origins(prof);
  prof->baseline.samples = prof->sampled.samples;
  prof->baseline.nsamples = prof->sampled.nsamples;
  prof->sampled.samples = NULL;
  prof->sampled.nsamples = 0;
  prof->baseline.period = lp_cpu_period(&prof->cpu);
  prof->baseline.base = prof->base;
  prof->baseline.nobefore = prof->nobefore;
  prof->baseline.present = 1;
  lp_files_baseline(&prof->files);
  prof->ns = prof->realtime = 0;
  memset(&prof->timeline, 0, sizeof(prof->timeline));
  prof->base = 0;
  prof->elder = (LpWeight){0, 0, 0, 0};
  prof->nobefore = 0;
  prof->peak_bytes = prof->peak_ns = 0;
  prof->nmemory = 0;
  free(prof->size);
  prof->size = NULL;
  prof->baseline.timeseries = prof->timeseries;
  memset(&prof->timeseries, 0, sizeof(prof->timeseries));
  lp_snaps_free(&prof->snaps);
  lp_slices_free(&prof->slices[0]);
  lp_slices_free(&prof->slices[1]);
  for (i = 0; i < prof->sitekeys.n; i++)
    prof->row[i].twice = 0;
  lp_overrides_free(&prof->overrides);
  lp_overrides_free(&prof->arrivals);
  lp_cpu_reset(&prof->cpu);
  lp_profile_finalize(prof);
}

void lp_profile_baseline_free(LpProfile *prof)
{
  free(prof->baseline.figures);
  free(prof->baseline.samples);
  free(prof->baseline.match);
  lp_timeseries_free(&prof->baseline.timeseries);
  memset(&prof->baseline, 0, sizeof(prof->baseline));
}

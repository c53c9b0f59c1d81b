/*
** What was read before, to compare with.
*/

#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* The counters of all origins, which begin anew. */
static void was_origins(LpProfile *prof)
{
  LpOrigins *o = &prof->origins;
  uint32_t i;
  prof->was.figures = lp_zalloc(o->n, sizeof(LpFigures));
  prof->was.n = o->n;
  for (i = 0; i < o->n; i++) {
    prof->was.figures[i] = lp_origins_figures(o, i);
    memset(o->cell[i].n, 0, sizeof(o->cell[i].n));
  }
  if (o->nparts)
    memset(o->part, 0, o->nparts * sizeof(o->part[0]));
  if (o->nextra)
    memset(o->extra, 0, o->nextra * sizeof(o->extra[0]));
}

/* All that was read until now is what the rest will be compared with. What has
** a number keeps it.
*/
void lp_profile_turn(LpProfile *prof)
{
  uint32_t i;
  lp_profile_was_free(prof);
  was_origins(prof);
  prof->was.samples = prof->origins.samples;
  prof->was.nsamples = prof->origins.nsamples;
  prof->origins.samples = NULL;
  prof->origins.nsamples = 0;
  prof->was.period = lp_cpu_period(&prof->cpu);
  prof->was.base = prof->base;
  prof->was.nobefore = prof->nobefore;
  prof->was.is = 1;
  prof->files.nbase = prof->files.n;
  prof->ns = prof->realtime = 0;
  memset(&prof->timeline, 0, sizeof(prof->timeline));
  prof->base = 0;
  prof->elder = (LpWeight){0, 0, 0, 0};
  prof->nobefore = 0;
  prof->peak_bytes = prof->peak_ns = 0;
  free(prof->size);
  prof->size = NULL;
  lp_course_free(&prof->course);
  lp_snaps_free(&prof->snaps);
  for (i = 0; i < prof->sitekeys.n; i++)
    prof->row[i].twice = 0;
  lp_taken_free(&prof->taken);
  lp_cpu_turn(&prof->cpu);
  lp_profile_settle(prof);
}

/* Give the memory back. */
void lp_profile_was_free(LpProfile *prof)
{
  free(prof->was.figures);
  free(prof->was.samples);
  memset(&prof->was, 0, sizeof(prof->was));
}

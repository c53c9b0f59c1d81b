/*
** The facts that a summary states: what was recorded, and how sure that is.
*/

#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "part.h"
#include "summary.h"

/* -- What was recorded ---------------------------------------------------- */

/* From start to end. */
static uint64_t source_ns(const LpSpan *span)
{
  return span->to - span->from;
}

/* The processes whose memory was recorded. */
static void source_memory(LpSummary *s)
{
  const LpFiles *f = &s->prof->files;
  LpRecorded r;
  size_t n;
  s->memory.profiles = f->memory;
  s->memory.processes = f->recorded.n;
  s->memory.ns = source_ns(&s->prof->timeline.span[0]);
  if (f->recorded.n) {
    memcpy(&r, lp_intern_get(&f->recorded, 0, &n), sizeof(r));
    s->memory.pid = r.pid;
    s->memory.command = (LpStr){f->command.s, f->command.n};
  }
}

/* The processes with samples. */
static void source_cpu(LpSummary *s)
{
  const LpCpu *cpu = &s->prof->cpu;
  uint8_t *seen = lp_zalloc(cpu->processes.n + 1u, 1);
  LpThreadInfo t;
  LpProcessInfo p;
  uint32_t i;
  s->cpu.profiles = cpu->streams;
  s->cpu.ns = source_ns(&s->prof->timeline.span[1]);
  for (i = 1; i < cpu->threads.n && i < cpu->nthread; i++) {
    lp_cpu_info(&cpu->threads, i, &t);
    if (!cpu->thread[i] || !t.process || seen[t.process]++)
      continue;
    if (s->cpu.processes++)
      continue;
    lp_cpu_info(&cpu->processes, t.process, &p);
    s->cpu.pid = p.pid;
    s->cpu.command = lp_profile_name(s->prof, p.command);
  }
  free(seen);
}

/* -- How sure it is ------------------------------------------------------- */

/* The worst damage of each file that is not of the baseline. */
static void summary_harm(LpSummary *s)
{
  const LpFiles *f = &s->prof->files;
  LpSummaryHarm *h = &s->harm;
  uint8_t *worst = lp_zalloc(f->n + 1u, 1);
  uint32_t i;
  h->files = f->n - f->nbase;
  h->unread = f->unread;
  for (i = 0; i < f->nharm; i++) {
    const LpHarm *harm = &f->harm[i];
    uint8_t kind = (uint8_t)(harm->damage.kind + 1);
    if (harm->file < f->nbase)
      continue;
    h->lost += harm->damage.events;
    if (kind > worst[harm->file])
      worst[harm->file] = kind;
  }
  for (i = f->nbase; i < f->n; i++) {
    h->files -= worst[i] == LP_NOTHING + 1;
    h->cut += worst[i] == LP_CUT + 1;
    h->gaps += worst[i] == LP_GAP + 1;
    h->odd += worst[i] == LP_ODD + 1;
  }
  free(worst);
}

/* All events, and bytes of sites whose line is approximate. */
static void summary_events(LpSummary *s, const LpShape *shape)
{
  const LpProfile *prof = s->prof;
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++) {
    LpFigures f;
    if (!lp_shape_origin(shape, i))
      continue;
    f = lp_origins_figures(&prof->origins, i);
    s->events += lp_figure_births(&f) + lp_figure(&f, LP_FREES);
    if (prof->row[lp_cell_site(&prof->origins.cell[i])].marks & LJM_SITE_APPROX)
      s->approx += lp_figure_bytes(&f);
  }
}

/* Samples whose innermost function or line is not exact. */
static void summary_unsure(LpSummary *s, const LpShape *shape)
{
  const uint32_t *site = s->prof->origins.calls.site;
  const LpSampled *of = &s->prof->sampled;
  uint32_t i;
  for (i = 0; i < of->n && i < of->nsamples; i++) {
    uint32_t marks = s->prof->row[site[of->node[i]]].marks;
    if (!lp_shape_stack(shape, i))
      continue;
    if (marks & LJM_SITE_UNSURE)
      s->unsure += of->samples[i];
    if (marks & LJM_SITE_APPROX)
      s->inexact += of->samples[i];
  }
}

/* What samples were doing. */
static void summary_parts(LpSummary *s, const LpShape *shape)
{
  const LpSampled *of = &s->prof->sampled;
  uint8_t *part;
  uint32_t i;
  if (!(s->prof->of & LP_OF_CPU) || !lp_luafirst(s->prof))
    return;
  part = lp_parts(s->prof);
  for (i = 0; i < of->n && i < of->nsamples; i++)
    if (lp_shape_stack(shape, i))
      s->part[part[i]] += of->samples[i];
  free(part);
}

/* Do any allocations have callers? */
static int summary_stacks(const LpProfile *prof)
{
  uint32_t i;
  for (i = 0; i < prof->origins.n; i++)
    if (prof->origins.callers[i] > LP_NODE_CUT)
      return 1;
  return 0;
}

/* -- Lines ---------------------------------------------------------------- */

/* Round sums; returns whether there is anything. */
static int summary_round(LpSummaryLine *l, const LpLineSum *sum)
{
  int side, f, any = 0;
  for (side = 0; side < LP_NSIDE; side++)
    for (f = 0; f < LP_NSUMMARY; f++)
      any |= (l->n[side][f] = lp_value_round(sum->n[side][f])) != 0;
  for (f = 0; f < 3; f++)
    l->quarter[f] = lp_value_round(sum->quarter[f]);
  return any;
}

/* Sums by site become lines. */
static void summary_lines(LpSummary *s, const LpShape *shape)
{
  const LpProfile *prof = s->prof;
  uint32_t *as = lp_stackview_sites(prof, LP_MERGE_LINES), i;
  LpLineSum *sum = lp_zalloc(prof->sitekeys.n, sizeof(LpLineSum)), all;
  memset(&all, 0, sizeof(all));
  if (prof->of & LP_OF_MEMORY)
    lp_lines_memory(sum, &all, prof, shape, as);
  if (prof->of & LP_OF_CPU)
    lp_lines_cpu(sum, &all, prof, shape, &s->outside);
  s->line = lp_alloc(prof->sitekeys.n * sizeof(LpSummaryLine));
  for (i = 0; i < prof->sitekeys.n; i++) {
    s->line[s->n].site = i;
    s->n += summary_round(&s->line[s->n], &sum[i]) != 0;
  }
  s->all.site = LP_NONE;
  summary_round(&s->all, &all);
  free(sum);
  free(as);
}

/* Of what was allocated in the recording, all that is not live. */
static void summary_freed(LpSummary *s)
{
  uint64_t bytes = s->all.n[LP_NOW][LP_SUMMARY_BYTES];
  uint64_t leaked = s->all.n[LP_NOW][LP_SUMMARY_LIVE];
  s->freed = leaked < bytes ? bytes - leaked : 0;
}

/* How much changed in all. */
static void summary_changes(LpSummary *s)
{
  size_t i;
  int f;
  for (i = 0; i < s->n; i++)
    for (f = 0; f < LP_NSUMMARY; f++)
      s->changed[f] += lp_size(lp_summary_change(&s->line[i], f));
}

void lp_summary_open(LpSummary *s, const LpProfile *prof, const LpShape *shape)
{
  memset(s, 0, sizeof(*s));
  s->prof = prof;
  s->aged = (prof->wanted.what & LP_WANT_AGES) != 0;
  s->stacks = summary_stacks(prof);
  source_memory(s);
  source_cpu(s);
  summary_harm(s);
  summary_events(s, shape);
  summary_unsure(s, shape);
  summary_parts(s, shape);
  summary_lines(s, shape);
  summary_changes(s);
  summary_freed(s);
}

void lp_summary_close(LpSummary *s)
{
  free(s->line);
  memset(s, 0, sizeof(*s));
}

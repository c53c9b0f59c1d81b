/*
** Ingest: counts one stream into a profile. A sink for the reader, the live
** objects, and the checks of the recorder's totals.
*/

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest.h"
#include "leb.h"

/* -- Events --------------------------------------------------------------- */

/* An object of an origin is at an address now. */
static inline void stream_put(LpStream *st, uint64_t addr, uint32_t origin)
{
  uint32_t old = lp_live_put(&st->live, addr, origin);
  if (old != LP_NONE) { /* Its deallocation was not recorded. */
    st->prof->row[lp_cell_site(&st->prof->origins.cell[old])].twice++;
    st->twice++;
  }
}

/* The old object of an event is gone. Returns its origin. */
static inline uint32_t stream_take(LpStream *st, const LpEvent *e)
{
  uint32_t origin = lp_live_take(&st->live, e->oaddr);
  if (origin != LP_NONE)
    return origin;
  lp_stream_stray(st, e);
  return LP_ORIGIN_BEFORE;
}

/* An allocation of ORIGIN. */
static inline void stream_alloc(LpStream *st, const LpEvent *e, uint32_t origin)
{
  uint64_t *n = st->prof->origins.cell[origin].n;
  st->allocs++;
  st->in += e->nsize;
  n[LP_ALLOCS]++;
  n[LP_ALLOC_BYTES] += e->nsize;
  stream_put(st, e->naddr, origin);
}

/* A deallocation. */
static inline void stream_free(LpStream *st, const LpEvent *e)
{
  LpProfile *prof = st->prof;
  uint32_t origin = stream_take(st, e);
  LpCell *c = &prof->origins.cell[origin];
  st->frees++;
  st->out += e->osize;
  c->n[LP_FREES]++;
  c->n[LP_LEFT_BYTES] += e->osize;
  lp_overrides_add(&prof->overrides, LP_OVERRIDE_KEY(e->site, lp_cell_site(c)),
                   e->osize);
}

/* A reallocation moves the whole object to its site; its type remains. */
static inline void stream_realloc(LpStream *st, const LpEvent *e)
{
  LpProfile *prof = st->prof;
  uint32_t origin = stream_take(st, e);
  LpCell *c = &prof->origins.cell[origin];
  uint32_t type = e->foreign ? LJM_TYPE_FOREIGN : lp_cell_type(c);
  st->reallocs++;
  st->out += e->osize;
  st->in += e->nsize;
  c->n[LP_MOVES]++;
  c->n[LP_LEFT_BYTES] += e->osize;
  lp_overrides_add(&prof->overrides,
                   LP_OVERRIDE_REALLOC |
                       LP_OVERRIDE_KEY(e->site, lp_cell_site(c)),
                   e->osize);
  origin = lp_origins_get(&prof->origins, e->node, e->site, type);
  c = &prof->origins.cell[origin];
  c->n[LP_REALLOCS]++;
  c->n[LP_REALLOC_BYTES] += e->nsize;
  stream_put(st, e->naddr, origin);
}

/* A batch of events: ask for the memory of all of them, then apply them. */
static void stream_events(void *ctx, const LpEvent *ev, size_t n)
{
  LpStream *st = ctx;
  LpOrigins *o = &st->prof->origins;
  uint32_t origin[LP_BATCH];
  size_t i;
  lp_stream_begin(st);
  if (st->detail) {
    lp_detail_events(st, ev, n);
    return;
  }
  for (i = 0; i < n; i++) {
    if (ev[i].kind == LJM_ALLOC)
      origin[i] = lp_origins_get(o, ev[i].node, ev[i].site, ev[i].type);
    else
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  for (i = 0; i < n; i++) {
    if (ev[i].foreign)
      lp_sums_add(&st->foreign, &ev[i]);
    if (ev[i].kind == LJM_ALLOC)
      stream_alloc(st, &ev[i], origin[i]);
    else if (ev[i].kind == LJM_FREE)
      stream_free(st, &ev[i]);
    else
      stream_realloc(st, &ev[i]);
  }
}

/* -- Everything else ------------------------------------------------------ */

/* What it is of. */
void lp_stream_body(void *ctx, int body)
{
  LpStream *st = ctx;
  st->body = body;
  st->prof->of |= body == 'p' ? LP_OF_CPU : LP_OF_MEMORY;
  st->prof->cpu.streams += body == 'p';
}

/* A function is defined. */
static uint32_t stream_func(void *ctx, const LpFunc *f)
{
  return lp_profile_func(((LpStream *)ctx)->prof, f);
}

/* A site is defined. */
static uint32_t stream_site(void *ctx, const LpSite *s)
{
  return lp_profile_site(((LpStream *)ctx)->prof, s);
}

/* SITE, called by others. */
static uint32_t stream_node(void *ctx, uint32_t callers, uint32_t site)
{
  return lp_origins_node(&((LpStream *)ctx)->prof->origins, callers, site);
}

/* A fact about the recording. */
static void stream_meta(void *ctx, const LpMeta *m)
{
  LpStream *st = ctx;
  uint64_t *began = &st->prof->realtime;
  if (lp_meta_is(m, "realtime")) {
    st->clock.realtime = m->u;
    if (m->u && (!*began || m->u < *began))
      *began = m->u;
  } else if (lp_meta_is(m, "monotonic")) {
    st->clock.monotonic = m->u;
  }
  if (st->body == 'p') {
    lp_stream_cpu_meta(st, m);
  } else if (lp_meta_is(m, "live")) {
    st->base = m->u;
    st->hasbase = 1;
  } else if (lp_meta_is(m, "sample") && m->u && !st->sample) {
    st->sample = m->u;
    st->scale = lp_alloc(sizeof(LpScale));
    lp_scale_open(st->scale, m->u);
    st->begun = 0;
    lp_profile_sampled(st->prof, m->u);
  }
}

/* A time mark. */
static void stream_time(void *ctx, uint64_t ns)
{
  LpStream *st = ctx;
  lp_stream_begin(st);
  if (st->detail)
    lp_detail_time(st, ns);
  st->marks++;
  st->ns = ns;
}

/* Something is wrong: the first thing is kept, the others are counted. */
void lp_stream_damage(void *ctx, const LpDamage *d)
{
  LpStream *st = ctx;
  if (!st->ndamage++)
    st->damage = *d;
  st->lost += d->events;
  lp_files_damage(&st->prof->files, d);
  if (st->body == 'p')
    st->prof->cpu.lost = lp_sat_add(st->prof->cpu.lost, d->events);
  else if (d->events)
    lp_profile_guess(st->prof, "events were lost");
}

/* Report that the recorder counted THEIRS where OURS was read. */
static void stream_differ(LpStream *st, const LpTotals *t, const char *of,
                          uint64_t theirs, uint64_t ours)
{
  LpDamage d = {.kind = LP_ODD, .offset = t->offset};
  if (theirs == ours)
    return;
  snprintf(d.what, sizeof(d.what),
           "the recorder counted %" PRIu64 " %s, but %" PRIu64 " were read",
           theirs, of, ours);
  lp_stream_damage(st, &d);
}

/* Compare the VM's own count at the end with what its events make of the one at
** the start. Old recorders did not know which events the VM did not count.
*/
static void stream_count(LpStream *st, const LpTotals *t)
{
  LpDamage d = {.kind = LP_ODD, .offset = t->offset};
  uint64_t in = st->in - st->foreign.in, out = st->out - st->foreign.out;
  uint64_t more = st->base + in - out - t->live;
  if (!more)
    return;
  snprintf(d.what, sizeof(d.what),
           "the VM counts %" PRIu64 " live bytes at the end, the events sum up "
           "to %" PRIu64 " %s%s",
           t->live, (int64_t)more < 0 ? -more : more,
           (int64_t)more < 0 ? "fewer" : "more",
           t->hasforeign ? "" : ": a C module may have used lua_getallocf()");
  lp_profile_guess(st->prof, "the VM did not count all memory");
  lp_stream_damage(st, &d);
}

/* The same of the events outside of its count. */
static void stream_foreign(LpStream *st, const LpTotals *t)
{
  const LpSums *theirs = &t->foreign, *ours = &st->foreign;
  stream_differ(st, t, "events outside of the VM's count",
                theirs->allocs + theirs->reallocs + theirs->frees,
                ours->allocs + ours->reallocs + ours->frees);
  stream_differ(st, t, "bytes in outside of the VM's count", theirs->in,
                ours->in);
  stream_differ(st, t, "bytes out outside of the VM's count", theirs->out,
                ours->out);
}

/* Compare the recorder's totals with what was read. With a gap only the number
** of events can be right.
*/
static void stream_totals(void *ctx, const LpTotals *t)
{
  LpStream *st = ctx;
  uint64_t recorded = t->allocs + t->reallocs + t->frees;
  uint64_t read = st->allocs + st->reallocs + st->frees;
  st->blind = (t->flags & ~(uint64_t)LJM_TOTALS_SAMPLED) || t->lost;
  if (t->lost)
    lp_profile_guess(st->prof, "the recorder could not see all events");
  if (t->flags & LJM_TOTALS_SWAPPED)
    lp_profile_guess(st->prof, "the allocator was replaced");
  if ((t->flags & LJM_TOTALS_SAMPLED) && !st->sample)
    lp_profile_guess(st->prof, "samples, of which the distance was lost");
  if (t->ns > st->ns)
    stream_time(st, t->ns);
  stream_differ(st, t, "events", recorded, read + st->lost);
  if (st->ndamage)
    return;
  stream_differ(st, t, "allocations", t->allocs, st->allocs);
  stream_differ(st, t, "reallocations", t->reallocs, st->reallocs);
  stream_differ(st, t, "bytes in", t->in, st->in);
  stream_differ(st, t, "bytes out", t->out, st->out);
  if (!st->blind && !(t->flags & LJM_TOTALS_SAMPLED) && st->hasbase)
    stream_count(st, t);
  if (t->hasforeign)
    stream_foreign(st, t);
}

/* -- Its life ------------------------------------------------------------- */

/* Begin. Returns the sink for the stream's reader. */
LpSink lp_stream_open(LpStream *st, LpProfile *prof)
{
  LpSink sink = {
      .ctx = st,
      .body = lp_stream_body,
      .meta = stream_meta,
      .func = stream_func,
      .site = stream_site,
      .node = stream_node,
      .events = stream_events,
      .time = stream_time,
      .damage = lp_stream_damage,
      .totals = stream_totals,
  };
  lp_stream_cpu(&sink);
  memset(st, 0, sizeof(*st));
  st->prof = prof;
  return sink;
}

/* What contradicts itself only when all is read. After a gap, or where the
** recorder itself could not see everything, it may.
*/
static void stream_contradictions(LpStream *st, uint64_t offset)
{
  LpDamage d = {.kind = LP_ODD, .offset = offset};
  if (st->twice) {
    lp_profile_guess(st->prof, "allocations where an object lives");
    snprintf(d.what, sizeof(d.what),
             "%" PRIu64 " allocations came where an object still lives",
             st->twice);
  } else if (st->sample && st->strays) {
    snprintf(d.what, sizeof(d.what),
             "%" PRIu64 " objects went away that were no samples", st->strays);
  } else if (!st->sample && st->hasbase && st->before > st->base) {
    lp_profile_guess(st->prof, "more was freed than there was");
    snprintf(d.what, sizeof(d.what),
             "%" PRIu64 " bytes live at the start, but %" PRIu64
             " of them were freed",
             st->base, st->before);
  } else {
    return;
  }
  lp_stream_damage(st, &d);
}

/* How much of it could be read. */
LpStatus lp_stream_status(const LpStream *st)
{
  if (!st->ndamage)
    return LP_WHOLE;
  return st->damage.kind == LP_NOTHING ? LP_UNREADABLE : LP_PART;
}

/* Put the stream on the time line of all, where others may have to move. */
static void stream_place(LpStream *st)
{
  LpProfile *prof = st->prof;
  uint64_t moved, end;
  if (!st->placed) {
    st->placed = 1;
    st->at = lp_timeline_add(&prof->timeline, &st->clock, &moved);
    lp_timeseries_shift(&prof->timeseries, moved);
    prof->peak_ns += prof->peak_bytes ? moved : 0;
    prof->ns = lp_sat_add(prof->ns, prof->ns ? moved : 0);
  }
  end = lp_sat_add(st->at, st->ns);
  lp_timeline_span(&prof->timeline, st->body == 'p', st->at, end);
  if (end > prof->ns)
    prof->ns = end;
}

/* Bring the profile up to date with what was read of the stream until now: it
** can be reported, and then read on.
*/
void lp_stream_finalize(LpStream *st)
{
  LpProfile *prof = st->prof;
  uint64_t base;
  int known = lp_stream_base(st, &base) != NULL;
  int nobefore =
      !known && st->body != 'p' && lp_stream_status(st) != LP_UNREADABLE;
  base = known ? base : 0;
  prof->base += base - st->added;
  prof->nobefore += nobefore - st->nobefore;
  st->added = base;
  st->nobefore = nobefore;
  if (st->body)
    stream_place(st);
  lp_detail_finalize(st);
  if (!prof->more)
    lp_profile_finalize(prof);
}

/* The end of the stream, whose length is OFFSET. */
void lp_stream_close(LpStream *st, uint64_t offset)
{
  if (!st->lost && !st->blind)
    stream_contradictions(st, offset);
  lp_stream_finalize(st);
  lp_detail_close(st);
  lp_live_free(&st->live);
  free(st->scale);
  st->scale = NULL;
}

/*
** One stream's way into a profile: a sink for its reader, its live objects,
** its books.
*/

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

/* -- Events --------------------------------------------------------------- */

/* An object becomes a site's. */
static inline void stream_arrive(LpStream *st, LpRow *r, const LpEvent *e)
{
  uint32_t was = lp_live_put(&st->live, e->naddr, e->site);
  r->arrived++;
  r->live += e->nsize;
  st->in += e->nsize;
  if (was != LP_NONE) { /* Its end was not told. */
    st->prof->row[was].left++;
    st->twice++;
  }
}

/* An object goes away. Returns the site whose it was. */
static inline uint32_t stream_leave(LpStream *st, const LpEvent *e)
{
  uint32_t of = lp_live_take(&st->live, e->oaddr);
  LpRow *r;
  if (of == LP_NONE) {
    of = LP_SITE_BEFORE;
    st->before += e->osize;
  }
  r = &st->prof->row[of];
  r->left++;
  r->live -= e->osize;
  st->out += e->osize;
  return of;
}

/* Apply one event. A reallocation moves the whole object to its site. */
static inline void stream_event(LpStream *st, const LpEvent *e)
{
  LpProfile *prof = st->prof;
  LpRow *r = &prof->row[e->site];
  uint32_t of;
  switch (e->kind) {
  case LJM_ALLOC:
    st->allocs++;
    r->allocs++;
    r->alloc_bytes += e->nsize;
    stream_arrive(st, r, e);
    break;
  case LJM_FREE:
    st->frees++;
    r->frees++;
    r->free_bytes += e->osize;
    of = stream_leave(st, e);
    lp_taken_add(&prof->taken, LP_TAKEN_KEY(e->site, of));
    break;
  default:
    st->reallocs++;
    r->reallocs++;
    r->realloc_in += e->nsize;
    r->realloc_out += e->osize;
    of = stream_leave(st, e);
    stream_arrive(st, r, e);
    lp_taken_add(&prof->taken, LP_TAKEN_REALLOC | LP_TAKEN_KEY(e->site, of));
    break;
  }
}

/* A batch of events: ask for the memory of all of them, then apply them. */
static void stream_events(void *ctx, const LpEvent *ev, size_t n)
{
  LpStream *st = ctx;
  size_t i;
  for (i = 0; i < n; i++) {
    if (ev[i].kind != LJM_ALLOC)
      lp_live_prefetch(&st->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&st->live, ev[i].naddr);
  }
  for (i = 0; i < n; i++)
    stream_event(st, &ev[i]);
}

/* -- Everything else ------------------------------------------------------ */

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

/* A fact about the recording. */
static void stream_meta(void *ctx, const LpMeta *m)
{
  LpStream *st = ctx;
  if (m->tag == LJM_META_UINT && m->key.n == 4 &&
      memcmp(m->key.s, "live", 4) == 0) {
    st->base = m->u;
    st->hasbase = 1;
  }
}

/* A time mark. */
static void stream_time(void *ctx, uint64_t ns)
{
  ((LpStream *)ctx)->ns = ns;
}

/* Something is wrong: the first thing is kept, the others are counted. */
static void stream_damage(void *ctx, const LpDamage *d)
{
  LpStream *st = ctx;
  if (!st->ndamage++)
    st->damage = *d;
  st->lost += d->events;
  if (d->events)
    lp_profile_guess(st->prof, "events were lost");
}

/* Tell that the books say THEIRS where OURS was read. */
static void stream_differ(LpStream *st, const LpTotals *t, const char *of,
                          uint64_t theirs, uint64_t ours)
{
  LpDamage d = {.kind = LP_ODD, .offset = t->offset};
  if (theirs == ours)
    return;
  snprintf(d.what, sizeof(d.what),
           "the totals tell of %" PRIu64 " %s, %" PRIu64 " were read", theirs,
           of, ours);
  stream_damage(st, &d);
}

/* Compare the recorder's books with what was read. With a gap only the number
** of events can be right.
*/
static void stream_totals(void *ctx, const LpTotals *t)
{
  LpStream *st = ctx;
  uint64_t told = t->allocs + t->reallocs + t->frees;
  uint64_t read = st->allocs + st->reallocs + st->frees;
  st->blind = t->flags || t->lost;
  if (t->lost)
    lp_profile_guess(st->prof, "the recorder could not see all events");
  if (t->flags & LJM_TOTALS_SWAPPED)
    lp_profile_guess(st->prof, "the allocator was replaced");
  stream_differ(st, t, "events", told, read + st->lost);
  if (st->ndamage)
    return;
  stream_differ(st, t, "allocations", t->allocs, st->allocs);
  stream_differ(st, t, "reallocations", t->reallocs, st->reallocs);
  stream_differ(st, t, "bytes in", t->in, st->in);
  stream_differ(st, t, "bytes out", t->out, st->out);
  if (!st->blind && st->hasbase)
    stream_differ(st, t, "live bytes", t->live, st->base + st->in - st->out);
}

/* -- Its life ------------------------------------------------------------- */

/* Begin. Returns the sink for the stream's reader. */
LpSink lp_stream_open(LpStream *st, LpProfile *prof)
{
  LpSink sink = {
      .ctx = st,
      .meta = stream_meta,
      .func = stream_func,
      .site = stream_site,
      .events = stream_events,
      .time = stream_time,
      .damage = stream_damage,
      .totals = stream_totals,
  };
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
  } else if (st->hasbase && st->before > st->base) {
    lp_profile_guess(st->prof, "more was freed than there was");
    snprintf(d.what, sizeof(d.what),
             "%" PRIu64 " bytes live at the start, but %" PRIu64
             " of them were freed",
             st->base, st->before);
  } else {
    return;
  }
  stream_damage(st, &d);
}

/* How much of it could be read. */
LpStatus lp_stream_status(const LpStream *st)
{
  if (!st->ndamage)
    return LP_WHOLE;
  return st->damage.kind == LP_NOTHING ? LP_UNREADABLE : LP_PART;
}

/* The end of the stream, whose length is OFFSET. */
void lp_stream_close(LpStream *st, uint64_t offset)
{
  if (!st->lost && !st->blind)
    stream_contradictions(st, offset);
  if (st->hasbase)
    st->prof->row[LP_SITE_BEFORE].live += st->base;
  else if (lp_stream_status(st) != LP_UNREADABLE)
    st->prof->nobefore = 1;
  lp_live_free(&st->live);
}

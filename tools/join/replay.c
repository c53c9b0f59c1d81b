/*
** Replay: what was live in a recording where a heap dump was taken.
**
** The live map has the numbers of blocks here, each with its origin, and the
** time when it was allocated. A reallocation moves a block to the site that
** asked for it, as everywhere; it keeps its age.
*/

#include <inttypes.h>
#include <string.h>

#include "replay.h"

#define REPLAY_MS 1000000 /* Nanoseconds of a tick. */

/* -- Blocks ---------------------------------------------------------------- */

/* The block at ADDR is gone. Returns when it was born; UNKNOWN: that is not
** known.
*/
static uint64_t replay_take(LpReplay *r, uint64_t addr, uint64_t unknown)
{
  uint32_t number = lp_live_take(&r->live, addr);
  uint64_t birth;
  if (number == LP_NONE)
    return unknown;
  birth = (uint64_t)lp_object_age_get(&r->ages, number)->birth << r->ages.shift;
  lp_object_age_drop(&r->ages, number);
  return birth;
}

/* An object is allocated. */
static void replay_put(LpReplay *r, const LpEvent *e, uint64_t birth)
{
  LpOrigins *o = &r->st.prof->origins;
  uint32_t origin = lp_origins_get(o, e->node, e->site, e->type);
  uint32_t number = lp_object_age_new(&r->ages, origin, e->nsize, birth);
  uint32_t old = lp_live_put(&r->live, e->naddr, number);
  if (old != LP_NONE) /* Its deallocation was lost. */
    lp_object_age_drop(&r->ages, old);
}

/* In samples, the old or the new block of an event may not be recorded. If the
** old one is not, or is older than the recording, it may be older than the
** base: it is not new.
*/
static void replay_event(LpReplay *r, const LpEvent *e, uint64_t now)
{
  int sampled = r->st.sample && e->kind == LJM_REALLOC;
  int old = e->kind != LJM_ALLOC && (!sampled || e->sampled & LJM_SAMPLED_OLD);
  int new = e->kind != LJM_FREE && (!sampled || e->sampled & LJM_SAMPLED_NEW);
  uint64_t unknown = r->base && e->kind == LJM_REALLOC ? 0 : now;
  uint64_t birth = old ? replay_take(r, e->oaddr, unknown) : unknown;
  if (new)
    replay_put(r, e, birth);
}

/* -- The sink -------------------------------------------------------------- */

/* The clock at a time. Each object is older or newer than the base's record. */
static uint64_t replay_clock(const LpReplay *r, uint64_t ns)
{
  return ns / REPLAY_MS + (r->base && r->since != UINT64_MAX);
}

/* Follow objects up to where the dump was taken. */
static void replay_events(void *ctx, const LpEvent *ev, size_t n)
{
  LpReplay *r = ctx;
  uint64_t now = replay_clock(r, r->st.ns);
  size_t i;
  if (r->state != LP_REPLAY_SEEKS)
    return;
  for (i = 0; i < n; i++) {
    if (ev[i].kind != LJM_ALLOC)
      lp_live_prefetch(&r->live, ev[i].oaddr);
    if (ev[i].kind != LJM_FREE)
      lp_live_prefetch(&r->live, ev[i].naddr);
  }
  for (i = 0; i < n; i++)
    replay_event(r, &ev[i], now);
  r->events += n;
}

/* Is the key KEY of the recording another one than the dump's? */
static int replay_differs(const LpMeta *m, const char *key, uint64_t dumps)
{
  return lp_meta_is(m, key) && dumps && m->u != dumps;
}

/* Compare the recording's identity with that in the dump. */
static void replay_meta(void *ctx, const LpMeta *m)
{
  LpReplay *r = ctx;
  const LpDumpOrigin *o = &r->dump->origin;
  if (replay_differs(m, "monotonic", o->recording) ||
      replay_differs(m, "pid", o->pid) ||
      replay_differs(m, "process_start", o->process_start))
    r->state = LP_REPLAY_OTHER;
  r->counted.meta(&r->st, m);
}

/* Time goes on. */
static void replay_time(void *ctx, uint64_t ns)
{
  ((LpReplay *)ctx)->st.ns = ns;
}

/* Totals say nothing about the moment of the dump. */
static void replay_totals(void *ctx, const LpTotals *t)
{
  (void)ctx;
  (void)t;
}

/* A dump was taken here. Returns 1 if it is the one that is joined. */
static int replay_dump(void *ctx, const LpDumpMark *m)
{
  LpReplay *r = ctx;
  if (r->base && r->base->origin.id && m->id == r->base->origin.id)
    r->since = r->st.ns / REPLAY_MS + 1;
  if (r->state != LP_REPLAY_SEEKS || m->id != r->dump->origin.id)
    return 0;
  r->state = LP_REPLAY_FOUND;
  r->mark = *m;
  return 1;
}

LpSink lp_replay_open(LpReplay *r, LpProfile *prof, const LpDump *dump,
                      const LpDump *base)
{
  LpSink sink;
  memset(r, 0, sizeof(*r));
  sink = r->counted = lp_stream_open(&r->st, prof);
  sink.ctx = r;
  sink.meta = replay_meta;
  sink.events = replay_events;
  sink.time = replay_time;
  sink.totals = replay_totals;
  sink.dump = replay_dump;
  r->dump = dump;
  r->base = base;
  r->since = UINT64_MAX;
  lp_object_age_open(&r->ages);
  return sink;
}

void lp_replay_close(LpReplay *r)
{
  lp_live_free(&r->live);
  lp_object_age_close(&r->ages);
}

/* -- What is there --------------------------------------------------------- */

const LpObjectAge *lp_replay_find(LpReplay *r, uint64_t addr)
{
  uint32_t number = lp_live_get(&r->live, addr);
  return number == LP_NONE ? NULL : lp_object_age_get(&r->ages, number);
}

int lp_replay_isnew(const LpReplay *r, const LpObjectAge *block)
{
  return (uint64_t)block->birth << r->ages.shift >= r->since;
}

uint64_t lp_replay_age(const LpReplay *r, const LpObjectAge *block)
{
  uint64_t now = r->mark.ns / REPLAY_MS + (uint64_t)lp_replay_isnew(r, block);
  uint64_t birth = (uint64_t)block->birth << r->ages.shift;
  return now > birth ? now - birth : 0;
}

int lp_replay_compares(const LpReplay *r, LpBuf *why)
{
  const LpDumpOrigin *base = &r->base->origin, *dump = &r->dump->origin;
  if (r->since != UINT64_MAX)
    return 1;
  if ((base->pid && dump->pid && base->pid != dump->pid) ||
      (base->process_start && dump->process_start &&
       base->process_start != dump->process_start))
    lp_buf_puts(why, "has no record of the base, which is of another process");
  else if (base->recording != dump->recording)
    lp_buf_puts(why,
                "has no record of the base, which was taken outside of it");
  else if (r->st.ndamage)
    lp_buf_puts(why, "has lost the record of the base: it is damaged");
  else
    lp_buf_puts(why, "has no record of the base before that of the heap dump");
  return 0;
}

int lp_replay_joins(const LpReplay *r, LpBuf *why)
{
  const LpStream *st = &r->st;
  if (r->state == LP_REPLAY_FOUND)
    return 1;
  if (st->body && st->body != 'm')
    lp_buf_puts(why, "is no recording of memory");
  else if (!r->dump->origin.recording)
    lp_buf_puts(why, "has no record of the heap dump, which was taken while "
                     "nothing was recorded in the compact format");
  else if (r->state == LP_REPLAY_OTHER)
    lp_buf_puts(why, "is not the recording that the heap dump was taken in");
  else if (st->ndamage)
    lp_buf_puts(why, "has lost the record of the heap dump: it is damaged");
  else
    lp_buf_puts(why, "has no record of the heap dump");
  return 0;
}

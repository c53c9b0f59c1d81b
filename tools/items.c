/*
** What is inside a block of version 0x10: events, records, changes of the
*stack.
**
** This is the hot loop of the reader. An event is decoded without looking where
** the block ends, since LP_SLACK bytes can be read behind it; then it is
*checked
** once.
*/

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "items.h"
#include "leb.h"

#define ITEMS_EVENT_MAX (2 + 5 * LJM_ULEB_MAX) /* The longest event. */

_Static_assert(ITEMS_EVENT_MAX <= LP_SLACK,
               "an event may be read past the end");

/* What an event is told relative to. */
typedef struct Registers {
  uint32_t site[4]; /* By kind of event. */
  uint64_t size[4];
  uint64_t alloc; /* The last allocated address, turned. */
  uint64_t free;  /* The last freed address, turned. */
} Registers;

/* Start with nothing known. */
void lp_items_open(LpItems *it, const LpSink *sink)
{
  memset(it, 0, sizeof(*it));
  it->sink = sink;
  lp_stack_open(&it->stack, sink);
  lp_idmap_put(&it->sites, LJM_SITE_INTERNAL, LP_SITE_INTERNAL);
  lp_idmap_put(&it->sites, LJM_SITE_UNKNOWN, LP_SITE_UNKNOWN);
}

/* Give the memory back. */
void lp_items_close(LpItems *it)
{
  lp_stack_close(&it->stack);
  lp_idmap_free(&it->funcs);
  lp_idmap_free(&it->sites);
}

/* Hand over the events that wait. */
static void items_flush(LpItems *it)
{
  if (it->n)
    it->sink->events(it->sink->ctx, it->ev, it->n);
  it->events += it->n;
  it->n = 0;
}

/* Something at P is not as it should be. */
__attribute__((format(printf, 3, 4))) static void
items_odd(LpItems *it, const uint8_t *p, const char *fmt, ...)
{
  LpDamage d = {.kind = LP_ODD};
  va_list ap;
  d.offset = it->base + (uint64_t)(p - it->from);
  va_start(ap, fmt);
  vsnprintf(d.what, sizeof(d.what), fmt, ap);
  va_end(ap);
  it->sink->damage(it->sink->ctx, &d);
}

/* -- The stack ------------------------------------------------------------ */

/* The innermost site calls the site ID of the stream, as P tells. */
static void items_push(LpItems *it, const uint8_t *p, uint64_t id)
{
  uint32_t site = lp_idmap_get(&it->sites, id);
  if (site == LP_NONE) {
    site = LP_SITE_LOST;
    if (!it->gap)
      items_odd(it, p, "a caller's site %" PRIu64 " is not defined", id);
  }
  it->deep = !lp_stack_fits(&it->stack);
  if (it->deep)
    items_odd(it, p, "a stack of more than %d sites", LP_STACK_MAX);
  else
    lp_stack_push(&it->stack, site);
}

/* The change of the stack at P. Returns the byte behind it, or NULL if it is
** not all there. Where more sites return than have called, nothing is known of
** the callers any more.
*/
static const uint8_t *items_change(LpItems *it, const uint8_t *p,
                                   const uint8_t *end)
{
  const uint8_t *at = p;
  unsigned bad = 0, head = *p++;
  uint64_t pops = LJM_STACK_POPS(head), pushes = LJM_STACK_PUSHES(head);
  if (pops == LJM_STACK_MOREPOPS)
    pops = lp_sat_add(pops, lp_uleb(&p, &bad));
  if (pushes == LJM_STACK_MOREPUSHES)
    pushes = lp_sat_add(pushes, lp_uleb(&p, &bad));
  if (bad || p > end)
    return NULL;
  if (pops <= it->stack.n) {
    lp_stack_pop(&it->stack, (uint32_t)pops);
  } else {
    items_odd(it, at, "%" PRIu64 " sites return, %" PRIu32 " have called", pops,
              it->stack.n);
    lp_stack_reset(&it->stack, 1);
  }
  for (; pushes && !it->deep; pushes--) {
    uint64_t id;
    at = p;
    if (p >= end || (id = lp_uleb(&p, &bad), bad) || p > end)
      return NULL;
    items_push(it, at, id);
  }
  return p;
}

/* -- Records -------------------------------------------------------------- */

/* Remember what the sink calls an ID of the stream. */
static void items_define(LpItems *it, LpIdMap *m, const uint8_t *p, uint64_t id,
                         uint32_t number)
{
  uint32_t old = lp_idmap_put(m, id, number);
  if (old != LP_NONE && old != number)
    items_odd(it, p, "id %" PRIu64 " is defined for a second time", id);
}

/* The sink's number of a function; a lost one is none. */
static uint32_t items_func(LpItems *it, const uint8_t *p, uint64_t id)
{
  uint32_t number = lp_idmap_get(&it->funcs, id);
  if (number != LP_NONE)
    return number;
  if (id && !it->gap)
    items_odd(it, p, "function %" PRIu64 " is not defined", id);
  return LP_FUNC_NONE;
}

/* What the reader itself has to know of a recording. */
static void items_setting(LpItems *it, const LpMeta *m)
{
  if (lp_meta_is(m, "sample"))
    it->sample = m->u;
  else if (lp_meta_is(m, "stack"))
    lp_stack_limit(&it->stack, m->u);
}

/* META: keys and values. Settings cannot change behind the first one. */
static void items_meta(LpItems *it, LpCursor *c)
{
  int first = !it->hasmeta;
  it->hasmeta = 1;
  items_flush(it);
  if (first)
    lp_stack_limit(&it->stack, 1);
  while (c->p < c->end) {
    LpMeta m = {.key = lp_cursor_str(c)};
    const uint8_t *tag = lp_cursor_bytes(c, 1);
    m.tag = tag ? *tag : 0;
    if (m.tag == LJM_META_UINT)
      m.u = lp_cursor_uleb(c);
    else if (m.tag == LJM_META_STRING)
      m.s = lp_cursor_str(c);
    else
      return; /* Of unknown length, so all behind it is unknown. */
    if (c->bad)
      return;
    if (first)
      items_setting(it, &m);
    it->sink->meta(it->sink->ctx, &m);
  }
}

/* PROTO, CFUNC, TRACE: a function. */
static void items_function(LpItems *it, LpCursor *c, unsigned code)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpFunc f = {.flags = (uint32_t)lp_cursor_uleb(c)};
  if (code == LJM_REC_PROTO) {
    f.kind = LP_FUNC_LUA;
    f.addr = lp_cursor_uleb(c);
    f.hash = lp_cursor_uleb(c);
    f.first = lp_cursor_uleb(c);
    f.lines = lp_cursor_uleb(c);
    f.chunk = lp_cursor_str(c);
    f.name = lp_cursor_str(c);
  } else if (code == LJM_REC_CFUNC) {
    f.kind = LP_FUNC_C;
    f.addr = lp_cursor_uleb(c);
    f.offset = lp_cursor_uleb(c);
    f.chunk = lp_cursor_str(c);
    f.name = lp_cursor_str(c);
  } else {
    f.kind = LP_FUNC_TRACE;
    f.traceno = lp_cursor_uleb(c);
    f.start = items_func(it, at, lp_cursor_uleb(c));
    f.line = lp_cursor_uleb(c);
  }
  if (!c->bad)
    items_define(it, &it->funcs, at, id, it->sink->func(it->sink->ctx, &f));
}

/* SITE: a line in a function. */
static void items_site(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpSite s = {.flags = (uint32_t)lp_cursor_uleb(c)};
  s.func = items_func(it, at, lp_cursor_uleb(c));
  s.line = lp_cursor_uleb(c);
  if (!c->bad)
    items_define(it, &it->sites, at, id, it->sink->site(it->sink->ctx, &s));
}

/* STACK: all of the register. */
static void items_stack(LpItems *it, LpCursor *c)
{
  uint64_t flags = lp_cursor_uleb(c);
  if (!c->bad)
    lp_stack_reset(&it->stack, (flags & LJM_STACK_CUT) != 0);
  while (c->p < c->end && !it->deep) {
    const uint8_t *at = c->p;
    uint64_t id = lp_cursor_uleb(c);
    if (!c->bad)
      items_push(it, at, id);
  }
}

/* TIME: for all that follows. */
static void items_time(LpItems *it, LpCursor *c)
{
  uint64_t ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  items_flush(it);
  it->sink->time(it->sink->ctx, ns);
}

/* TOTALS: the books. */
static void items_totals(LpItems *it, LpCursor *c, const uint8_t *at)
{
  LpTotals t = {.offset = it->base + (uint64_t)(at - it->from)};
  t.flags = lp_cursor_uleb(c);
  t.allocs = lp_cursor_uleb(c);
  t.reallocs = lp_cursor_uleb(c);
  t.frees = lp_cursor_uleb(c);
  t.in = lp_cursor_uleb(c);
  t.out = lp_cursor_uleb(c);
  t.live = lp_cursor_uleb(c);
  t.lost = lp_cursor_uleb(c);
  t.ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  items_flush(it);
  it->ended = 1;
  it->sink->totals(it->sink->ctx, &t);
}

/* Read the record at P. Returns the byte behind it, or NULL if it is not all
** there. One that is too short for its fields is skipped.
*/
static const uint8_t *items_record(LpItems *it, const uint8_t *p,
                                   const uint8_t *end)
{
  LpCursor all = {p + 1, end, 0}, c = {NULL, NULL, 0};
  unsigned code = LJM_RECORD_CODE(*p);
  uint64_t n = lp_cursor_uleb(&all);
  c.p = lp_cursor_bytes(&all, n);
  c.end = all.p;
  if (all.bad)
    return NULL;
  if (code == LJM_REC_META)
    items_meta(it, &c);
  else if (code >= LJM_REC_PROTO && code <= LJM_REC_TRACE)
    items_function(it, &c, code);
  else if (code == LJM_REC_SITE)
    items_site(it, &c);
  else if (code == LJM_REC_TIME)
    items_time(it, &c);
  else if (code == LJM_REC_TOTALS)
    items_totals(it, &c, p);
  else if (code == LJM_REC_STACK)
    items_stack(it, &c);
  if (c.bad)
    items_odd(it, p, "a record of kind %u is too short for its fields", code);
  return all.p;
}

/* -- Events --------------------------------------------------------------- */

/* The sink's number of a site of the stream, or LP_NONE. */
static inline uint32_t items_where(LpItems *it, const uint8_t **p,
                                   unsigned *bad)
{
  return lp_idmap_get(&it->sites, lp_uleb(p, bad));
}

/* An address, told relative to another. */
static inline uint64_t items_addr(const uint8_t **p, uint64_t base,
                                  unsigned *bad)
{
  return base + ljm_unzigzag(lp_uleb(p, bad));
}

/* Decode the event at P into E. Returns the byte behind it. */
static inline const uint8_t *items_event(LpItems *it, const uint8_t *p,
                                         Registers *r, LpEvent *e,
                                         unsigned *bad)
{
  unsigned head = *p++, kind = head & LJM_KIND_MASK;
  uint64_t addr;
  e->kind = (uint8_t)kind;
  e->type = (uint8_t)(head >> LJM_TYPE_SHIFT);
  if (!(head & LJM_SAMESITE))
    r->site[kind] = items_where(it, &p, bad);
  e->site = r->site[kind];
  if (kind == LJM_REALLOC) {
    addr = items_addr(&p, r->alloc, bad);
    e->oaddr = ljm_unturn(addr);
    if (!(head & LJM_INPLACE))
      addr = items_addr(&p, addr, bad);
    r->alloc = addr;
    e->naddr = ljm_unturn(addr);
    e->osize = lp_uleb(&p, bad);
    e->nsize = lp_uleb(&p, bad);
    e->sampled = it->sample ? *p++ : 0;
    *bad |= it->sample && (e->sampled == 0 || e->sampled > 3);
  } else if (kind == LJM_ALLOC) {
    r->alloc = items_addr(&p, r->alloc, bad);
    if (!(head & LJM_SAMESIZE))
      r->size[kind] = lp_uleb(&p, bad);
    e->oaddr = e->osize = 0;
    e->naddr = ljm_unturn(r->alloc);
    e->nsize = r->size[kind];
  } else {
    r->free = items_addr(&p, r->free, bad);
    if (!(head & LJM_SAMESIZE))
      r->size[kind] = lp_uleb(&p, bad);
    e->oaddr = ljm_unturn(r->free);
    e->osize = r->size[kind];
    e->naddr = e->nsize = 0;
  }
  return p;
}

/* Read the events at P, as many as there are without a record in between.
** Returns the byte behind the last whole one.
*/
static const uint8_t *items_events(LpItems *it, const uint8_t *p,
                                   const uint8_t *end, Registers *r)
{
  const uint32_t callers = it->stack.node;
  while (p < end && (*p & LJM_KIND_MASK) != LJM_RECORD) {
    LpEvent *e = &it->ev[it->n];
    unsigned bad = 0;
    const uint8_t *next = items_event(it, p, r, e, &bad);
    if (next > end || bad)
      break;
    if (e->site == LP_NONE) {
      r->site[e->kind] = e->site = LP_SITE_LOST;
      if (!it->gap)
        items_odd(it, p, "an event at a site that is not defined");
    }
    /* Neither the VM itself nor who is unknown has callers. */
    e->node = e->site < LP_SITE_LOST ? LP_NODE_ROOT : callers;
    p = next;
    if (++it->n == LP_BATCH)
      items_flush(it);
  }
  return p;
}

/* Read the item at P, or more than one. Returns the byte behind, or NULL and
** *WHY it cannot be read.
*/
static const uint8_t *items_next(LpItems *it, const uint8_t *p,
                                 const uint8_t *end, Registers *r,
                                 const char **why)
{
  const uint8_t *next = NULL;
  if (it->ended) {
    *why = "expected the end of the stream behind its totals";
  } else if ((*p & LJM_KIND_MASK) != LJM_RECORD) {
    *why = "a broken event";
    next = items_events(it, p, end, r);
  } else if (*p & LJM_STACK_BIT) {
    *why = "a broken change of the stack";
    next = items_change(it, p, end);
  } else if (*p) {
    *why = "a broken record";
    next = items_record(it, p, end);
  } else {
    *why = "expected an event or a record";
  }
  return next == p ? NULL : next;
}

/* Read the N bytes of a block's payload, which begin at OFFSET of the stream.
** Returns whether they could be read to the end; if not, the sink was told.
*/
int lp_items_block(LpItems *it, const uint8_t *p, size_t n, uint64_t offset)
{
  const uint8_t *end = p + n;
  const char *why = NULL;
  int broken = 0;
  Registers r;
  memset(&r, 0, sizeof(r)); /* Site 0 is INTERNAL in both numberings. */
  lp_stack_reset(&it->stack, 0);
  it->from = p;
  it->base = offset;
  it->deep = 0;
  while (p < end && !it->deep && !broken) {
    const uint8_t *next = items_next(it, p, end, &r, &why);
    broken = !next;
    p = next ? next : p;
  }
  items_flush(it);
  if (broken)
    items_odd(it, p, "%s, found 0x%02x", why, *p);
  return !broken && !it->deep;
}

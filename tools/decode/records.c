/*
** Records of version 0x10, between the events.
*/

#include <inttypes.h>
#include <string.h>

#include "items.h"

/* -- Records -------------------------------------------------------------- */

/* Remember what the sink calls an ID of the stream. */
void lp_items_define(LpItems *it, LpIdMap *m, const uint8_t *p, uint64_t id,
                     uint32_t number)
{
  uint32_t old = lp_idmap_put(m, id, number);
  if (old != LP_NONE && old != number)
    lp_items_odd(it, p, "id %" PRIu64 " is defined for a second time", id);
}

/* The sink's number of a function; a lost one is none. */
static uint32_t items_func(LpItems *it, const uint8_t *p, uint64_t id)
{
  uint32_t number = lp_idmap_get(&it->funcs, id);
  if (number != LP_NONE)
    return number;
  if (id && !it->gap)
    lp_items_odd(it, p, "function %" PRIu64 " is not defined", id);
  return LP_FUNC_NONE;
}

/* What the reader itself has to know of a recording. */
static void items_setting(LpItems *it, const LpMeta *m)
{
  if (lp_meta_is(m, "hz") && lp_items_is(it, 'p'))
    lp_stack_limit(&it->stack, UINT64_MAX);
  else if (it->body == 'p')
    return;
  else if (lp_meta_is(m, "sample"))
    it->sample = m->u;
  else if (lp_meta_is(m, "stack"))
    lp_stack_limit(&it->stack, m->u);
}

/* The next key and value of META or BOOKS. Returns 0 if there is none. */
int lp_items_pair(LpCursor *c, LpMeta *m)
{
  const uint8_t *tag;
  memset(m, 0, sizeof(*m));
  if (c->p >= c->end)
    return 0;
  m->key = lp_cursor_str(c);
  tag = lp_cursor_bytes(c, 1);
  m->tag = tag ? *tag : 0;
  if (m->tag == LJM_META_UINT)
    m->u = lp_cursor_uleb(c);
  else if (m->tag == LJM_META_STRING)
    m->s = lp_cursor_str(c);
  else
    return 0; /* Of unknown length, so all behind it is unknown. */
  return !c->bad;
}

/* META: keys and values. Settings cannot change behind the first one. Where the
** body's kind is not known, a CPU profile is known by its first key.
*/
static void items_meta(LpItems *it, LpCursor *c)
{
  int first = !it->hasmeta;
  LpMeta m;
  it->hasmeta = 1;
  lp_items_flush(it);
  if (first && it->body != 'p')
    lp_stack_limit(&it->stack, 1);
  while (lp_items_pair(c, &m)) {
    if (first)
      items_setting(it, &m);
    it->sink->meta(it->sink->ctx, &m);
  }
}

/* Builtins and marks have no symbol behind their name. */
#define ITEMS_CFUNCS (LJM_CFUNC_NAMED | LJM_CFUNC_BUILTIN | LJM_CFUNC_MARK)

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
    f.kind = f.flags & LJM_CFUNC_MARK ? LP_FUNC_MARK : LP_FUNC_C;
    f.addr = lp_cursor_uleb(c);
    f.offset = lp_cursor_uleb(c);
    f.chunk = lp_cursor_str(c);
    f.name = lp_cursor_str(c);
    if ((f.flags & ITEMS_CFUNCS) == LJM_CFUNC_NAMED) {
      f.named = f.name;
      f.name = lp_cursor_str(c);
    }
  } else {
    f.kind = LP_FUNC_TRACE;
    f.traceno = lp_cursor_uleb(c);
    f.start = items_func(it, at, lp_cursor_uleb(c));
    f.line = lp_cursor_uleb(c);
  }
  if (!c->bad)
    lp_items_define(it, &it->funcs, at, id, it->sink->func(it->sink->ctx, &f));
}

/* SITE: a line in a function. */
static void items_site(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpSite s = {.flags = (uint32_t)lp_cursor_uleb(c)};
  uint32_t number;
  s.func = items_func(it, at, lp_cursor_uleb(c));
  s.line = lp_cursor_uleb(c);
  if (c->bad)
    return;
  number = it->sink->site(it->sink->ctx, &s);
  lp_items_define(it, &it->sites, at, id, number);
  if (id < ITEMS_NEAR)
    it->near[id] = number + 1;
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
      lp_items_push(it, at, id);
  }
}

/* TIME: for all that follows. */
static void items_time(LpItems *it, LpCursor *c)
{
  uint64_t ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  lp_items_flush(it);
  it->sink->time(it->sink->ctx, ns);
}

/* FOREIGN: of the event before it. */
static void items_foreign(LpItems *it, const uint8_t *p)
{
  LpEvent *e = it->n ? &it->ev[it->n - 1] : NULL;
  if (!e || e->kind == LJM_ALLOC)
    lp_items_odd(it, p, "no event to be outside of the VM's count");
  else
    e->foreign = 1;
}

/* TOTALS: the recorder's sums. */
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
  if (c->p < c->end) {
    t.hasforeign = 1;
    t.foreign.allocs = lp_cursor_uleb(c);
    t.foreign.reallocs = lp_cursor_uleb(c);
    t.foreign.frees = lp_cursor_uleb(c);
    t.foreign.in = lp_cursor_uleb(c);
    t.foreign.out = lp_cursor_uleb(c);
  }
  if (c->bad)
    return;
  lp_items_flush(it);
  it->ended = 1;
  it->sink->totals(it->sink->ctx, &t);
}

/* Read the record at P. Returns the byte behind it, or NULL if it is not all
** there. One that is too short for its fields is skipped.
*/
const uint8_t *lp_items_record(LpItems *it, const uint8_t *p,
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
  else if (code == LJM_REC_STACK)
    items_stack(it, &c);
  else if (code == LJM_REC_TOTALS && lp_items_is(it, 'm'))
    items_totals(it, &c, p);
  else if (code == LJM_REC_FOREIGN && it->body != 'p')
    items_foreign(it, p);
  else
    lp_items_cpu(it, &c, code, p);
  if (c.bad)
    lp_items_odd(it, p, "a record of kind %u is too short for its fields",
                 code);
  return all.p;
}

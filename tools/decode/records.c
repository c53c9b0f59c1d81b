/*
** Records of version 0x10, between the events.
*/

#include <inttypes.h>
#include <string.h>

#include "ljm_heap.h"
#include "records.h"

/* -- Definitions ---------------------------------------------------------- */

/* The sink's number of the stream's ID in M; 0 if there is none, which is
** reported as a WHAT that the item at P refers to.
*/
static uint32_t record_number(LpItems *it, const LpIdMap *m, const uint8_t *p,
                              uint64_t id, const char *what)
{
  uint32_t number = lp_idmap_get(m, id);
  if (number != LP_NONE)
    return number;
  if (id && !it->gap)
    lp_items_odd(it, p, "%s %" PRIu64 " is not defined", what, id);
  return 0;
}

/* Reads a definition at AT, behind its id and FLAGS, and returns the sink's
** number of it. If C is bad afterwards, the caller ignores the number.
*/
typedef uint32_t Definition(LpItems *it, LpCursor *c, const uint8_t *at,
                            uint32_t flags);

/* The definition of a Lua function. */
static uint32_t record_proto(LpItems *it, LpCursor *c, const uint8_t *at,
                             uint32_t flags)
{
  LpFunc f = {.kind = LP_FUNC_LUA, .flags = flags};
  (void)at;
  f.addr = lp_cursor_uleb(c);
  f.hash = lp_cursor_uleb(c);
  f.first = lp_cursor_uleb(c);
  f.lines = lp_cursor_uleb(c);
  f.chunk = lp_cursor_str(c);
  f.name = lp_cursor_str(c);
  return c->bad ? 0 : it->sink->func(it->sink->ctx, &f);
}

/* Builtins and marks have no symbol behind their name. */
#define RECORD_CFUNCS (LJM_CFUNC_NAMED | LJM_CFUNC_BUILTIN | LJM_CFUNC_MARK)

/* The definition of a C function, or of a mark. */
static uint32_t record_cfunc(LpItems *it, LpCursor *c, const uint8_t *at,
                             uint32_t flags)
{
  LpFunc f = {.kind = flags & LJM_CFUNC_MARK ? LP_FUNC_MARK : LP_FUNC_C,
              .flags = flags};
  (void)at;
  f.addr = lp_cursor_uleb(c);
  f.offset = lp_cursor_uleb(c);
  f.chunk = lp_cursor_str(c);
  f.name = lp_cursor_str(c);
  if ((flags & RECORD_CFUNCS) == LJM_CFUNC_NAMED) {
    f.named = f.name;
    f.name = lp_cursor_str(c);
  }
  return c->bad ? 0 : it->sink->func(it->sink->ctx, &f);
}

/* The definition of a trace. */
static uint32_t record_trace(LpItems *it, LpCursor *c, const uint8_t *at,
                             uint32_t flags)
{
  LpFunc f = {.kind = LP_FUNC_TRACE, .flags = flags};
  f.traceno = lp_cursor_uleb(c);
  f.start = record_number(it, &it->funcs, at, lp_cursor_uleb(c), "function");
  f.line = lp_cursor_uleb(c);
  return c->bad ? 0 : it->sink->func(it->sink->ctx, &f);
}

/* A line in a function. */
static uint32_t record_site(LpItems *it, LpCursor *c, const uint8_t *at,
                            uint32_t flags)
{
  LpSite s = {.flags = flags};
  s.func = record_number(it, &it->funcs, at, lp_cursor_uleb(c), "function");
  s.line = lp_cursor_uleb(c);
  return c->bad ? 0 : it->sink->site(it->sink->ctx, &s);
}

/* A file with code. */
static uint32_t record_module(LpItems *it, LpCursor *c, const uint8_t *at,
                              uint32_t flags)
{
  LpModule m = {.buildid = lp_cursor_str(c)};
  (void)at, (void)flags;
  m.path = lp_cursor_str(c);
  return c->bad ? 0 : it->sink->module(it->sink->ctx, &m);
}

/* A function of a module, or of the kernel. */
static uint32_t record_native(LpItems *it, LpCursor *c, const uint8_t *at,
                              uint32_t flags)
{
  LpFunc f = {.flags = flags};
  uint64_t module = lp_cursor_uleb(c);
  f.kind = flags & LJM_NATIVE_KERNEL ? LP_FUNC_KERNEL : LP_FUNC_NATIVE;
  f.addr = lp_cursor_uleb(c);
  f.name = lp_cursor_str(c);
  if (c->bad)
    return 0;
  f.module = record_number(it, &it->modules, at, module, "module");
  return it->sink->func(it->sink->ctx, &f);
}

/* The definition of a process. */
static uint32_t record_process(LpItems *it, LpCursor *c, const uint8_t *at,
                               uint32_t flags)
{
  LpProcess p = {.pid = lp_cursor_uleb(c)};
  (void)at, (void)flags;
  p.pidns = lp_cursor_uleb(c);
  p.start = lp_cursor_uleb(c);
  p.command = lp_cursor_str(c);
  if (!c->bad && c->p < c->end) /* Older streams do not have it. */
    p.cgroup = lp_cursor_str(c);
  return c->bad ? 0 : it->sink->process(it->sink->ctx, &p);
}

/* The definition of a thread. */
static uint32_t record_thread(LpItems *it, LpCursor *c, const uint8_t *at,
                              uint32_t flags)
{
  uint64_t process = lp_cursor_uleb(c);
  LpThread t = {.tid = lp_cursor_uleb(c)};
  (void)flags;
  t.name = lp_cursor_str(c);
  if (c->bad)
    return 0;
  t.process = record_number(it, &it->processes, at, process, "process");
  return it->sink->thread(it->sink->ctx, &t);
}

/* A definition, which begins with its id and flags. */
static void record_define(LpItems *it, LpCursor *c, unsigned code)
{
  static Definition *const read[] = {
      [LJM_REC_PROTO] = record_proto,     [LJM_REC_CFUNC] = record_cfunc,
      [LJM_REC_TRACE] = record_trace,     [LJM_REC_SITE] = record_site,
      [LJM_REC_MODULE] = record_module,   [LJM_REC_NATIVE] = record_native,
      [LJM_REC_PROCESS] = record_process, [LJM_REC_THREAD] = record_thread};
  LpIdMap *m = code == LJM_REC_SITE      ? &it->sites
               : code == LJM_REC_MODULE  ? &it->modules
               : code == LJM_REC_PROCESS ? &it->processes
               : code == LJM_REC_THREAD  ? &it->threads
                                         : &it->funcs;
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  uint32_t flags = (uint32_t)lp_cursor_uleb(c);
  uint32_t number = read[code](it, c, at, flags), old;
  if (c->bad)
    return;
  old = lp_idmap_put(m, id, number);
  if (old != LP_NONE && old != number)
    lp_items_odd(it, at, "id %" PRIu64 " is defined for a second time", id);
  if (code == LJM_REC_SITE && id < ITEMS_NEAR)
    it->near[id] = number + 1;
}

/* -- Other records -------------------------------------------------------- */

/* What the reader itself has to know of a recording. */
static void record_setting(LpItems *it, const LpMeta *m)
{
  if (lp_meta_is(m, "hz") && lp_items_is(it, 'p'))
    lp_stack_limit(&it->stack, UINT64_MAX);
  else if (it->body == 'p')
    return;
  else if (lp_meta_is(m, "monotonic"))
    it->monotonic = m->u;
  else if (lp_meta_is(m, "realtime"))
    it->realtime = m->u;
  else if (lp_meta_is(m, "sample"))
    it->sample = m->u;
  else if (lp_meta_is(m, "stack"))
    lp_stack_limit(&it->stack, m->u);
}

/* The next key and value of META or BOOKS. Returns 0 if there is none. */
static int record_pair(LpCursor *c, LpMeta *m)
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

/* META: keys and values. Only the first one sets what later items are encoded
** by. Where the kind of the body is not known, the key hz shows that this is a
** CPU profile.
*/
static void record_meta(LpItems *it, LpCursor *c)
{
  int first = !it->hasmeta;
  LpMeta m;
  it->hasmeta = 1;
  lp_items_flush(it);
  if (first && it->body != 'p')
    lp_stack_limit(&it->stack, 1);
  while (record_pair(c, &m)) {
    if (first)
      record_setting(it, &m);
    it->sink->meta(it->sink->ctx, &m);
  }
}

/* STACK: all of the register. */
static void record_stack(LpItems *it, LpCursor *c)
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
static void record_time(LpItems *it, LpCursor *c)
{
  uint64_t ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  lp_items_flush(it);
  it->sink->time(it->sink->ctx, ns);
}

/* FOREIGN: of the event before it. */
static void record_foreign(LpItems *it, const uint8_t *p)
{
  LpEvent *e = it->n ? &it->ev[it->n - 1] : NULL;
  if (!e || e->kind == LJM_ALLOC)
    lp_items_odd(it, p, "no event to be outside of the VM's count");
  else
    e->foreign = 1;
}

/* DUMP: a heap dump was taken after the events before it. */
static void record_dump(LpItems *it, LpCursor *c)
{
  LpDumpMark m = {.id = lp_cursor_uleb(c)};
  m.events = lp_cursor_uleb(c);
  m.ns = lp_cursor_uleb(c);
  if (c->bad)
    return;
  lp_items_flush(it);
  if (it->sink->dump)
    it->enough = it->sink->dump(it->sink->ctx, &m);
}

/* The sums in TOTALS. */
static LpSums record_sums(LpCursor *c)
{
  LpSums s = {.allocs = lp_cursor_uleb(c)};
  s.reallocs = lp_cursor_uleb(c);
  s.frees = lp_cursor_uleb(c);
  s.in = lp_cursor_uleb(c);
  s.out = lp_cursor_uleb(c);
  return s;
}

/* TOTALS: the recorder's sums. */
static void record_totals(LpItems *it, LpCursor *c, const uint8_t *at)
{
  LpTotals t = {.offset = lp_items_offset(it, at)};
  t.flags = lp_cursor_uleb(c);
  t.sums = record_sums(c);
  t.live = lp_cursor_uleb(c);
  t.lost = lp_cursor_uleb(c);
  t.ns = lp_cursor_uleb(c);
  t.hasforeign = c->p < c->end;
  if (t.hasforeign)
    t.foreign = record_sums(c);
  if (t.flags & LJM_TOTALS_DROPPED) {
    t.dropped_blocks = lp_cursor_uleb(c);
    t.dropped_events = lp_cursor_uleb(c);
    t.dropped_bytes = lp_cursor_uleb(c);
  }
  if (c->bad)
    return;
  lp_items_flush(it);
  it->ended = 1;
  it->sink->totals(it->sink->ctx, &t);
}

/* SAMPLE: of the stack that the register holds. */
static void record_sample(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t flags = lp_cursor_uleb(c), thread = lp_cursor_uleb(c);
  LpSample s = {.node = it->stack.node, .count = lp_cursor_uleb(c)};
  if (c->bad)
    return;
  s.cut = (flags & LJM_SAMPLE_CUT) || it->stack.base == LP_NODE_CUT;
  s.thread = record_number(it, &it->threads, at, thread, "thread");
  it->events++;
  it->sink->sample(it->sink->ctx, &s);
}

/* BOOKS: keys and numbers; they end the stream. */
static void record_statistics(LpItems *it, LpCursor *c, const uint8_t *at)
{
  LpMeta m;
  while (record_pair(c, &m))
    it->sink->statistic(it->sink->ctx, &m);
  if (c->bad)
    return;
  it->ended = 1;
  it->sink->statistics_end(it->sink->ctx, lp_items_offset(it, at));
}

/* Have only CPU profiles such records? */
static int record_cpu(unsigned code)
{
  return (code >= LJM_REC_MODULE && code <= LJM_REC_THREAD) ||
         code == LJM_REC_SAMPLE || code == LJM_REC_BOOKS;
}

/* Read the record at P. Returns the byte behind it, or NULL if it is not all
** there. Other kinds, and one that is too short for its fields, are skipped.
*/
const uint8_t *lp_record_read(LpItems *it, const uint8_t *p, const uint8_t *end)
{
  LpCursor all = {p + 1, end, 0}, c = {NULL, NULL, 0};
  unsigned code = LJM_RECORD_CODE(*p);
  uint64_t n = lp_cursor_uleb(&all);
  c.p = lp_cursor_bytes(&all, n);
  c.end = all.p;
  if (all.bad)
    return NULL;
  if (record_cpu(code) && !lp_items_is(it, 'p'))
    return all.p;
  if (code == LJM_REC_META)
    record_meta(it, &c);
  else if (code == LJM_REC_TIME)
    record_time(it, &c);
  else if (code == LJM_REC_STACK)
    record_stack(it, &c);
  else if (code == LJM_REC_TOTALS && lp_items_is(it, 'm'))
    record_totals(it, &c, p);
  else if (code == LJM_REC_FOREIGN && it->body != 'p')
    record_foreign(it, p);
  else if (code == LJM_REC_DUMP && it->body != 'p')
    record_dump(it, &c);
  else if (code == LJM_REC_SAMPLE)
    record_sample(it, &c);
  else if (code == LJM_REC_BOOKS)
    record_statistics(it, &c, p);
  else if (code >= LJM_REC_PROTO && code <= LJM_REC_THREAD &&
           code != LJM_REC_TOTALS)
    record_define(it, &c, code);
  if (c.bad)
    lp_items_odd(it, p, "a record of kind %u is too short for its fields",
                 code);
  return all.p;
}

/*
** Records of version 0x10 that only CPU profiles have.
*/

#include <inttypes.h>

#include "items.h"

/* The sink's number of an ID of the stream; NONE if it is 0 or was lost. */
static uint32_t cpu_number(LpItems *it, const LpIdMap *m, const uint8_t *p,
                           uint64_t id, const char *what, uint32_t none)
{
  uint32_t number = lp_idmap_get(m, id);
  if (number != LP_NONE)
    return number;
  if (id && !it->gap)
    lp_items_odd(it, p, "%s %" PRIu64 " is not defined", what, id);
  return none;
}

/* MODULE: a file with code. */
static void cpu_module(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpModule m;
  lp_cursor_uleb(c);
  m.buildid = lp_cursor_str(c);
  m.path = lp_cursor_str(c);
  if (!c->bad)
    lp_items_define(it, &it->modules, at, id,
                    it->sink->module(it->sink->ctx, &m));
}

/* NATIVE: a function of a module, or of the kernel. */
static void cpu_native(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpFunc f = {.flags = (uint32_t)lp_cursor_uleb(c)};
  uint64_t module = lp_cursor_uleb(c);
  f.kind = f.flags & LJM_NATIVE_KERNEL ? LP_FUNC_KERNEL : LP_FUNC_NATIVE;
  f.addr = lp_cursor_uleb(c);
  f.name = lp_cursor_str(c);
  if (c->bad)
    return;
  f.module = cpu_number(it, &it->modules, at, module, "module", LP_MODULE_NONE);
  lp_items_define(it, &it->funcs, at, id, it->sink->func(it->sink->ctx, &f));
}

/* PROCESS */
static void cpu_process(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c);
  LpProcess p;
  lp_cursor_uleb(c);
  p.pid = lp_cursor_uleb(c);
  p.pidns = lp_cursor_uleb(c);
  p.start = lp_cursor_uleb(c);
  p.command = lp_cursor_str(c);
  if (!c->bad)
    lp_items_define(it, &it->processes, at, id,
                    it->sink->process(it->sink->ctx, &p));
}

/* THREAD */
static void cpu_thread(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t id = lp_cursor_uleb(c), process;
  LpThread t;
  lp_cursor_uleb(c);
  process = lp_cursor_uleb(c);
  t.tid = lp_cursor_uleb(c);
  t.name = lp_cursor_str(c);
  if (c->bad)
    return;
  t.process = cpu_number(it, &it->processes, at, process, "process", 0);
  lp_items_define(it, &it->threads, at, id,
                  it->sink->thread(it->sink->ctx, &t));
}

/* SAMPLE: of the stack that the register holds. */
static void cpu_sample(LpItems *it, LpCursor *c)
{
  const uint8_t *at = c->p;
  uint64_t flags = lp_cursor_uleb(c), thread = lp_cursor_uleb(c);
  LpSample s = {.node = it->stack.node, .count = lp_cursor_uleb(c)};
  if (c->bad)
    return;
  s.cut = (flags & LJM_SAMPLE_CUT) || it->stack.base == LP_NODE_CUT;
  s.thread = cpu_number(it, &it->threads, at, thread, "thread", LP_THREAD_NONE);
  it->events++;
  it->sink->sample(it->sink->ctx, &s);
}

/* BOOKS: keys and numbers; they end the stream. */
static void cpu_statistics(LpItems *it, LpCursor *c, const uint8_t *at)
{
  LpMeta m;
  while (lp_items_pair(c, &m))
    it->sink->statistic(it->sink->ctx, &m);
  if (c->bad)
    return;
  it->ended = 1;
  it->sink->statistics_end(it->sink->ctx, it->base + (uint64_t)(at - it->from));
}

/* The payload of a record that begins at AT. Other kinds are skipped. */
void lp_items_cpu(LpItems *it, LpCursor *c, unsigned code, const uint8_t *at)
{
  if ((code < LJM_REC_MODULE || code > LJM_REC_THREAD) &&
      code != LJM_REC_SAMPLE && code != LJM_REC_BOOKS)
    return;
  if (!lp_items_is(it, 'p'))
    return;
  if (code == LJM_REC_MODULE)
    cpu_module(it, c);
  else if (code == LJM_REC_NATIVE)
    cpu_native(it, c);
  else if (code == LJM_REC_PROCESS)
    cpu_process(it, c);
  else if (code == LJM_REC_THREAD)
    cpu_thread(it, c);
  else if (code == LJM_REC_SAMPLE)
    cpu_sample(it, c);
  else
    cpu_statistics(it, c, at);
}

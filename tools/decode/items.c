/*
** The state of decoding version 0x10: definitions, the stack, events that wait
** to be handed over.
*/

#include <inttypes.h>
#include <string.h>

#include "items.h"

int lp_items_is(LpItems *it, int kind)
{
  if (!it->body) {
    it->body = kind;
    it->sink->body(it->sink->ctx, kind);
  }
  return it->body == kind;
}

void lp_items_open(LpItems *it, const LpSink *sink, int body)
{
  memset(it, 0, sizeof(*it));
  it->sink = sink;
  lp_stack_open(&it->stack, sink);
  lp_idmap_put(&it->sites, LJM_SITE_INTERNAL, LP_SITE_INTERNAL);
  lp_idmap_put(&it->sites, LJM_SITE_UNKNOWN, LP_SITE_UNKNOWN);
  if (body)
    lp_items_is(it, body);
}

void lp_items_close(LpItems *it)
{
  lp_stack_close(&it->stack);
  lp_idmap_free(&it->funcs);
  lp_idmap_free(&it->sites);
  lp_idmap_free(&it->modules);
  lp_idmap_free(&it->processes);
  lp_idmap_free(&it->threads);
}

void lp_items_flush(LpItems *it)
{
  if (it->n)
    it->sink->events(it->sink->ctx, it->ev, it->n);
  it->events += it->n;
  it->n = 0;
}

void lp_items_push(LpItems *it, const uint8_t *p, uint64_t id)
{
  uint32_t site = lp_items_site(it, id);
  if (site == LP_NONE) {
    site = LP_SITE_LOST;
    if (!it->gap)
      lp_items_odd(it, p, "a caller's site %" PRIu64 " is not defined", id);
  }
  it->deep = !lp_stack_fits(&it->stack);
  if (it->deep)
    lp_items_odd(it, p, "a stack of more than %d sites", LP_STACK_MAX);
  else
    lp_stack_push(&it->stack, site);
}

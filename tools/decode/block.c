/*
** Decodes the items in a block of version 0x10: events, records, changes of
** the stack.
**
** This is the hot loop of the reader. An event is decoded without looking
** where the block ends, since LP_SLACK bytes can be read behind it; then it is
** checked once.
*/

#include <inttypes.h>
#include <string.h>

#include "input.h"
#include "block.h"
#include "records.h"

#define BLOCK_EVENT_MAX (2 + 5 * LJM_ULEB_MAX) /* The longest event. */

_Static_assert(BLOCK_EVENT_MAX <= LP_SLACK,
               "an event may be read past the end");

/* What an event is encoded relative to. */
typedef struct Registers {
  uint32_t site[4];                   /* By kind of event. */
  uint32_t allocsite;                 /* The site's number in the stream. */
  uint64_t allocsize[LJM_ALLOCSIZES]; /* By that, modulo this. */
  uint64_t freesize[LJM_FREESIZES];   /* By the header. */
  uint64_t alloc;                     /* The last allocated address, turned. */
  uint64_t free;                      /* The last freed address, turned. */
} Registers;

/* -- The stack ------------------------------------------------------------ */

/* The change of the stack at P. Returns the byte behind it, or NULL if it is
** not all there. Where more sites return than have called, nothing is known of
** the callers any more.
*/
static const uint8_t *block_change(LpItems *it, const uint8_t *p,
                                   const uint8_t *end)
{
  const uint8_t *at = p;
  unsigned bad = 0, head = *p++;
  uint64_t pops = LJM_STACK_POPS(head), pushes = LJM_STACK_PUSHES(head);
  if (pops == LJM_STACK_MOREPOPS)
    pops = lp_sat_add(pops, ljm_getuleb_fast(&p, &bad));
  if (pushes == LJM_STACK_MOREPUSHES)
    pushes = lp_sat_add(pushes, ljm_getuleb_fast(&p, &bad));
  if (bad || p > end)
    return NULL;
  if (pops <= it->stack.n) {
    lp_stack_pop(&it->stack, (uint32_t)pops);
  } else {
    lp_items_odd(it, at, "%" PRIu64 " sites return, %" PRIu32 " have called",
                 pops, it->stack.n);
    lp_stack_reset(&it->stack, 1);
  }
  for (; pushes && !it->deep; pushes--) {
    uint64_t id;
    at = p;
    if (p >= end || (id = ljm_getuleb_fast(&p, &bad), bad) || p > end)
      return NULL;
    lp_items_push(it, at, id);
  }
  return p;
}

/* -- Events --------------------------------------------------------------- */

/* An address, encoded relative to another. */
static inline uint64_t block_addr(const uint8_t **p, uint64_t base,
                                  unsigned *bad)
{
  return base + ljm_unzigzag(ljm_getuleb_fast(p, bad));
}

/* Decode the event at P into E. Returns the byte behind it. */
static inline const uint8_t *block_event(LpItems *it, const uint8_t *p,
                                         Registers *r, LpEvent *e,
                                         unsigned *bad)
{
  unsigned head = *p++, kind = head & LJM_KIND_MASK;
  uint64_t addr, *size;
  e->kind = (uint8_t)kind;
  e->type = (uint8_t)(head >> LJM_TYPE_SHIFT);
  e->foreign = 0;
  if (!(head & LJM_SAMESITE)) {
    uint64_t id = ljm_getuleb_fast(&p, bad);
    r->site[kind] = lp_items_site(it, id);
    if (kind == LJM_ALLOC)
      r->allocsite = (uint32_t)(id % LJM_ALLOCSIZES);
  }
  e->site = r->site[kind];
  if (kind == LJM_REALLOC) {
    addr = block_addr(&p, r->alloc, bad);
    e->oaddr = ljm_unturn(addr);
    if (!(head & LJM_INPLACE))
      addr = block_addr(&p, addr, bad);
    r->alloc = addr;
    e->naddr = ljm_unturn(addr);
    e->osize = ljm_getuleb_fast(&p, bad);
    e->nsize = ljm_getuleb_fast(&p, bad);
    e->sampled = (uint8_t)(head & (LJM_SAMPLED_OLD | LJM_SAMPLED_NEW));
    *bad |= e->type > 3 || (it->sample && e->sampled == 0);
    e->type = 0;
  } else if (kind == LJM_ALLOC) {
    r->alloc = block_addr(&p, r->alloc, bad);
    size = &r->allocsize[r->allocsite];
    if (!(head & LJM_SAMESIZE))
      *size = ljm_getuleb_fast(&p, bad);
    e->oaddr = e->osize = 0;
    e->naddr = ljm_unturn(r->alloc);
    e->nsize = *size;
    e->foreign = e->type == LJM_TYPE_FOREIGN;
  } else {
    r->free = block_addr(&p, r->free, bad);
    size = &r->freesize[e->type];
    e->type = 0;
    if (!(head & LJM_SAMESIZE))
      *size = ljm_getuleb_fast(&p, bad);
    e->oaddr = ljm_unturn(r->free);
    e->osize = *size;
    e->naddr = e->nsize = 0;
  }
  return p;
}

/* Read the events at P, as many as there are without a record in between. The
** last one waits: a record may complete it. Returns the byte behind the last
** whole one.
*/
static const uint8_t *block_events(LpItems *it, const uint8_t *p,
                                   const uint8_t *end, Registers *r)
{
  const uint32_t callers = it->stack.node;
  while (p < end && (*p & LJM_KIND_MASK) != LJM_RECORD) {
    LpEvent *e;
    const uint8_t *next;
    unsigned bad = 0;
    if (it->n == LP_BATCH)
      lp_items_flush(it);
    e = &it->ev[it->n];
    next = block_event(it, p, r, e, &bad);
    if (next > end || bad)
      break;
    if (e->site == LP_NONE) {
      r->site[e->kind] = e->site = LP_SITE_LOST;
      if (!it->gap)
        lp_items_odd(it, p, "an event at a site that is not defined");
    }
    /* Neither the VM itself nor who is unknown has callers. */
    e->node = e->site < LP_SITE_LOST ? LP_NODE_ROOT : callers;
    p = next;
    it->n++;
  }
  return p;
}

/* Read the item at P, or more than one. Returns the byte behind, or NULL and
** *WHY it cannot be read.
*/
static const uint8_t *block_next(LpItems *it, const uint8_t *p,
                                 const uint8_t *end, Registers *r,
                                 const char **why)
{
  const uint8_t *next = NULL;
  if (it->ended) {
    *why = "expected the end of the stream behind its totals";
  } else if ((*p & LJM_KIND_MASK) != LJM_RECORD) {
    *why = "a broken event";
    if (it->body == 'm' || lp_items_is(it, 'm'))
      next = block_events(it, p, end, r);
    else
      *why = "an event of memory in a CPU profile";
  } else if (*p & LJM_STACK_BIT) {
    *why = "a broken change of the stack";
    next = block_change(it, p, end);
  } else if (*p) {
    *why = "a broken record";
    next = lp_record_read(it, p, end);
  } else {
    *why = "expected an event or a record";
  }
  return next == p ? NULL : next;
}

/* Read the N bytes of a block's payload, which begin at OFFSET of the stream.
** Returns whether they could be read to the end; if not, that was reported to
** the sink.
*/
int lp_block_read(LpItems *it, const uint8_t *p, size_t n, uint64_t offset)
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
  while (p < end && !it->deep && !it->enough && !broken) {
    const uint8_t *next = block_next(it, p, end, &r, &why);
    broken = !next;
    p = next ? next : p;
  }
  lp_items_flush(it);
  if (broken)
    lp_items_odd(it, p, "%s, found 0x%02x", why, *p);
  return !broken && !it->deep;
}

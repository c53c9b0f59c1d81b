/*
** Version 0x10: prologues, then blocks that stand on their own.
**
** A block is used only if its checksum is right. Where one is not, or where
** none begins, the reader looks for the next one that is whole.
*/

#include <inttypes.h>
#include <string.h>

#include "ljm_block.h"
#include "compact.h"
#include "block.h"
#include "heap.h"
#include "leb.h"
#include "prologue.h"
#include "tail.h"

#define MAGIC_LEN 4

/* A hostile stream could be made of blocks' beginnings, each with 16 MiB to be
** summed up. Looking for a block sums so many bytes for each one skipped, and
** LOOK_FREE more in the whole stream.
*/
#define LOOK_EACH 16
#define LOOK_STEP 4096 /* Bytes searched at a time. */
#define LOOK_FREE (256u << 20)

typedef struct Compact {
  LpInput *in;
  const LpSink *sink;
  LpItems items;
  LpHeapItems heap; /* Of a heap dump: its items, instead. */
  LpDamage damage;  /* Why the block here is none; */
  int open;         /* it would be one, but the stream ends. */
  uint64_t look;    /* Bytes that may still be summed in search of blocks. */
  uint64_t expect;  /* Number of the next event. */
} Compact;

/* -- Blocks --------------------------------------------------------------- */

/* Note what is wrong here. */
#define compact_wrong(c, ...)                                                  \
  ((c)->damage =                                                               \
       lp_damage_of(LP_NOTHING, lp_input_offset((c)->in), __VA_ARGS__))

/* Is a whole block in the buffer, here? Leaves its length in *LEN. With LOOK,
** it is one of many places that could be a block.
*/
static int compact_block(Compact *c, uint32_t *len, int look)
{
  size_t have = lp_input_want(c->in, LJM_BLOCK_HEADER);
  const uint8_t *p = c->in->p;
  c->open = 0;
  if (memcmp(p, LJM_BLOCK_MAGIC, have < MAGIC_LEN ? have : MAGIC_LEN) != 0) {
    compact_wrong(c, "expected a block, found %02x %02x %02x %02x", p[0], p[1],
                  p[2], p[3]);
    return 0;
  }
  if (have < LJM_BLOCK_HEADER) {
    compact_wrong(c, "expected a block, the stream ends inside its header");
    c->open = 1;
    return 0;
  }
  *len = ljm_block_length(p);
  if (*len > LJM_BLOCK_MAX) {
    compact_wrong(c, "expected a block of at most 16 MiB, not %" PRIu32, *len);
    return 0;
  }
  if (look && c->look < *len)
    return 0;
  have = lp_input_want(c->in, LJM_BLOCK_HEADER + (size_t)*len);
  if (have < LJM_BLOCK_HEADER + (size_t)*len) {
    compact_wrong(c, "expected a block of %" PRIu32 " bytes, found %zu", *len,
                  have - LJM_BLOCK_HEADER);
    c->open = 1;
    return 0;
  }
  c->look -= look ? *len : 0;
  if (ljm_block_iswhole(c->in->p, *len))
    return 1;
  compact_wrong(c, "a block of %" PRIu32 " bytes has a wrong checksum", *len);
  return 0;
}

/* Look for the next whole block behind this byte. Returns 0 at the end. */
static int compact_resync(Compact *c, uint32_t *len)
{
  LpInput *in = c->in;
  for (;;) {
    size_t have = lp_input_want(in, 1 + MAGIC_LEN), n;
    const uint8_t *at;
    if (have < 1 + MAGIC_LEN) {
      lp_input_skip(in, have);
      return 0;
    }
    have = have < LOOK_STEP ? have : LOOK_STEP;
    at = memmem(in->p + 1, have - 1, LJM_BLOCK_MAGIC, MAGIC_LEN);
    n = at ? (size_t)(at - in->p) : have - MAGIC_LEN;
    c->look += (uint64_t)n * LOOK_EACH;
    lp_input_skip(in, n);
    if (at && compact_block(c, len, 1))
      return 1;
  }
}

/* Something was lost before this byte. */
static void compact_lost(Compact *c, LpDamageKind kind, const LpDamage *why,
                         uint64_t events)
{
  LpDamage d = *why;
  d.kind = kind;
  d.events = events;
  d.bytes = lp_input_offset(c->in) - d.offset;
  c->items.gap = 1;
  c->sink->damage(c->sink->ctx, &d);
}

/* Decode the LEN bytes at P, the payload of a block of a heap dump. */
static void compact_heap(Compact *c, const uint8_t *p, uint32_t len)
{
  size_t n = lp_heap_block(&c->heap, p, len);
  c->items.events = c->heap.objects;
  c->items.ended = c->heap.ended;
  if (n < len)
    lp_damage_report(c->sink, LP_GAP,
                     lp_input_offset(c->in) + LJM_BLOCK_HEADER + n,
                     "expected %s, found 0x%02x", c->heap.bad, p[n]);
}

/* Read the block of LEN bytes that is here. WHY is not NULL if something was
** lost before it.
*/
static void compact_use(Compact *c, uint32_t len, const LpDamage *why)
{
  LpInput *in = c->in;
  uint64_t first = ljm_block_first(in->p);
  uint64_t lost = first > c->expect ? first - c->expect : 0;
  uint64_t before = c->items.events;
  LpDamage d = lp_damage_of(LP_ODD, lp_input_offset(in),
                            "expected event %" PRIu64
                            ", found a block from event %" PRIu64,
                            c->expect, first);
  if (why || lost)
    compact_lost(c, LP_GAP, why ? why : &d, lost);
  if (first < c->expect) { /* Read before: do not count it twice. */
    c->sink->damage(c->sink->ctx, &d);
  } else {
    if (c->items.body == 'd')
      compact_heap(c, in->p + LJM_BLOCK_HEADER, len);
    else
      lp_block_read(&c->items, in->p + LJM_BLOCK_HEADER, len,
                    lp_input_offset(in) + LJM_BLOCK_HEADER);
    c->expect = first + (c->items.events - before);
  }
  lp_input_skip(in, LJM_BLOCK_HEADER + (size_t)len);
}

/* -- The tail ------------------------------------------------------------- */

/* Can the tail be used? Blocks were read up to the offset AT. One that is in
** the file has been killed right before its next block began.
*/
static int compact_istail(const Compact *c, uint64_t at)
{
  LpTail *t = c->in->tail;
  if (!t || c->in->error || c->items.body != 'm' || !lp_tail_read(t))
    return 0;
  if (t->monotonic != c->items.monotonic || t->realtime != c->items.realtime)
    t->why = "it is that of another recording";
  else if (t->offset < at || !t->n)
    return 0;
  else if (t->first < c->expect)
    t->why = "its events were read before";
  return !t->why;
}

/* Read the tail behind the blocks, which end at the offset AT. WHY is not NULL
** if they are damaged there. Returns 0 if there is no tail.
*/
static int compact_tail(Compact *c, uint64_t at, const LpDamage *why)
{
  LpTail *t = c->in->tail;
  LpDamage d;
  if (!compact_istail(c, at))
    return 0;
  if (t->offset > at || t->first > c->expect) {
    d = lp_damage_of(LP_GAP, at,
                     "the file ends here, its tail begins at offset %" PRIu64,
                     t->offset);
    d = why ? *why : d;
    d.kind = LP_GAP;
    d.events = t->first - c->expect;
    c->items.gap = 1;
    c->sink->damage(c->sink->ctx, &d);
  }
  lp_block_read(&c->items, t->p, (uint32_t)t->n, t->offset + LJM_BLOCK_HEADER);
  t->used = 1;
  lp_damage_report(c->sink, LP_CUT, t->offset + LJM_BLOCK_HEADER + t->n,
                   "expected the totals, the recording ends with its tail");
  return 1;
}

/* -- All of it ------------------------------------------------------------ */

/* Read all blocks. WHY is not NULL if the way here is lost already. */
static void compact_blocks(Compact *c, const LpDamage *why)
{
  LpDamageKind kind = LP_NOTHING;
  uint32_t len = 0;
  LpDamage d;
  while (!c->items.ended && (why || lp_input_want(c->in, 1))) {
    if (!why && !compact_block(c, &len, 0)) {
      d = c->damage;
      why = &d;
      kind = c->open ? LP_OPEN : LP_CUT;
    }
    if (why && !compact_resync(c, &len)) {
      if (!compact_tail(c, why->offset, why))
        compact_lost(c, kind, why, 0);
      return;
    }
    compact_use(c, len, why);
    why = NULL;
    if (c->items.enough)
      return;
  }
  c->in->complete = c->items.ended;
  if (!c->items.ended && compact_tail(c, lp_input_offset(c->in), NULL))
    return;
  if (!c->items.ended)
    lp_damage_report(c->sink, LP_OPEN, lp_input_offset(c->in),
                     "expected a block or the %s, the stream ends",
                     c->items.body == 'p' ? "statistics" : "totals");
  else if (lp_input_want(c->in, 1))
    lp_damage_report(c->sink, LP_ODD, lp_input_offset(c->in),
                     "expected the end of the stream behind its %s",
                     c->items.body == 'p' ? "statistics" : "totals");
}

void lp_compact_read(LpInput *in, const LpSink *sink)
{
  Compact c = {.in = in, .sink = sink, .look = LOOK_FREE};
  const uint8_t *p;
  unsigned bad = 0, version = 0;
  int body = 0;
  lp_input_want(in, LJM_PROLOGUE_LEN + LJM_ULEB_MAX + 1);
  p = in->p + LJM_PROLOGUE_LEN;
  ljm_getuleb_fast(&p, &bad); /* The address of the VM's state: not needed. */
  if (!bad && *p++ == LJM_SYM_FINAL && p <= in->end) {
    lp_input_skip(in, (size_t)(p - in->p));
    body = lp_prologue_body(in, sink, sink->heap ? "mpd" : "mp", &version);
  }
  if (body < 0)
    return;
  compact_wrong(&c, "expected the prologue of the %s, lj%c 0x10",
                body == 'p'   ? "samples"
                : body == 'd' ? "heap dump"
                              : "events",
                body ? body : 'm');
  if (body && version == LJM_VERSION)
    lp_input_skip(in, LJM_PROLOGUE_LEN);
  else
    body = 0;
  lp_items_open(&c.items, sink, body);
  c.heap.sink = sink->heap;
  c.heap.strings = LJM_HEAP_STRINGS;
  compact_blocks(&c, body ? NULL : &c.damage);
  lp_items_close(&c.items);
}

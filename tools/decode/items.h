/*
** The state of decoding version 0x10: definitions, the stack, events that wait
** to be handed over.
*/

#ifndef LP_ITEMS_H
#define LP_ITEMS_H

#include "idmap.h"
#include "leb.h"
#include "record.h"
#include "stack.h"

#define ITEMS_NEAR 1024 /* Ids below this are found without a hash. */

typedef struct LpItems {
  const LpSink *sink;
  LpIdMap funcs; /* The stream's ids to the sink's numbers. */
  LpIdMap sites;
  LpIdMap modules, processes, threads;
  uint32_t near[ITEMS_NEAR]; /* Sites of low ids: number + 1, or 0. */
  LpStack stack;
  uint64_t sample;     /* Bytes between two samples; 0: all are recorded. */
  uint64_t events;     /* Read so far; in a CPU profile, samples. */
  uint64_t base;       /* Offset in the stream of what is being read, */
  const uint8_t *from; /* and where it lies. */
  uint64_t monotonic;  /* Of META: what the recording is known by. */
  uint64_t realtime;   /* The same by another clock. */
  int body;            /* m, p, or 0: the first item determines it. */
  int gap;             /* Definitions may have been lost. */
  int ended;           /* The totals were read. */
  int enough;          /* The sink does not want the rest. */
  int hasmeta;         /* META was read. */
  int deep;            /* The stack does not fit: the block ends here. */
  size_t n;            /* Events that wait to be handed over. */
  LpEvent ev[LP_BATCH];
} LpItems;

/* Start a stream without definitions. BODY is its kind (m, p), or 0 if the
** first item determines it. The sink is not copied.
*/
void lp_items_open(LpItems *it, const LpSink *sink, int body);

/* Free the memory. */
void lp_items_close(LpItems *it);

/* The sink's number of a site of the stream, or LP_NONE. */
static inline uint32_t lp_items_site(const LpItems *it, uint64_t id)
{
  if (id < ITEMS_NEAR && it->near[id])
    return it->near[id] - 1;
  return lp_idmap_get(&it->sites, id);
}

/* -- For block.c and records.c -------------------------------------------- */

/* Where the byte at P is in the stream. */
static inline uint64_t lp_items_offset(const LpItems *it, const uint8_t *p)
{
  return it->base + (uint64_t)(p - it->from);
}

/* Report to the sink that the item at P contradicts the stream: a format and
** arguments as in printf follow.
*/
#define lp_items_odd(it, p, ...)                                               \
  lp_damage_report((it)->sink, LP_ODD, lp_items_offset(it, p), __VA_ARGS__)

/* Is the body of this KIND (m, p)? If it is not known yet, KIND becomes the
** body's kind.
*/
int lp_items_is(LpItems *it, int kind);

/* Pass the waiting events to the sink. */
void lp_items_flush(LpItems *it);

/* Push the site with the stream's ID on the stack. P is the item, for error
** reports.
*/
void lp_items_push(LpItems *it, const uint8_t *p, uint64_t id);

#endif

/*
** Decodes the items in a block of version 0x10: events, records, changes of
** the stack.
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
  int body;            /* m, p, or 0: the first item determines it. */
  int gap;             /* Definitions may have been lost. */
  int ended;           /* The totals were read. */
  int hasmeta;         /* META was read. */
  int deep;            /* The stack does not fit: the block ends here. */
  size_t n;            /* Events that wait to be handed over. */
  LpEvent ev[LP_BATCH];
} LpItems;

/* Start a stream without definitions. BODY is its kind (m, p), or 0 if the
** first item determines it. The sink is not copied.
*/
void lp_items_open(LpItems *it, const LpSink *sink, int body);

/* Decode the N bytes at P, the payload of a block that starts at OFFSET of the
** stream. Returns 0 if it could not be decoded to its end; that was reported to
** the sink. LP_SLACK bytes after P + N must be readable.
*/
int lp_items_block(LpItems *it, const uint8_t *p, size_t n, uint64_t offset);

/* Free the memory. */
void lp_items_close(LpItems *it);

/* The sink's number of a site of the stream, or LP_NONE. */
static inline uint32_t lp_items_site(const LpItems *it, uint64_t id)
{
  if (id < ITEMS_NEAR && it->near[id])
    return it->near[id] - 1;
  return lp_idmap_get(&it->sites, id);
}

/* -- For records.c and records_cpu.c -------------------------------------- */

/* Decode the record at P. Returns its end, or NULL if it is incomplete. A
** record that is too short for its fields is skipped.
*/
const uint8_t *lp_items_record(LpItems *it, const uint8_t *p,
                               const uint8_t *end);

/* Decode the payload of a record of CPU profiles that starts at AT. Unknown
** record kinds are skipped.
*/
void lp_items_cpu(LpItems *it, LpCursor *c, unsigned code, const uint8_t *at);

/* Map the stream's ID to the sink's NUMBER. P is the definition, for error
** reports.
*/
void lp_items_define(LpItems *it, LpIdMap *m, const uint8_t *p, uint64_t id,
                     uint32_t number);

/* The next key and value of META or BOOKS. Returns 0 at the end or if it is
** incomplete. The strings point into the record.
*/
int lp_items_pair(LpCursor *c, LpMeta *m);

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

/* Report to the sink that the item at P contradicts the stream. */
void lp_items_odd(LpItems *it, const uint8_t *p, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/*
** All that is known of a heap dump: its objects, who keeps them, their shapes.
*/

#ifndef LP_ANALYSIS_H
#define LP_ANALYSIS_H

#include "ephemerons.h"
#include "finalizers.h"
#include "path.h"
#include "shapes.h"
#include "shared.h"

#define LP_SHARED_PERCENT 1

/* Objects that are not reached from the roots. */
typedef struct LpUnreached {
  LpTypeSum type[16], all;
} LpUnreached;

/* Why an object that is not reached need not be garbage. */
typedef enum LpDoubt {
  LP_DOUBT_NONE,      /* It is. */
  LP_DOUBT_MADE,      /* It has LP_NODE_MADE. */
  LP_DOUBT_REGISTERS, /* It may have been in a register. */
  LP_DOUBT_LOST       /* What is missing of the dump may refer to it, as to any
                      ** other: what keeps how much is not known. */
} LpDoubt;

typedef struct LpHeap {
  LpDump dump;
  LpHeapSink sink; /* For the reader. */
  LpDominators dom;
  LpPaths paths;
  LpKids kids;
  LpSharing sharing; /* Of LP_SHARED_PERCENT of what is reached, or more. */
  LpEphemerons ephemerons; /* What tables with weak keys alone keep. */
  LpIdMap finalizers;      /* Cdata -> what ffi.gc() was told. */
  LpShapes shapes;
  LpDoubt doubt;
  LpUnreached garbage; /* That is sure: the collector has said so, or nothing */
  LpUnreached unknown; /* is in doubt; and all else. */
  int ready;           /* lp_heap_analyse was called. */
} LpHeap;

/* An empty heap; pass its sink to the reader. The caller frees it with
** lp_heap_free.
*/
LpHeap *lp_heap_new(void);

/* The dump is read, and dump.damaged is set: compute the rest. */
void lp_heap_analyse(LpHeap *h);

/* Free a heap, which may be NULL. */
void lp_heap_free(LpHeap *h);

/* Is it not known whether an object is garbage? */
int lp_heap_isunknown(const LpHeap *h, uint32_t id);

/* The references of a heap, and its dominator tree. Valid while H is. */
static inline LpDomTree lp_heap_tree(const LpHeap *h)
{
  return (LpDomTree){&h->dump.graph, &h->dom, &h->kids};
}

/* Is it known what objects keep? */
static inline int lp_heap_keeps(const LpHeap *h)
{
  return h->doubt != LP_DOUBT_LOST;
}

/* Bytes of all objects that are reached from the roots. */
static inline uint64_t lp_heap_reached(const LpHeap *h)
{
  return h->dom.retained[LP_GRAPH_ROOT];
}

/* Bytes of all objects of the dump. */
uint64_t lp_heap_bytes(const LpHeap *h);

/* Objects of the dump. */
uint64_t lp_heap_objects(const LpHeap *h);

#endif

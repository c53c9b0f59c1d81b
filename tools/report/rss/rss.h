/*
** The memory of a process, of which its VM's heap is a part: why a process has
** more than its heap dump.
*/

#ifndef LP_RSS_H
#define LP_RSS_H

#include "analysis.h"

typedef enum LpRssPart {
  LP_RSS_USED, /* Objects that are reached, and the VM itself. */
  LP_RSS_UNKNOWN,
  LP_RSS_GARBAGE,
  LP_RSS_FREE, /* The rest of the allocator's pages: free blocks, the heads of
               ** all blocks, and what modules in C have taken. */
  LP_RSS_CODE, /* Machine code. */
  LP_RSS_OTHER,
  LP_RSS_PARTS
} LpRssPart;

typedef struct LpRss {
  uint64_t all; /* Bytes that are resident: of all parts. */
  LpPresence part[LP_RSS_PARTS];
} LpRss;

/* Compute the parts. Returns 0 if the dump does not tell, or is not whole.
** Where the allocator's pages are not known, all of Lua's bytes count as
** resident, and free blocks as OTHER; so do blocks that are apart from the
** allocator's pages, unless there are more of them than bytes are resident.
*/
int lp_rss(const LpHeap *h, LpRss *r);

/* Append a sentence about it; nothing if the dump does not tell. */
void lp_rss_sentence(LpBuf *b, const LpHeap *h);

#endif

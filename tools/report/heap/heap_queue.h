/*
** What has the largest figure comes first, or last.
*/

#ifndef LP_HEAP_QUEUE_H
#define LP_HEAP_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* What waits. Of equal figures, the smaller id comes first: no two have one. */
typedef struct LpWaiting {
  uint64_t figure;
  uint32_t id;
  uint32_t at; /* The caller's. */
} LpWaiting;

/* A heap in an array. All zero if it is empty. */
typedef struct LpQueue {
  LpWaiting *w; /* The next one to be taken is on top. */
  size_t n, cap;
  int last; /* The last one is taken first. Set while it is empty. */
} LpQueue;

/* Does X come before Y? */
static inline int lp_queue_before(const LpWaiting *x, const LpWaiting *y)
{
  return x->figure != y->figure ? x->figure > y->figure : x->id < y->id;
}

/* Add to the queue. The caller frees its array. */
void lp_queue_put(LpQueue *q, LpWaiting w);

/* Take out the next one. The queue is not empty. */
LpWaiting lp_queue_take(LpQueue *q);

#endif

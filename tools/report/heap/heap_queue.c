/*
** What has the largest figure comes first, or last.
*/

#include "heap_queue.h"
#include "mem.h"

/* Is X to be taken before Y? */
static int queue_before(const LpQueue *q, const LpWaiting *x,
                        const LpWaiting *y)
{
  return lp_queue_before(x, y) != q->last;
}

void lp_queue_put(LpQueue *q, LpWaiting w)
{
  size_t at = q->n++;
  q->w = lp_grow(q->w, &q->cap, q->n, sizeof(*q->w));
  for (; at > 0 && queue_before(q, &w, &q->w[(at - 1) / 2]); at = (at - 1) / 2)
    q->w[at] = q->w[(at - 1) / 2];
  q->w[at] = w;
}

LpWaiting lp_queue_take(LpQueue *q)
{
  LpWaiting top = q->w[0], last = q->w[--q->n];
  size_t at = 0, kid;
  for (; (kid = 2 * at + 1) < q->n; at = kid) {
    if (kid + 1 < q->n && queue_before(q, &q->w[kid + 1], &q->w[kid]))
      kid++;
    if (!queue_before(q, &q->w[kid], &last))
      break;
    q->w[at] = q->w[kid];
  }
  q->w[at] = last;
  return top;
}

/*
** A walk from stack to stack of a call tree.
*/

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "walk.h"

/* Parents have smaller numbers: a node of the last stack that is larger than
** the one that is looked for is in no stack with it.
*/
void lp_walk_to(LpWalk *w, const LpCalls *c, uint32_t node)
{
  uint32_t same = w->n, n = 0;
  for (; node; node = lp_calls_parent(c, node)) {
    while (same && w->node[same - 1] > node)
      same--;
    if (same && w->node[same - 1] == node)
      break;
    w->back = lp_grow(w->back, &w->backs, n + 1u, sizeof(uint32_t));
    w->back[n++] = node;
  }
  w->same = node ? same : 0;
  w->n = w->same + n;
  w->node = lp_grow(w->node, &w->room, w->n, sizeof(uint32_t));
  w->upto = lp_grow(w->upto, &w->uptos, w->n + 1u, sizeof(uint32_t));
  while (n--)
    w->node[w->n - 1 - n] = w->back[n];
}

void lp_walk_free(LpWalk *w)
{
  free(w->node);
  free(w->upto);
  free(w->back);
  memset(w, 0, sizeof(*w));
}
